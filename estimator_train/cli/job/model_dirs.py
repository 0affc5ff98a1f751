"""Removing a model_dir, and nothing else."""

import os

import tensorflow as tf

from estimator_train.cli.output.errors import UsageError

_OURS = ("checkpoint", "graph.pbtxt", "events.out.tfevents.*", "model.ckpt-*", "keras")


def remove(model_dir: str | None) -> None:
    """Removes a directory that a training wrote; one that is not there is fine.

    Args:
      model_dir: The directory, local or on any file system that TensorFlow knows.

    Raises:
      UsageError: There is no model_dir; or the directory holds files and none that a training
        writes, or the working directory lies in it: it is left as it is.
    """
    if not model_dir:
        raise UsageError("--clean needs --model_dir=DIR: which directory is to be removed?")
    if not tf.io.gfile.exists(model_dir):
        return
    inside = os.path.join(os.path.realpath(os.getcwd()), "")
    if inside.startswith(os.path.join(os.path.realpath(model_dir), "")):
        raise UsageError(
            f"--clean would remove --model_dir={model_dir}, in which you are working. Nothing is "
            "removed."
        )
    written = any(tf.io.gfile.glob(os.path.join(model_dir, pattern)) for pattern in _OURS)
    if not written and tf.io.gfile.listdir(model_dir):
        raise UsageError(
            f"--clean would remove --model_dir={model_dir}, but no training wrote to it: it has "
            "files and no checkpoint or events. Nothing is removed."
        )
    tf.io.gfile.rmtree(model_dir)
