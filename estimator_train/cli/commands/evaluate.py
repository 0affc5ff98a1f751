"""`estimator-train evaluate`: print a checkpoint's metrics."""

from absl import flags as absl_flags

from estimator_train.cli import common
from estimator_train.cli.output import results

DESCRIPTION = """
Evaluates the model in --model_dir on the evaluation data (what the input_fn returns for mode
'eval') and prints its metrics, one a line. Give the --preset, or the --model and --input_fn, that
it was trained with.
"""
FLAGS = (*common.JOB_FLAGS, common.define_checkpoint_path)


def run(flag_values: absl_flags.FlagValues) -> None:
    """Evaluates as the flags say.

    Args:
      flag_values: The parsed flags.

    Raises:
      UsageError: A flag is missing or wrong, or there is no checkpoint.
    """
    from estimator_train import ModeKeys
    from estimator_train.cli.job.job import Job

    job = Job(flag_values)
    metrics = job.trained_estimator(flag_values.checkpoint_path).evaluate(
        job.input_fn(ModeKeys.EVAL),
        steps=flag_values.eval_steps,
        checkpoint_path=flag_values.checkpoint_path,
    )
    print(results.table(results.rows_of(metrics)))
