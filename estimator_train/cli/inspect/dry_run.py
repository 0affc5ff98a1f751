"""`estimator-train train --dry_run`: checks that the job can run."""

import tempfile
from typing import Any

import tensorflow as tf
from absl import flags as absl_flags

from estimator_train import FinalExporter, ModeKeys, TrainSpec
from estimator_train.cli.job.evaluations import make_eval_spec
from estimator_train.cli.job.exporters import check_metric
from estimator_train.cli.job.job import Job
from estimator_train.cli.output import errors, results
from estimator_train.training.dry_run import DryRun, dry_run


def run(flag_values: absl_flags.FlagValues) -> None:
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
            rows = _try(Job(flag_values, model_dir=elsewhere), flag_values)
    except Exception as error:
        if errors.is_bad_input(error):
            raise
        if not (isinstance(error, tf.errors.OpError) or errors.is_from_user_code(error)):
            raise  # A bug of this package is no mistake of the user.
        raise errors.UsageError(f"{type(error).__name__}: {error}") from error
    if model_dir:
        rows["model_dir"] = f"{model_dir} was not changed"
    print(results.format_table(rows))


def _try(job: Job, flag_values: absl_flags.FlagValues) -> dict[str, str]:
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
