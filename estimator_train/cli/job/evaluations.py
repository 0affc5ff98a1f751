"""The EvalSpec that flags describe, and lines about evaluations during training."""

import sys
from collections.abc import Mapping

import numpy as np
import tensorflow as tf
from absl import flags as absl_flags
from tqdm import tqdm

from estimator_train import Estimator, EvalSpec, Exporter, ModeKeys
from estimator_train.cli.job.exporters import make_exporters
from estimator_train.cli.job.job import Job
from estimator_train.cli.output import results
from estimator_train.cli.output.errors import UsageError
from estimator_train.engine.inputs.input_fn import is_dataset


def make_eval_spec(job: Job, flag_values: absl_flags.FlagValues) -> EvalSpec:
    """Returns the EvalSpec that the flags describe.

    Args:
      job: The job.
      flag_values: The parsed flags.

    Raises:
      UsageError: --epochs_between_evals is given, but the length of an epoch is unknown.
    """
    receiver_fn = job.make_receiver_fn() if flag_values.exporters else None
    return EvalSpec(
        job.make_input_fn(ModeKeys.EVAL),
        steps=flag_values.eval_steps,
        exporters=make_exporters(receiver_fn, flag_values),
        throttle_secs=flag_values.eval_throttle_secs or 0,
        every_steps=_compute_every_steps(job, flag_values),
    )


def _compute_every_steps(job: Job, flag_values: absl_flags.FlagValues) -> int | None:
    epochs = flag_values.epochs_between_evals
    if epochs is None:
        return flag_values.eval_every_steps
    strategy = job.estimator.config.train_distribute
    replicas = strategy.num_replicas_in_sync if strategy else 1
    # A step uses one batch for each replica.
    return max(1, epochs * _count_batches_in_epoch(job) // replicas)


def _count_batches_in_epoch(job: Job) -> int:
    config = job.estimator.config
    with tf.Graph().as_default(), tf.compat.v1.Session(config=config.session_config) as session:
        dataset = job.make_one_epoch_input_fn()(config, tf.distribute.InputContext())
        batches = -1
        if is_dataset(dataset):
            batches = int(session.run(tf.data.experimental.cardinality(dataset)))
    if batches < 0:
        raise UsageError(
            "--epochs_between_evals needs an input_fn that returns a dataset with a known number "
            "of batches. Use --eval_every_steps instead."
        )
    return batches


class EvaluationPrinter(Exporter):
    """Exporter that prints a line about each evaluation to standard error."""

    name = "evaluation_printer"

    def __init__(self) -> None:
        self._last_step: int | None = None

    def export(
        self,
        estimator: Estimator,
        export_path: str,
        checkpoint_path: str,
        eval_result: Mapping[str, np.generic],
        is_the_final_export: bool,
    ) -> None:
        """Prints the line, once even if the last evaluation is exported twice."""
        step = int(eval_result["global_step"])
        if step != self._last_step:
            line = results.format_line(eval_result)
            tqdm.write(f"step {step} evaluated  {line}", file=sys.stderr)
        self._last_step = step
