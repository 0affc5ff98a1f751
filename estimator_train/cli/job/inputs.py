"""Input of a job by its flags, and the last step of training that it allows."""

import hashlib
import json
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from estimator_train import ModeKeys, RunConfig
from estimator_train.cli.errors import UsageError
from estimator_train.cli.job.user_code import import_own_package
from estimator_train.engine.inputs.input_fn import is_dataset
from estimator_train.engine.inputs.start import is_endless

if TYPE_CHECKING:
    import input_fns as input_fns
else:
    input_fns = import_own_package("input_fns")


def digits(mode: str, pipeline_options: "input_fns.PipelineOptions") -> tf.data.Dataset:
    """Returns the digits that the package contains: 1,437 for training, 360 for evaluation.

    Args:
      mode: A ModeKeys value; training reads the training pictures in random order.
      pipeline_options: The `input_fns.PipelineOptions` of the flags.
    """
    return input_fns.digits(**_select_settings(mode, pipeline_options))


def fashion_mnist(
    mode: str,
    data_dir: str | None,
    download: bool,
    pipeline_options: "input_fns.PipelineOptions",
) -> tf.data.Dataset:
    """Returns Fashion-MNIST, or other data in four files of the same names and format.

    Args:
      mode: As for `digits`.
      data_dir: Folder with the four IDX files.
      download: Whether tf_keras may download missing files.
      pipeline_options: As for `digits`.

    Raises:
      UsageError: There is no data_dir.
      FileNotFoundError: A file does not exist.
      ValueError: A file is damaged.
    """
    folder = _require(data_dir, "a folder with the four IDX files, which --download can get")
    if not download and not tf.io.gfile.isdir(folder):
        raise UsageError(
            f"--data_dir={folder}: this folder does not exist. Put the four IDX files of "
            "Fashion-MNIST there, or add --download."
        )
    settings = _select_settings(mode, pipeline_options)
    return input_fns.fashion_mnist(folder, download=download, **settings)


def image_folder(
    mode: str,
    data_dir: str | None,
    file_pattern: str,
    labels: list[str],
    image_size: int,
    mixed_channels: bool,
    pipeline_options: "input_fns.PipelineOptions",
) -> tf.data.Dataset:
    """Returns the pictures in the folders `train` and `test`, which have a folder for each class.

    Args:
      mode: As for `digits`.
      data_dir: Folder that contains `train` and `test`.
      file_pattern: Pattern of the files in `train` and `test`.
      labels: Names of the classes' folders.
      image_size: Height and width of the resized pictures, in pixels.
      mixed_channels: Whether the folders may contain both grey and coloured pictures.
      pipeline_options: As for `digits`.

    Raises:
      UsageError: There is no data_dir.
      FileNotFoundError: No file matches.
      ValueError: The folder of a file is not among the labels.
    """
    folder = _require(data_dir, "a folder with train/CLASS/*.jpeg and test/CLASS/*.jpeg")
    settings = _select_settings(mode, pipeline_options)
    return input_fns.image_folder(
        os.path.join(folder, settings.pop("split"), file_pattern),
        labels,
        (image_size, image_size),
        mixed_channels=mixed_channels,
        **settings,
    )


# AutoGraph looks up the modules of functions, and this `input_fns` is not among `sys.modules`.
@tf.autograph.experimental.do_not_convert
def table(
    mode: str,
    input: str,
    eval_input: str | None,
    input_label: str | None,
    input_columns: list[str],
    pipeline_options: "input_fns.PipelineOptions",
) -> tf.data.Dataset:
    """Returns the rows of the table of --input or --eval_input.

    Args:
      mode: A ModeKeys value; predictions do not read the label.
      input: READER:PATH.
      eval_input: READER:PATH for evaluation; None means `input`.
      input_label: Name of the label column; None means that there is none.
      input_columns: Names of the feature columns; an empty list means all.
      pipeline_options: As for `digits`.

    Raises:
      FileNotFoundError: No file matches.
      ValueError: A file is damaged, or a column does not exist.
    """
    source = eval_input if eval_input and mode == ModeKeys.EVAL else input
    reader, _, path = source.partition(":")
    read = getattr(input_fns, reader)
    if mode != ModeKeys.PREDICT:
        return read(path, input_label, select=input_columns or None, options=pipeline_options)
    dataset = read(path, select=input_columns or None, options=pipeline_options)
    if input_columns or input_label not in dataset.element_spec:
        return dataset
    names = [name for name in dataset.element_spec if name != input_label]
    return read(path, select=names, options=pipeline_options)


