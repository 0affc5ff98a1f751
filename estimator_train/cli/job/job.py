"""The estimator and the input_fns that flags describe."""

import dataclasses
import functools
import os
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import tensorflow as tf
from absl import flags as absl_flags

from estimator_train import Estimator, ModeKeys, RunConfig
from estimator_train.cli.errors import UsageError
from estimator_train.cli.job.exporters import Receiver, make_receiver_fn
from estimator_train.cli.job.inputs import (
    describe_files,
    input_fns,
    is_endless_dataset,
    table as read_table,
)
from estimator_train.cli.job.user_code import check_arguments, flags, load
from estimator_train.engine.checkpoints.integrity import has_checkpoint, latest_checkpoint
from estimator_train.engine.job import call_with_known, list_argument_names
from estimator_train.engine.storage import find_files

_TRAINING_FILES = ("checkpoint", "graph.pbtxt", "events.out.tfevents.*", "model.ckpt-*", "keras")

_INPUT_ARGUMENTS = ("mode", "config", "input_context", "num_epochs", "pipeline_options")
# Flags that change the config, which an Estimator of --model may ignore, and their settings.
_SETTINGS = {
    **{flag: name for flag, name in flags.run_config.ARGUMENTS.items() if flag != "model_dir"},
    **{name: name for name in ("steps_per_loop", "xla", "mixed_precision")},
    **dict.fromkeys(
        ("distribution_strategy", "num_virtual_cpus", "all_reduce_alg"), "train_distribute"
    ),
}
_TABLE_FLAGS = ("eval_input", "input_label", "input_columns")
_INPUT = "input"  # tf.estimator's name of a single input.


def find_checkpoint(flag_values: absl_flags.FlagValues) -> str:
    """Returns the checkpoint of --checkpoint_path, or the latest in --model_dir.

    Args:
      flag_values: The parsed flags.

    Raises:
      UsageError: There is no --model_dir, or the checkpoint does not exist.
    """
    checkpoint_path, model_dir = flag_values.checkpoint_path, flag_values.model_dir
    if checkpoint_path:
        if not tf.io.gfile.exists(f"{checkpoint_path}.index"):
            raise UsageError(
                f"--checkpoint_path={checkpoint_path}: this checkpoint does not exist."
            )
        return str(checkpoint_path)
    if not model_dir:
        raise UsageError("--model_dir=DIR is needed, the directory of a training.")
    latest = latest_checkpoint(model_dir) if has_checkpoint(model_dir) else None
    if latest is None:
        raise UsageError(f"--model_dir={model_dir} has no checkpoint: train the model first.")
    return latest


