"""`estimator-train data`: shows the examples of an input_fn and measures its speed."""

import os

from absl import flags as absl_flags

from estimator_train.cli import results
from estimator_train.cli.job import user_code
from estimator_train.cli.job.user_code import Group

DESCRIPTION = """
Shows the structure, shapes, dtypes and values of the batches that an input_fn returns, and the
number of examples of each class. --contact_sheet=FILE writes the first pictures to a PNG file.
Then the command measures the examples per second of each stage of the pipeline, names the slowest
stage, and suggests a change. It needs --input_fn, --input or --preset, and builds no model. For a
table of --input it proposes feature columns.
"""


def _define_data_flags(flag_values: absl_flags.FlagValues) -> None:
    define = Group(flag_values)
    define.enum("mode", "train", ["train", "eval", "infer"], "Mode to call the input_fn with.")
    define.integer(
        "data_batches", 20, "Number of batches to examine for values and classes.", lower_bound=1
    )
    define.float(
        "measure_secs", 2.0, "Seconds to measure each stage; 0 measures nothing.", lower_bound=0.0
    )
    define.string("contact_sheet", None, "PNG file for the first pictures.")


FLAGS = (*user_code.JOB_FLAGS, _define_data_flags)


def run(flag_values: absl_flags.FlagValues) -> None:
    """Examines the input of the flags.

    Args:
      flag_values: The parsed flags.

    Raises:
      UsageError: A flag is missing or wrong, or the input_fn returns no Dataset or an empty one.
    """
    with results.record_run(flag_values):
        _run(flag_values)


def _run(flag_values: absl_flags.FlagValues) -> None:
    import tensorflow as tf

    from estimator_train.cli.errors import UsageError
    from estimator_train.cli.job import data_contents, data_speed
    from estimator_train.cli.job.job import Job

    job = Job(flag_values, needs_model=False)
    dataset = job.call_input_fn(flag_values.mode)
    if not isinstance(dataset, tf.data.Dataset):
        raise UsageError(
            f"--input_fn={flag_values.input_fn} returned {type(dataset).__name__}, expected a "
            "tf.data.Dataset."
        )
    contents = data_contents.read_batches(dataset, flag_values.data_batches)
    print(data_contents.format_contents(contents))
    if flag_values.input:
        print(data_contents.propose_columns(contents))
    if flag_values.contact_sheet:
        count = data_contents.write_contact_sheet(contents, flag_values.contact_sheet)
        print(f"\nwrote {count} pictures to {os.path.abspath(flag_values.contact_sheet)}")
    if flag_values.measure_secs:
        stages = data_speed.measure(dataset, flag_values.measure_secs)
        print("\n" + data_speed.format_stages(stages))
