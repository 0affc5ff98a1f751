"""`estimator-train export`: write a SavedModel."""

from absl import flags as absl_flags

from estimator_train.cli import common
from estimator_train.cli.output.errors import UsageError

DESCRIPTION = """
Writes the model in --model_dir as a SavedModel into a new directory under --export_dir and prints
that directory. The served model takes what the input_fn delivers as features, in batches of any
size. Give the --preset, or the --model and --input_fn, that it was trained with.
"""
FLAGS = (*common.JOB_FLAGS, common.define_checkpoint_path)


def run(flag_values: absl_flags.FlagValues) -> None:
    """Exports as the flags say.

    Args:
      flag_values: The parsed flags.

    Raises:
      UsageError: A flag is missing or wrong, or there is no checkpoint.
    """
    from estimator_train.cli.job.job import Job

    if not flag_values.export_dir:
        raise UsageError("--export_dir=DIR is needed: where is the SavedModel to go?")
    job = Job(flag_values)
    job.trained_estimator(flag_values.checkpoint_path)
    print(job.export(flag_values.checkpoint_path))
