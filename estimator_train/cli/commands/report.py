"""`estimator-train report`: plots the history of trainings."""

from collections.abc import Sequence

from absl import flags as absl_flags

from estimator_train.cli import results
from estimator_train.cli.errors import UsageError
from estimator_train.cli.job.user_code import Group

DESCRIPTION = """
Plots the loss, the throughput and the time of a step over the steps of one or more runs, and prints
one line for each run. For runs with different numbers of replicas it also plots the scaling. It
reads history.jsonl in each MODEL_DIR, or the event files if that file does not exist. The plots
need matplotlib: pip install matplotlib.
"""


def _define_output(flag_values: absl_flags.FlagValues) -> None:
    define = Group(flag_values)
    define.string(
        "output_dir",
        "report",
        "Directory for the PNG files and for report.html, which contains all plots.",
    )
    define.list(
        "replicas",
        [],
        "Number of replicas of each run, such as 1,2,4 for three runs. The default is the number "
        "in the history of the run.",
    )


FLAGS = (_define_output,)


def run(flag_values: absl_flags.FlagValues, model_dirs: Sequence[str]) -> None:
    """Writes the plots and prints a line for each run.

    Args:
      flag_values: The parsed flags.
      model_dirs: The model directories of the runs.

    Raises:
      UsageError: There is no run, a run has no history, --replicas has a wrong value, or
        matplotlib is not installed.
    """
    if not model_dirs:
        raise UsageError("one or more model directories are needed, such as: report runs/digits")
    replicas = _parse_replicas(flag_values.replicas, len(model_dirs))
    try:
        from estimator_train.report import report
    except ImportError as error:
        raise UsageError(
            f"report needs matplotlib, which cannot be imported ({error}): pip install matplotlib."
        ) from error
    plots = report(*model_dirs, replicas=replicas)
    print(results.format_table({**plots.rows, **plots.write(flag_values.output_dir)}))


def _parse_replicas(values: Sequence[str], runs: int) -> list[int]:
    if not values:
        return []
    if not all(value.isdigit() and int(value) > 0 for value in values) or len(values) != runs:
        raise UsageError(
            f"--replicas={','.join(values)} must be {runs} positive numbers, one for each run."
        )
    return [int(value) for value in values]
