"""How a training command ends at a signal, and what makes two of its runs equal."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator

from absl import flags as absl_flags

from estimator_train.cli.output.errors import PROGRAM, UsageError
from estimator_train.lifecycle.preemption import Preempted, Preemption, watch


@contextlib.contextmanager
def ending_saved(flag_values: absl_flags.FlagValues) -> Iterator[None]:
    """Within it the signals of the flags end the command: with code 143, training saved.

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
    """Seeds what is not part of the estimator's graph, and fixes the order of operations if asked.

    Args:
      flag_values: The parsed flags.

    Raises:
      UsageError: --deterministic without --seed.
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
    """Asks Slurm to queue this job again; of an array, this task of it."""
    array, task = (os.environ.get(f"SLURM_ARRAY_{name}") for name in ("JOB_ID", "TASK_ID"))
    job = f"{array}_{task}" if array and task else os.environ.get("SLURM_JOB_ID")
    if not job:
        print(
            f"{PROGRAM}: --slurm_requeue: not in a Slurm job, as SLURM_JOB_ID is not set",
            file=sys.stderr,
        )
        return
    if os.environ.get("SLURM_PROCID", "0") != "0":
        return
    try:
        subprocess.run(["scontrol", "requeue", job], check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"{PROGRAM}: --slurm_requeue: {error}", file=sys.stderr)
