"""Evaluations of a job by its flags, the metrics at which it stops, and its dry run."""

import sys
import tempfile
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
import tensorflow as tf
from absl import flags as absl_flags
from tqdm import tqdm

from estimator_train import Estimator, EvalSpec, Exporter, FinalExporter, ModeKeys, TrainSpec
from estimator_train.cli import errors, results
from estimator_train.cli.errors import UsageError
from estimator_train.cli.job.exporters import check_metric, make_exporters
from estimator_train.cli.job.job import Job
from estimator_train.engine.inputs.input_fn import is_dataset
from estimator_train.estimator.dry_run import DryRun, dry_run
from estimator_train.training import stopping_hooks
from estimator_train.training.stopping_hooks import StopAfterSeconds

_MAX_CHECK_SECS = 60  # Seconds between checks for new evaluations, as in tf.estimator 2.15.


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
        job.make_eval_input_fn(),
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


class _StopHook(Protocol):
    """Hook that may stop training."""

    stopped: bool


class Stopping:
    """Hooks of --stop_metric and --max_time. The time limit starts with the constructor.

    Args:
      estimator: The Estimator to train.
      flag_values: The parsed flags.
      every_steps: Training steps between evaluations; None if evaluations do not depend on steps.

    Attributes:
      hooks: The hooks, for training.
    """

    def __init__(
        self, estimator: Estimator, flag_values: absl_flags.FlagValues, every_steps: int | None
    ) -> None:
        self._max_steps = flag_values.max_train_steps
        self._hooks_by_reason: dict[str, _StopHook] = {}
        if flag_values.stop_metric:
            rule = _describe_rule(flag_values)
            self._hooks_by_reason[f"early stopping, {rule}"] = _make_early_stopping_hook(
                estimator, flag_values, every_steps
            )
        if flag_values.max_time:
            reason = f"--max_time={flag_values.max_time:g} s reached"
            self._hooks_by_reason[reason] = StopAfterSeconds(flag_values.max_time)
        self.hooks = list(self._hooks_by_reason.values())

    def get_reason(self, step: int) -> str:
        """Returns the reason why training ended.

        Args:
          step: The global step at which it ended.
        """
        if self._max_steps is not None and step >= self._max_steps:
            return f"--max_train_steps={self._max_steps} reached"
        reasons = (reason for reason, hook in self._hooks_by_reason.items() if hook.stopped)
        return next(reasons, "end of input")


def _make_early_stopping_hook(
    estimator: Estimator, flag_values: absl_flags.FlagValues, every_steps: int | None
) -> _StopHook:
    rule = flag_values.stop_if
    make_hook = getattr(stopping_hooks, f"stop_if_{rule}_hook")
    limit = (
        flag_values.stop_patience_steps if rule.startswith("no_") else flag_values.stop_threshold
    )
    # Checks by steps make equal runs stop at equal steps.
    steps = every_steps or estimator.config.save_checkpoints_steps
    secs = None
    if not steps:
        secs = min(_MAX_CHECK_SECS, estimator.config.save_checkpoints_secs or _MAX_CHECK_SECS)
    return make_hook(
        estimator, flag_values.stop_metric, limit, run_every_secs=secs, run_every_steps=steps
    )


def _describe_rule(flag_values: absl_flags.FlagValues) -> str:
    metric, rule = flag_values.stop_metric, flag_values.stop_if
    if rule.startswith("no_"):
        change = rule.removeprefix("no_")
        return f"no {change} of {metric} for {flag_values.stop_patience_steps} steps"
    return f"{metric} {rule} than {flag_values.stop_threshold:g}"


def run_dry(flag_values: absl_flags.FlagValues) -> None:
    """Tries each part of the job, without a change to --model_dir, and prints the results.

    Args:
      flag_values: The parsed flags.

    Raises:
      UsageError: The job would fail.
    """
    model_dir = flag_values.model_dir
    if model_dir and tf.io.gfile.exists(model_dir) and not tf.io.gfile.isdir(model_dir):
        raise errors.UsageError(f"{model_dir} is not a directory")
    try:
        # Converting a Keras model to an estimator writes to its model_dir.
        with tempfile.TemporaryDirectory(prefix="dry_run_") as elsewhere:
            rows = _try_job(Job(flag_values, model_dir=elsewhere), flag_values)
    except Exception as error:
        if errors.is_bad_input(error):
            raise
        if not (isinstance(error, tf.errors.OpError) or errors.is_from_user_code(error)):
            raise  # A bug of this package is no mistake of the user.
        raise errors.UsageError(f"{type(error).__name__}: {error}") from error
    if model_dir:
        rows["model_dir"] = f"{model_dir} was not changed"
    print(results.format_table(rows))


def _try_job(job: Job, flag_values: absl_flags.FlagValues) -> dict[str, str]:
    evaluation = make_eval_spec(job, flag_values)
    if flag_values.export_dir and not evaluation.exporters:
        final = FinalExporter("export_dir", job.make_receiver_fn())
        evaluation = evaluation._replace(exporters=(final,))
    training = TrainSpec(job.make_input_fn(ModeKeys.TRAIN), flag_values.max_train_steps)
    outcome = dry_run(job.estimator, training, evaluation)
    if flag_values.stop_metric:
        check_metric("stop_metric", flag_values.stop_metric, outcome.metrics[None])
    return _format_rows(outcome)


def _format_rows(outcome: DryRun) -> dict[str, str]:
    served: Any = outcome.prediction
    rows = {
        "train": f"{outcome.global_step} steps: ok",
        "evaluate": f"1 batch: ok ({', '.join(sorted(outcome.metrics[None]))})",
    }
    if outcome.exports:
        rows["export"] = f"{', '.join(outcome.exports)}: ok"
        rows["serve"] = (
            f"1 example: ok ({', '.join(sorted(served))})" if served else "no request made"
        )
    return rows
