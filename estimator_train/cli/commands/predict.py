"""`estimator-train predict`: writes one line for each prediction."""

import contextlib
import sys

from absl import flags as absl_flags

from estimator_train.cli import common
from estimator_train.cli.job.own_packages import Group
from estimator_train.cli.output import results
from estimator_train.cli.output.whole_files import open_atomically

DESCRIPTION = """
Writes the predictions of the model in --model_dir for the prediction data (the data of the input_fn
for mode 'infer'), one line for each example, in order. Use the --preset, or the --model and
--input_fn, of the training.
"""


def _define_output_flags(flag_values: absl_flags.FlagValues) -> None:
    define = Group(flag_values)
    define.string("output", None, "File to write. The default is the standard output.")
    define.enum(
        "format",
        "json",
        list(results.LINE_FORMATS),
        "json: one object per line; csv: a header, then a column for each number.",
    )
    define.list("predict_keys", [], "Names of the predictions to write. The default is all.")


FLAGS = (_define_output_flags, *common.JOB_FLAGS, common.define_checkpoint_path)


def run(flag_values: absl_flags.FlagValues) -> None:
    """Predicts with the model of the flags.

    Args:
      flag_values: The parsed flags.

    Raises:
      UsageError: A flag is missing or wrong, or there is no checkpoint.
    """
    from estimator_train import ModeKeys
    from estimator_train.cli.job.job import Job

    job = Job(flag_values)
    predictions = job.get_trained_estimator().predict(
        job.make_input_fn(ModeKeys.PREDICT),
        predict_keys=flag_values.predict_keys or None,
        checkpoint_path=flag_values.checkpoint_path,
    )
    path = flag_values.output
    with open_atomically(path) if path else contextlib.nullcontext(sys.stdout) as output:
        for line in results.LINE_FORMATS[flag_values.format](predictions):
            output.write(line + "\n")
