"""`estimator-train train --dry_run`: whether the job would run at all."""

import tempfile
from typing import Any

import tensorflow as tf
from absl import flags as absl_flags

from estimator_train import FinalExporter, ModeKeys, TrainSpec
from estimator_train.cli.job.evaluations import eval_spec
from estimator_train.cli.job.exporters import check_metric
from estimator_train.cli.job.job import Job
from estimator_train.cli.output import errors, results
from estimator_train.training.dry_run import DryRun, dry_run


def run(flag_values: absl_flags.FlagValues) -> None:
    """Tries the job out and prints what was tried; nothing is left in --model_dir.

    Args:
      flag_values: The parsed flags.

    Raises:
      UsageError: The job would fail.
    """
    model_dir = flag_values.model_dir
    if model_dir and tf.io.gfile.exists(model_dir) and not tf.io.gfile.isdir(model_dir):
        raise errors.UsageError(f"{model_dir} is not a directory")
    try:
        # Making a Keras model an estimator writes to its model_dir, too.
        with tempfile.TemporaryDirectory(prefix="dry_run_") as elsewhere:
            rows = _try(Job(flag_values, model_dir=elsewhere), flag_values)
    except Exception as error:
        if errors.is_bad_input(error):
            raise
        # Whatever it is, the job meets it again.
        raise errors.UsageError(f"{type(error).__name__}: {error}") from error
    print(results.table({**rows, "model_dir": f"{model_dir} is as it was"} if model_dir else rows))


def _try(job: Job, flag_values: absl_flags.FlagValues) -> dict[str, str]:
    evaluation = eval_spec(job, flag_values)
    if flag_values.export_dir and not evaluation.exporters:
        final = FinalExporter("export_dir", job.receiver_fn())
        evaluation = evaluation._replace(exporters=(final,))
    training = TrainSpec(job.input_fn(ModeKeys.TRAIN), flag_values.max_train_steps)
    outcome = dry_run(job.estimator, training, evaluation)
    if flag_values.stop_metric:
        check_metric("stop_metric", flag_values.stop_metric, outcome.metrics[None])
    return _rows(outcome)


def _rows(outcome: DryRun) -> dict[str, str]:
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
