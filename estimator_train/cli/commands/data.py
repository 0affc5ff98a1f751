"""`estimator-train data`: what an input_fn delivers, and how fast."""

import os

from absl import flags as absl_flags

from estimator_train.cli import common
from estimator_train.cli.job.own_packages import Group

DESCRIPTION = """
Shows what an input_fn delivers: structure, shapes, dtypes, values, how many examples each class
has, and, with --contact_sheet=FILE, the first pictures in one PNG file. Then measures how many
examples a second come out of it, stage by stage, and says which stage holds it back and what to
change. Needs --input_fn or --preset; no model is built.
"""


def _define_data_flags(flag_values: absl_flags.FlagValues) -> None:
    define = Group(flag_values)
    define.enum("mode", "train", ["train", "eval", "infer"], "What the input_fn is called for.")
    define.integer("data_batches", 20, "Batches to look at for values and classes.", lower_bound=1)
    define.float(
        "measure_secs", 2.0, "Seconds to measure each stage; 0 measures nothing.", lower_bound=0.0
    )
    define.string("contact_sheet", None, "PNG file to write the first pictures to.")


FLAGS = (*common.JOB_FLAGS, _define_data_flags)


def run(flag_values: absl_flags.FlagValues) -> None:
    """Looks at the input as the flags say.

    Args:
      flag_values: The parsed flags.

    Raises:
      UsageError: A flag is missing or wrong, the input_fn returns no Dataset, or delivers nothing.
    """
    import tensorflow as tf

    from estimator_train.cli.inspect import data_contents, data_speed
    from estimator_train.cli.job.job import Job
    from estimator_train.cli.output.errors import UsageError

    job = Job(flag_values, needs_model=False)
    dataset = job.call_input_fn(flag_values.mode)
    if not isinstance(dataset, tf.data.Dataset):
        raise UsageError(
            f"--input_fn={flag_values.input_fn} returned {type(dataset).__name__}: only a "
            "tf.data.Dataset can be looked at."
        )
    contents = data_contents.look(dataset, flag_values.data_batches)
    print(data_contents.report(contents))
    if flag_values.contact_sheet:
        count = data_contents.write_contact_sheet(contents, flag_values.contact_sheet)
        print(f"\n{count} pictures in {os.path.abspath(flag_values.contact_sheet)}")
    if flag_values.measure_secs:
        stages = data_speed.measure(dataset, flag_values.measure_secs)
        print("\n" + data_speed.report(stages))
