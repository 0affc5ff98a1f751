"""Handling of preemption signals by commands that train, and reproducible runs."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator

from absl import flags as absl_flags

from estimator_train.cli.output.errors import PROGRAM, UsageError
from estimator_train.lifecycle.preemption import Preempted, Preemption, watch


@contextlib.contextmanager
def exit_saved_on_signal(flag_values: absl_flags.FlagValues) -> Iterator[None]:
    """Saves training and exits with code 143 if a signal of --preemption_signals arrives.

    Args:
      flag_values: The parsed flags.

    Raises:
      ValueError: A signal does not exist on this system.
    """
    signals = tuple(flag_values.preemption_signals or ())
    with watch(Preemption(signals, flag_values.grace_secs)):
        try:
            yield
        except Preempted:
            if flag_values.slurm_requeue:
                _requeue()
            raise


def make_reproducible(flag_values: absl_flags.FlagValues) -> None:
    """Sets the seeds of Python, NumPy and Keras, and makes operations deterministic, by the flags.

    Args:
      flag_values: The parsed flags.

    Raises:
      UsageError: --deterministic is given without --seed.
    """
    if flag_values.deterministic and flag_values.seed is None:
        raise UsageError("--deterministic needs --seed, such as --seed=1.")
    if flag_values.seed is None:
        return
    import tensorflow as tf
    import tf_keras

    tf_keras.utils.set_random_seed(flag_values.seed)
    if flag_values.deterministic:
        tf.config.experimental.enable_op_determinism()


def _requeue() -> None:
    """Requeues this Slurm job, or this task of a job array."""
    array, task = (os.environ.get(f"SLURM_ARRAY_{name}") for name in ("JOB_ID", "TASK_ID"))
    job = f"{array}_{task}" if array and task else os.environ.get("SLURM_JOB_ID")
    if not job:
        print(
            f"{PROGRAM}: --slurm_requeue: this is not a Slurm job, because SLURM_JOB_ID is not set",
            file=sys.stderr,
        )
        return
    if os.environ.get("SLURM_PROCID", "0") != "0":
        return
    try:
        subprocess.run(["scontrol", "requeue", job], check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"{PROGRAM}: --slurm_requeue: {error}", file=sys.stderr)
