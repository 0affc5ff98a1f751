"""`estimator-train report`: plots of how trainings went."""

from collections.abc import Sequence

from absl import flags as absl_flags

from estimator_train.cli.job.own_packages import Group
from estimator_train.cli.output import results
from estimator_train.cli.output.errors import UsageError

DESCRIPTION = """
Draws the loss, the throughput and the time of a step over the steps of one or more runs, and prints
a line for each run. Runs with different numbers of replicas get a chart of how they scale. It reads
history.jsonl in each MODEL_DIR, or its event files where there is none. Drawing needs matplotlib:
pip install 'estimator-train[report]'.
"""


def _define_output(flag_values: absl_flags.FlagValues) -> None:
    define = Group(flag_values)
    define.string(
        "output_dir",
        "report",
        "Directory of the PNG files, and of report.html, which has all of them in itself.",
    )
    define.list(
        "replicas",
        [],
        "How many replicas each run trained on, as 1,2,4 in the order of the runs; by default as "
        "its history says.",
    )


FLAGS = (_define_output,)


def run(flag_values: absl_flags.FlagValues, model_dirs: Sequence[str]) -> None:
    """Draws and prints what the flags say.

    Args:
      flag_values: The parsed flags.
      model_dirs: The runs.

    Raises:
      UsageError: There is no run, one has no figures, --replicas does not fit, or matplotlib is
        not installed.
    """
    if not model_dirs:
        raise UsageError("which runs? Name one or more model directories.")
    replicas = _replicas(flag_values.replicas, len(model_dirs))
    try:
        from estimator_train.report import report
    except ImportError as error:
        raise UsageError(
            f"report draws with matplotlib, which cannot be loaded ({error}): "
            "pip install 'estimator-train[report]'."
        ) from error
    found = report(*model_dirs, replicas=replicas)
    print(results.table({**found.rows, **found.write(flag_values.output_dir)}))


def _replicas(values: Sequence[str], runs: int) -> list[int]:
    if not values:
        return []
    if not all(value.isdigit() and int(value) > 0 for value in values) or len(values) != runs:
        raise UsageError(
            f"--replicas={','.join(values)} should be {runs} positive numbers, one for each run."
        )
    return [int(value) for value in values]
