"""From flags to an estimator and its input_fns."""

import dataclasses
import os
from collections.abc import Callable
from functools import cached_property
from typing import Any

import tensorflow as tf
from absl import flags as absl_flags

from estimator_train import Estimator, ModeKeys, RunConfig
from estimator_train.cli.job.inputs import input_fns
from estimator_train.cli.job.own_packages import flags
from estimator_train.cli.job.serving import receiver_fn
from estimator_train.cli.job.user_code import check_arguments, load
from estimator_train.cli.output.errors import UsageError
from estimator_train.engine.user_functions import argument_names, call_with_known

_INPUT_ARGUMENTS = ("mode", "config", "input_context", "num_epochs", "pipeline_options")
_INPUT = "input"  # As tf.estimator names an only input.


class Job:
    """What a command's flags describe.

    The functions that --model and --input_fn name are called with those arguments that they name:
    any flag, by its name (`batch_size` is that of one replica); `params`, a dict of all of them;
    and for an input_fn also `mode`, `config`, `input_context`, `num_epochs` (--train_epochs in
    training, None to repeat if --max_train_steps ends it, else 1), and `pipeline_options`,
    the `input_fns.PipelineOptions` of all of these, which has each of several workers read its own
    part of the rows, unless the function names `input_context` and does that itself.

    Args:
      flag_values: The parsed flags.
      model_dir: The directory to use in place of --model_dir.
      needs_model: Whether there must be a --model.

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
            if flag_values[name].name == name  # Else it is a short name.
        }
        values.update(overrides, batch_size=batch_size)
        self._arguments: dict[str, Any] = {**values, "params": values}
        self._input_name = _INPUT
        self._model: Any = self._function("model", ()) if needs_model else None
        self._input = self._function("input_fn", _INPUT_ARGUMENTS)

    @cached_property
    def estimator(self) -> Estimator:
        """The estimator that --model makes, on --model_dir."""
        names = argument_names(self._model)
        if "features" in names:  # It is a model_fn.
            params = self._arguments["params"] if "params" in names else None
            return Estimator(self._model, config=self._config, params=params)
        from estimator_train.keras import model_to_estimator

        model = call_with_known(self._model, self._arguments)
        if model is None:
            raise UsageError(
                f"--model={self._flags.model} returned None: return a compiled tf_keras model."
            )
        self._input_name = (getattr(model, "input_names", None) or [_INPUT])[0]
        return model_to_estimator(model, config=self._config)

    def trained_estimator(self, checkpoint_path: str | None) -> Estimator:
        """Returns the estimator, after a look whether there is a checkpoint for it.

        Args:
          checkpoint_path: The checkpoint that will be used; by default the latest.

        Raises:
          UsageError: There is no --model_dir, or no such checkpoint.
        """
        if checkpoint_path:
            if not tf.io.gfile.exists(f"{checkpoint_path}.index"):
                raise UsageError(
                    f"--checkpoint_path={checkpoint_path}: this checkpoint does not exist."
                )
        elif not self._flags.model_dir:
            raise UsageError("--model_dir=DIR is needed: the directory that train wrote to.")
        elif not tf.train.latest_checkpoint(self._flags.model_dir):
            raise UsageError(
                f"--model_dir={self._flags.model_dir} has no checkpoint: train the model first."
            )
        return self.estimator

    def input_fn(self, mode: str) -> Callable[..., Any]:
        """Returns an input_fn for a mode, as the methods of an estimator take it."""
        num_epochs: int | None = 1
        if mode == ModeKeys.TRAIN:
            num_epochs = None if self._flags.max_train_steps else self._flags.train_epochs
        return self._input_fn({**self._arguments, "mode": mode, "num_epochs": num_epochs})

    def one_epoch_input_fn(self) -> Callable[..., Any]:
        """Returns an input_fn for one pass over the training data."""
        params = {**self._arguments["params"], "train_epochs": 1}
        once = {**params, "params": params, "mode": ModeKeys.TRAIN, "num_epochs": 1}
        return self._input_fn(once)

    def call_input_fn(self, mode: str) -> Any:
        """Returns what the input_fn returns for a mode, made eagerly."""
        return self.input_fn(mode)(self._config, tf.distribute.InputContext())

    def _input_fn(self, arguments: dict[str, Any]) -> Callable[..., Any]:
        options = flags.make_pipeline_options(
            input_fns.PipelineOptions,
            self._flags,
            batch_size=arguments["batch_size"],
            num_epochs=arguments["num_epochs"],
            seed=arguments["seed"],
            shuffle=arguments["mode"] == ModeKeys.TRAIN,
        )

        divides_rows = "input_context" in argument_names(self._input)

        def input_fn(config: RunConfig, input_context: tf.distribute.InputContext) -> Any:
            own_part = None if divides_rows else input_context
            extra = {
                "config": config,
                "input_context": input_context,
                "pipeline_options": dataclasses.replace(options, input_context=own_part),
            }
            result = call_with_known(self._input, {**arguments, **extra})
            if result is None:
                raise UsageError(
                    f"--input_fn={self._flags.input_fn} returned None: return a Dataset of "
                    "(features, labels)."
                )
            return result

        return input_fn

    def receiver_fn(self) -> Callable[[], Any]:
        """Returns a serving_input_receiver_fn that takes what the input_fn delivers."""
        estimator = self.estimator  # It knows the input's name.
        return receiver_fn(self.input_fn(ModeKeys.PREDICT), estimator.config, self._input_name)

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
            base, self.receiver_fn(), checkpoint_path=checkpoint_path
        )
        return os.fsdecode(path)

    def _function(self, flag: str, more: tuple[str, ...]) -> Callable[..., Any]:
        path = self._flags[flag].value
        if path is None:
            raise UsageError(
                f"which {flag}? --{flag}=package.module:function, or --preset with one of "
                f"{', '.join(flags.preset_names())}."
            )
        function = load(flag, path)
        if flag == "input_fn" or "features" not in argument_names(function):
            check_arguments(flag, path, function, (*self._arguments, *more))
        return function