def describe_files(source: str) -> dict[str, Any]:
    """Returns the number of files of --input, their bytes, and a digest of names and sizes.

    Args:
      source: READER:PATH.
    """
    pattern = source.partition(":")[2]
    matched = [pattern] if tf.io.gfile.isdir(pattern) else tf.io.gfile.glob(pattern)
    found: dict[str, int] = {}
    for path in matched:
        described = tf.io.gfile.stat(path)
        if not described.is_directory:
            found[path] = described.length
            continue
        for folder, _, names in tf.io.gfile.walk(path):
            inside = [os.path.join(folder, name) for name in names]
            found.update((file, tf.io.gfile.stat(file).length) for file in inside)
    sizes = dict(sorted(found.items()))
    digest = hashlib.sha256(json.dumps(sizes).encode()).hexdigest()[:16]
    return {"files": len(sizes), "bytes": sum(sizes.values()), "digest": digest}


def _select_settings(mode: str, pipeline_options: "input_fns.PipelineOptions") -> dict[str, Any]:
    return {
        "split": "train" if mode == ModeKeys.TRAIN else "test",
        "options": pipeline_options,
    }


def _require(data_dir: str | None, description: str) -> str:
    if not data_dir:
        raise UsageError(f"--data_dir=DIR is needed: {description}.")
    return data_dir


def is_endless_dataset(result: Any) -> bool:
    """Returns whether an input_fn returned, in a graph, a dataset that repeats for ever.

    Args:
      result: The result of the input_fn.
    """
    if not is_dataset(result) or tf.executing_eagerly():
        return False
    return is_endless(tf.data.experimental.to_variant(result).op)


class TrainingInput:
    """Wrapper of an input_fn that records the number of batches in its dataset.

    Args:
      input_fn: The input_fn; it takes config and input_context.
      max_steps: The global step at which training stops, or None to train until the input ends.
      check_eval_input: Function that raises an error if evaluations would not end. It is called
        if the dataset repeats for ever, as that of the same function for evaluations may.
    """

    def __init__(
        self,
        input_fn: Callable[..., Any],
        max_steps: int | None,
        check_eval_input: Callable[[], None],
    ) -> None:
        self._input_fn = input_fn
        self._max_steps = max_steps
        self._check_eval_input = check_eval_input
        self._batches: tf.Tensor | None = None
        self._context = tf.distribute.InputContext()

    def __call__(self, config: RunConfig, input_context: tf.distribute.InputContext) -> Any:
        """Calls the wrapped input_fn and returns its result."""
        result = self._input_fn(config=config, input_context=input_context)
        if is_endless_dataset(result):
            self._check_eval_input()
        if is_dataset(result):
            self._batches = tf.data.experimental.cardinality(result)
            self._context = input_context
        return result

    def find_last_step(self, session: tf.compat.v1.Session) -> int | None:
        """Returns the global step at which training will end, or None if it is unknown."""
        if self._max_steps is not None or self._batches is None:
            return self._max_steps
        start, batches = session.run(
            [tf.compat.v1.train.get_global_step(session.graph), self._batches]
        )
        if batches < 0:  # The cardinality is infinite or unknown.
            return None
        # A step uses one batch for each replica; each worker has as many batches as this one.
        batches *= self._context.num_input_pipelines
        return int(start + batches // self._context.num_replicas_in_sync)
