"""`estimator-train doctor`: reports problems that keep jobs from running here."""

import contextlib

from absl import flags as absl_flags

from estimator_train.cli.job.own_packages import Group

DESCRIPTION = """
Prints versions, devices, the CPU limit and relevant environment variables. Checks that TensorFlow
can compute, that --model_dir is writable and that ports for `launch` are free. Then prints one line
for each problem; the exit code is 1 if there is a problem. Paste the output into your bug report.
"""


def _define_model_dir(flag_values: absl_flags.FlagValues) -> None:
    Group(flag_values).string(
        "model_dir",
        None,
        "Directory that the job would write to. The default is the working directory.",
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

    with contextlib.suppress(ImportError):  # The report names the missing package.
        logs.configure(flag_values.debug)
    findings = machine.inspect(flag_values.model_dir)
    print(results.format_table({name: finding.text for name, finding in findings.items()}))
    problems = [finding.problem for finding in findings.values() if finding.problem]
    for problem in problems:
        print(f"problem: {problem}")
    if not problems:
        print("No problems found.")
    return 1 if problems else 0
