"""`estimator-train export`: writes a SavedModel of a checkpoint."""

from absl import flags as absl_flags

from estimator_train.cli import common
from estimator_train.cli.output.errors import UsageError

DESCRIPTION = """
Writes the model in --model_dir as a SavedModel into a new directory in --export_dir, and prints the
path of that directory. The served model takes the features of the input_fn, in batches of any size.
Use the --preset, or the --model and --input_fn, of the training.
"""
FLAGS = (*common.JOB_FLAGS, common.define_checkpoint_path)


def run(flag_values: absl_flags.FlagValues) -> None:
    """Exports the model of the flags.

    Args:
      flag_values: The parsed flags.

    Raises:
      UsageError: A flag is missing or wrong, or there is no checkpoint.
    """
    from estimator_train.cli.job.job import Job

    if not flag_values.export_dir:
        raise UsageError("--export_dir=DIR is needed, the directory for the SavedModel.")
    job = Job(flag_values)
    job.get_trained_estimator()
    print(job.export(flag_values.checkpoint_path))
