"""`estimator-train doctor`: what would keep a job from running here, to paste into an issue."""

import contextlib

from absl import flags as absl_flags

from estimator_train.cli.job.own_packages import Group

DESCRIPTION = """
Prints versions, devices, the limit on CPUs, the variables that matter, and whether TensorFlow
computes, --model_dir can be written and ports for `launch` are free; then each problem in one line.
The exit code is 1 if there are any. Paste its output into an issue.
"""


def _define_model_dir(flag_values: absl_flags.FlagValues) -> None:
    Group(flag_values).string(
        "model_dir",
        None,
        "Where the job would write; by default the working directory.",
        short_name="md",
    )


FLAGS = (_define_model_dir,)


def run(flag_values: absl_flags.FlagValues) -> int:
    """Prints the report.

    Args:
      flag_values: The parsed flags.

    Returns:
      The exit code.
    """
    from estimator_train.cli.inspect import machine
    from estimator_train.cli.output import logs, results

    with contextlib.suppress(ImportError):  # The report says so.
        logs.set_up(flag_values.debug)
    found = machine.look(flag_values.model_dir)
    print(results.table({name: one.text for name, one in found.items()}))
    problems = [one.problem for one in found.values() if one.problem]
    for problem in problems:
        print(f"problem: {problem}")
    if not problems:
        print("Nothing was found that would keep a job from running.")
    return 1 if problems else 0
