"""`estimator-train evaluate`: prints the metrics of a checkpoint."""

from typing import Any

from absl import flags as absl_flags

from estimator_train.cli import results
from estimator_train.cli.job import user_code

DESCRIPTION = """
Evaluates the model in --model_dir on the evaluation data (the data of the input_fn for mode 'eval')
and prints one line for each metric. Use the --preset, or the --model and --input_fn, of the
training.
"""
FLAGS = (*user_code.JOB_FLAGS, user_code.define_checkpoint_path)


def run(flag_values: absl_flags.FlagValues) -> None:
    """Evaluates the model in --model_dir and prints its metrics.

    Args:
      flag_values: The parsed flags.

    Raises:
      UsageError: A flag is missing or wrong, or there is no checkpoint.
    """
    with results.record_run(flag_values) as record:
        _run(flag_values, record)


def _run(flag_values: absl_flags.FlagValues, record: dict[str, Any]) -> None:
    from estimator_train.cli.job.job import Job, find_checkpoint

    job = Job(flag_values)
    record["checkpoint"] = find_checkpoint(flag_values)
    metrics = job.estimator.evaluate(
        job.make_eval_input_fn(),
        steps=flag_values.eval_steps,
        checkpoint_path=flag_values.checkpoint_path,
    )
    record["metrics"] = dict(metrics)
    print(results.format_table(results.format_metrics(metrics)))
