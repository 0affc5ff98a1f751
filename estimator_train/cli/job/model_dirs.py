"""Removes a model_dir for `--clean`, and refuses to remove other directories."""

import os

import tensorflow as tf

from estimator_train.cli.output.errors import UsageError

_TRAINING_FILES = ("checkpoint", "graph.pbtxt", "events.out.tfevents.*", "model.ckpt-*", "keras")


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
        tf.io.gfile.glob(os.path.join(model_dir, pattern)) for pattern in _TRAINING_FILES
    )
    if not is_training and tf.io.gfile.listdir(model_dir):
        raise UsageError(
            f"--clean would remove --model_dir={model_dir}, but no training wrote to it: it has "
            "files, but no checkpoint and no event files. Nothing is removed."
        )
    tf.io.gfile.rmtree(model_dir)
