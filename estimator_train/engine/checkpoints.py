"""Reading checkpoints: which one a call uses, and the values in it."""

from typing import Any

import tensorflow as tf

from estimator_train.engine.job import Job

_LOG = tf.get_logger()


def checkpoint_or_none(job: Job, checkpoint_path: str | None, purpose: str) -> str | None:
    """The checkpoint that a call restores.

    Args:
      job: The job that is run.
      checkpoint_path: What the caller asked for; by default the latest in model_dir.
      purpose: What it is for, as it stands in the log where there is none ("evaluate").

    Returns:
      The path prefix, or None where there is none and variables are to be initialized.
    """
    path = checkpoint_path or job.latest_checkpoint()
    if path is None:
        _LOG.info(
            "Could not find trained model in model_dir: %s, running initialization to %s.",
            job.model_dir,
            purpose,
        )
    return path


def saved_global_step(job: Job) -> int:
    """The global step of the latest checkpoint; 0 where there is none."""
    path = job.latest_checkpoint()
    return 0 if path is None else global_step_in(path)


def global_step_in(path: str) -> int:
    """The global step that a checkpoint holds, of either format; 0 if it holds none."""
    reader = tf.train.load_checkpoint(path)
    for name in reader.get_variable_to_shape_map():
        # An object-based checkpoint has "name/.ATTRIBUTES/VARIABLE_VALUE".
        if name.split("/")[0] in ("global_step", "estimator_global_step"):
            return int(reader.get_tensor(name))
    return 0


def _existing(job: Job) -> str:
    path = job.latest_checkpoint()
    if path is None:
        raise ValueError(f"Could not find trained model in model_dir: {job.model_dir}.")
    return path


def variable_names(job: Job) -> list[str]:
    """Names of the variables in the latest checkpoint.

    Raises:
      ValueError: There is no checkpoint.
    """
    return [name for name, _ in tf.train.list_variables(_existing(job))]


def variable_value(job: Job, name: str) -> Any:
    """The value of a variable in the latest checkpoint, a NumPy array.

    Raises:
      ValueError: There is no checkpoint.
    """
    return tf.train.load_variable(_existing(job), name)