class Job:
    """The estimator and the input_fns that a command's flags describe.

    The functions of --model and --input_fn may have these arguments: any flag by its name
    (`batch_size` is the size for one replica), and `params`, a dict of all flags. An input_fn may
    also have:

    - `mode`, `config` and `input_context`.
    - `num_epochs`: in training the value of --train_epochs, or None if --max_train_steps is given;
      otherwise 1.
    - `pipeline_options`: the `input_fns.PipelineOptions` of the flags. Each worker reads its own
      part of the rows, unless the function has the argument `input_context` and divides the rows.

    Args:
      flag_values: The parsed flags.
      model_dir: Directory that replaces --model_dir.
      needs_model: Whether --model is required.

    Raises:
      UsageError: --model or --input_fn is missing or names no usable function.
      ValueError: The flags contradict each other or the machine.
    """

    def __init__(
        self,
        flag_values: absl_flags.FlagValues,
        model_dir: str | None = None,
        *,
        needs_model: bool = True,
    ) -> None:
        self._flags = flag_values
        batch_size = flags.per_replica_batch_size(flag_values)
        overrides = {"model_dir": model_dir} if model_dir else {}
        self._config = flags.make_run_config(RunConfig, flag_values, **overrides)
        values = {
            name: flag_values[name].value
            for name in flag_values
            if flag_values[name].name == name  # absl lists short names too.
        }
        values.update(overrides, batch_size=batch_size)
        self._arguments: dict[str, Any] = {**values, "params": values}
        self._model: Any = self._load_function("model", ("config",)) if needs_model else None
        self._input = self._load_input_fn()

    @cached_property
    def estimator(self) -> Estimator:
        """The estimator of --model, with the directory --model_dir."""
        if isinstance(self._built_model, Estimator):
            self._check_config(self._built_model)
            return self._built_model
        if self._built_model is None:
            takes_params = "params" in list_argument_names(self._model)
            params = self._arguments["params"] if takes_params else None
            return Estimator(self._model, config=self._config, params=params)
        from estimator_train.keras import model_fn, model_to_estimator
        from estimator_train.keras.family import is_keras_3

        if is_keras_3(self._built_model):  # One without a config is made again by the function.
            arguments = {**self._arguments, "config": self._config}
            build = functools.partial(call_with_known, self._model, arguments)
            return Estimator(model_fn(build), config=self._config)
        return model_to_estimator(self._built_model, config=self._config)

    @cached_property
    def _built_model(self) -> Any:
        """The Keras model or Estimator that --model builds; None if --model is a model_fn."""
        if "features" in list_argument_names(self._model):
            return None
        model = call_with_known(self._model, {**self._arguments, "config": self._config})
        if model is None:
            raise UsageError(
                f"--model={self._flags.model} returned None: return a compiled Keras model."
            )
        return model

    def _check_config(self, estimator: Estimator) -> None:
        """Raises UsageError if an estimator of --model does not use --model_dir or a given flag."""
        wanted, used = self._arguments.get("model_dir"), estimator.model_dir
        if wanted and os.path.abspath(wanted) != os.path.abspath(used):
            raise self._make_config_error("model_dir", wanted, f"model_dir={used}")
        for flag, setting in _SETTINGS.items():
            used = getattr(estimator.config, setting)
            if self._flags[flag].present and used != getattr(self._config, setting):
                raise self._make_config_error(flag, self._flags[flag].value, f"{setting}={used}")

    def _make_config_error(self, flag: str, wanted: object, used: str) -> UsageError:
        return UsageError(
            f"--{flag}={wanted} is not used: --model={self._flags.model} returned an Estimator "
            f"with {used}. Give the function an argument `config`, and pass it: Estimator(..., "
            "config=config)."
        )

    def get_trained_estimator(self) -> Estimator:
        """Returns the estimator, and checks that it has the checkpoint of --checkpoint_path.

        Raises:
          UsageError: There is no --model_dir, or the checkpoint does not exist.
        """
        find_checkpoint(self._flags)
        return self.estimator

    def make_shard_input_fn(self, shard: int, num_shards: int, skipped: int) -> Callable[..., Any]:
        """Returns an input_fn for the predictions of a shard.

        Args:
          shard: Index of the shard, from 0.
          num_shards: Number of shards.
          skipped: Number of batches that are left out at the start.
        """
        read = self.make_predict_input_fn()
        context = tf.distribute.InputContext(num_shards, shard)

        def input_fn(config: RunConfig) -> Any:
            dataset = read(config, context)
            if not isinstance(dataset, tf.data.Dataset):
                raise UsageError(
                    f"--format=parquet needs a tf.data.Dataset, but the input_fn returned "
                    f"{type(dataset).__name__}."
                )
            return dataset.skip(skipped)

        return input_fn

    def describe_input_files(self, shard: int, num_shards: int) -> dict[str, Any] | None:
        """Returns the sizes of the files of --input and the batches of a shard; None without it.

        Args:
          shard: Index of the shard, from 0.
          num_shards: Number of shards.
        """
        if not self._flags.input:
            return None
        context = tf.distribute.InputContext(num_shards, shard)
        dataset = self.make_input_fn(ModeKeys.PREDICT)(self._config, context)
        return {
            **describe_files(self._flags.input),
            "batches": int(dataset.cardinality()),
        }

    def make_input_fn(self, mode: str) -> Callable[..., Any]:
        """Returns an input_fn for a mode, with the arguments that an estimator passes."""
        num_epochs: int | None = 1
        if mode == ModeKeys.TRAIN:
            num_epochs = None if self._flags.max_train_steps else self._flags.train_epochs
        return self._bind_input_fn({**self._arguments, "mode": mode, "num_epochs": num_epochs})

    def make_eval_input_fn(self) -> Callable[..., Any]:
        """Returns the input_fn of evaluations, which raises UsageError if they would not end."""
        read = self.make_input_fn(ModeKeys.EVAL)
        if self._flags.eval_steps is not None:
            return read
        return self._refuse_endless(
            read, ModeKeys.EVAL, "the evaluation would not end. Use --eval_steps=N, or repeat"
        )

    def make_predict_input_fn(self) -> Callable[..., Any]:
        """Returns the input_fn of predictions, which raises UsageError if they would not end."""
        read = self.make_input_fn(ModeKeys.PREDICT)
        return self._refuse_endless(read, ModeKeys.PREDICT, "the predictions would not end. Repeat")

    def _refuse_endless(
        self, read: Callable[..., Any], mode: str, advice: str
    ) -> Callable[..., Any]:
        def input_fn(config: RunConfig, input_context: tf.distribute.InputContext) -> Any:
            result = read(config, input_context)
            if is_endless_dataset(result):
                raise UsageError(
                    f"--input_fn={self._flags.input_fn} returned a dataset that repeats for ever "
                    f"for mode={mode!r}: {advice} the dataset for the argument num_epochs, which "
                    "is 1 then."
                )
            return result

        return input_fn

    def check_eval_input(self) -> None:
        """Calls the input_fn of evaluations, before a training that needs it later.

        Raises:
          UsageError: The evaluation would not end.
        """
        # Presets and tables end.
        if self._flags.eval_steps is None and not (self._flags.preset or self._flags.input):
            with tf.Graph().as_default():
                self.make_eval_input_fn()(self._config, tf.distribute.InputContext())

    def make_one_epoch_input_fn(self) -> Callable[..., Any]:
        """Returns an input_fn for one pass over the training data."""
        params = {**self._arguments["params"], "train_epochs": 1}
        return self._bind_input_fn(
            {**params, "params": params, "mode": ModeKeys.TRAIN, "num_epochs": 1}
        )

    def call_input_fn(self, mode: str) -> Any:
        """Calls the input_fn for a mode, eagerly, and returns its result."""
        return self.make_input_fn(mode)(self._config, tf.distribute.InputContext())

    def _bind_input_fn(self, arguments: dict[str, Any]) -> Callable[..., Any]:
        options = flags.make_pipeline_options(
            input_fns.PipelineOptions,
            self._flags,
            batch_size=arguments["batch_size"],
            num_epochs=arguments["num_epochs"],
            seed=arguments["seed"],
            shuffle=arguments["mode"] == ModeKeys.TRAIN,
        )

        function_divides_rows = "input_context" in list_argument_names(self._input)

        def input_fn(config: RunConfig, input_context: tf.distribute.InputContext) -> Any:
            context_for_options = None if function_divides_rows else input_context
            extra = {
                "config": config,
                "input_context": input_context,
                "pipeline_options": dataclasses.replace(options, input_context=context_for_options),
            }
            result = call_with_known(self._input, {**arguments, **extra})
            if result is None:
                raise UsageError(
                    f"--input_fn={self._flags.input_fn} returned None: return a Dataset of "
                    "(features, labels)."
                )
            if isinstance(result, Iterator):
                raise UsageError(
                    f"--input_fn={self._flags.input_fn} returned {type(result).__name__}: return a "
                    "Dataset, for example input_fns.generator(function), whose function yields one "
                    "(features, labels) for each row."
                )
            return result

        return input_fn

    def make_receiver_fn(self) -> Callable[[], Receiver]:
        """Returns a serving_input_receiver_fn for the features of the input_fn."""
        input_names = getattr(self._built_model, "input_names", None) or [_INPUT]
        input_fn = self.make_input_fn(ModeKeys.PREDICT)
        return make_receiver_fn(input_fn, self.estimator.config, input_names[0])

    def export(self, checkpoint_path: str | None = None) -> str | None:
        """Writes a SavedModel under --export_dir.

        Args:
          checkpoint_path: The checkpoint; by default the latest.

        Returns:
          The SavedModel's directory, or None if there is no --export_dir.
        """
        estimator = self.estimator
        base = flags.export_dir(estimator.model_dir, self._flags)
        if base is None:
            return None
        path = estimator.export_saved_model(
            base, self.make_receiver_fn(), checkpoint_path=checkpoint_path
        )
        return os.fsdecode(path)

    def _load_input_fn(self) -> Callable[..., Any]:
        if not self._flags.input:
            function = self._load_function("input_fn", _INPUT_ARGUMENTS)
            self._check_table_flags(function)
            return function
        if self._flags.input_fn:
            raise UsageError(
                f"--input={self._flags.input} and --input_fn={self._flags.input_fn}: give only one."
            )
        return read_table

    def _check_table_flags(self, input_fn: Callable[..., Any]) -> None:
        """Raises UsageError if a flag of --input is given that an input_fn does not read."""
        names = {*list_argument_names(input_fn)}
        for flag in _TABLE_FLAGS:
            if self._flags[flag].present and not names & {flag, "params"}:
                raise UsageError(
                    f"{self._flags[flag].serialize()} is not used: it belongs to "
                    f"--input=READER:PATH. Remove it, or give --input_fn={self._flags.input_fn} an "
                    f"argument {flag}."
                )

    def _load_function(self, flag: str, extra_arguments: tuple[str, ...]) -> Callable[..., Any]:
        path = self._flags[flag].value
        if path is None:
            raise UsageError(
                f"--{flag}=package.module:function is needed, or --preset with one of "
                f"{', '.join(flags.preset_names())}."
            )
        function = load(flag, path)
        if flag == "input_fn" or "features" not in list_argument_names(function):
            check_arguments(flag, path, function, (*self._arguments, *extra_arguments))
        return function


def remove_model_dir(model_dir: str | None) -> None:
    """Removes the directory of a training, if it exists.

    Args:
      model_dir: The directory, local or on another file system of TensorFlow.

    Raises:
      UsageError: There is no model_dir, or it has files but none of a training, or it contains the
        working directory. Nothing is removed then.
    """
    if not model_dir:
        raise UsageError("--clean needs --model_dir=DIR, the directory to remove.")
    if not tf.io.gfile.exists(model_dir):
        return
    working_directory = os.path.join(os.path.realpath(os.getcwd()), "")
    if working_directory.startswith(os.path.join(os.path.realpath(model_dir), "")):
        raise UsageError(
            f"--clean would remove --model_dir={model_dir}, which contains the working directory. "
            "Nothing is removed."
        )
    is_training = any(
        find_files(os.path.join(model_dir, ""), pattern) for pattern in _TRAINING_FILES
    )
    if not is_training and tf.io.gfile.listdir(model_dir):
        raise UsageError(
            f"--clean would remove --model_dir={model_dir}, but no training wrote to it: it has "
            "files, but no checkpoint and no event files. Nothing is removed."
        )
    tf.io.gfile.rmtree(model_dir)
