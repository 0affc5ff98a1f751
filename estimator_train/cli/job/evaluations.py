"""From flags to the evaluations of a training."""

import os
import sys
from collections.abc import Mapping
from typing import Any

import tensorflow as tf
from absl import flags as absl_flags
from tqdm import tqdm

from estimator_train import EvalSpec, Exporter, ModeKeys
from estimator_train.cli.job.exporters import exporters
from estimator_train.cli.job.job import Job
from estimator_train.cli.output import results
from estimator_train.cli.output.errors import UsageError


def eval_spec(job: Job, flag_values: absl_flags.FlagValues) -> EvalSpec:
    """Makes the EvalSpec that the flags ask for.

    Args:
      job: The job.
      flag_values: The parsed flags.

    Raises:
      UsageError: --epochs_between_evals is given, and nobody knows how long an epoch is.
    """
    receiver_fn = job.receiver_fn() if flag_values.exporters else None
    return EvalSpec(
        job.input_fn(ModeKeys.EVAL),
        steps=flag_values.eval_steps,
        exporters=exporters(receiver_fn, flag_values),
        throttle_secs=flag_values.eval_throttle_secs or 0,
        every_steps=_every_steps(job, flag_values),
    )


def best_checkpoint(model_dir: str, flag_values: absl_flags.FlagValues) -> str | None:
    """Returns the best checkpoint that --keep_best kept; None without one."""
    if not flag_values.keep_best:
        return None
    return tf.train.latest_checkpoint(os.path.join(model_dir, "best"))


def _every_steps(job: Job, flag_values: absl_flags.FlagValues) -> int | None:
    epochs = flag_values.epochs_between_evals
    if epochs is None:
        return flag_values.eval_every_steps
    strategy = job.estimator.config.train_distribute
    replicas = strategy.num_replicas_in_sync if strategy else 1
    # Each step needs a batch for every replica.
    return max(1, epochs * _batches_of_an_epoch(job) // replicas)


def _batches_of_an_epoch(job: Job) -> int:
    config = job.estimator.config
    with tf.Graph().as_default(), tf.compat.v1.Session(config=config.session_config) as session:
        dataset = job.one_epoch_input_fn()(config, tf.distribute.InputContext())
        batches = -1
        if isinstance(dataset, (tf.data.Dataset, tf.compat.v1.data.Dataset)):
            batches = int(session.run(tf.data.experimental.cardinality(dataset)))
    if batches < 0:
        raise UsageError(
            "--epochs_between_evals: the input_fn returns no dataset that knows how many batches "
            "an epoch has. Give --eval_every_steps."
        )
    return batches


class Notes(Exporter):
    """Writes a line about each evaluation to standard error; the user is waiting for it."""

    name = "notes"

    def __init__(self) -> None:
        self._noted: int | None = None

    def export(
        self,
        estimator: Any,
        export_path: str,
        checkpoint_path: str,
        eval_result: Mapping[str, Any],
        is_the_final_export: bool,
    ) -> None:
        """Writes the line; a last evaluation may come a second time."""
        step = int(eval_result["global_step"])
        if step != self._noted:
            tqdm.write(f"step {step} evaluated  {results.line(eval_result)}", file=sys.stderr)
        self._noted = step
