"""`estimator-train launch`: the processes of a cluster, on this machine."""

import sys
from collections.abc import Sequence

from absl import flags as absl_flags

from estimator_train.cli import common
from estimator_train.cli.job.own_packages import Group
from estimator_train.cli.output.errors import UsageError

DESCRIPTION = """
Runs a program as a cluster on this machine: `estimator-train launch --workers=2 --ps=1 --evaluator
-- python train.py`. Each process gets a TF_CONFIG with its role and free ports of the loopback
interface, and its output is marked with its role and index. There is always a chief, who trains
too; --workers are those beside it.

A process that fails is restarted, --max_restarts times in all; without parameter servers all
processes that train restart with it. When the chief is done the others are ended, and the exit code
is the chief's. Signals are forwarded.
"""


def _define_launch(flag_values: absl_flags.FlagValues) -> None:
    define = Group(flag_values)
    common.define_roles(define)
    define.integer(
        "max_restarts",
        3,
        "Failures that are answered by a restart, in all; exit code 2, for bad input, never is.",
        lower_bound=0,
    )
    define.float(
        "grace_secs",
        30.0,
        "Seconds from SIGTERM to SIGKILL, and those that the others have to end by themselves "
        "when the chief has ended.",
        lower_bound=0,
    )
    define.float(
        "evaluator_secs",
        600.0,
        "Seconds that the evaluator has for its last evaluation.",
        lower_bound=0,
    )
    define.boolean(
        "private_network",
        False,
        "Run all in a network of their own, which none but they can reach and which reaches "
        "nothing else (Linux, where the system allows it).",
    )


FLAGS = (_define_launch,)


def run(flag_values: absl_flags.FlagValues, program: Sequence[str]) -> None:
    """Runs a program as a cluster, and ends with the chief's exit code.

    Args:
      flag_values: The parsed flags.
      program: The program and its arguments.

    Raises:
      UsageError: There is no program, or no network of its own for it.
      SystemExit: The program's end.
    """
    from estimator_train.launcher.launch import LocalJob, launch

    if not program:
        raise UsageError("what is to be launched? As in: launch --workers=2 -- python train.py")
    if flag_values["private_network"].value:
        _enter_private_network()
    names = ("workers", "ps", "evaluator", "max_restarts", "grace_secs", "evaluator_secs")
    settings = {name: flag_values[name].value for name in names}
    sys.exit(launch(LocalJob(program, **settings)))


def _enter_private_network() -> None:
    from estimator_train.launcher import private_network

    try:
        private_network.enter()
    except OSError as error:
        raise UsageError(
            f"--private_network: this system allows no network of its own ({error.strerror}). "
            "Leave the flag out, and see that nobody else can reach this machine's ports."
        ) from error
