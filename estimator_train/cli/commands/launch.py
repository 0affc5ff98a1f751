"""`estimator-train launch`: runs a program as a cluster on this machine."""

import sys
from collections.abc import Sequence

from absl import flags as absl_flags

from estimator_train.cli.errors import UsageError
from estimator_train.cli.job import user_code
from estimator_train.cli.job.user_code import Group

DESCRIPTION = """
Runs a program as a cluster on this machine: `estimator-train launch --workers=2 --ps=1 --evaluator
-- python train.py`. Each process gets a TF_CONFIG with its role and with free ports of the loopback
interface. Each line of its output begins with its role and index. There is always a chief, which
also trains; --workers is the number of additional workers.

A process that fails is restarted, --max_restarts times in total, after a wait that grows each time.
Without parameter servers, all training processes restart together. Three failures at the same line,
without a new checkpoint in between, end the job. When the chief has exited, the other processes are
stopped, and the exit code is that of the chief. Signals are forwarded to all processes.

A standby process imports TensorFlow and the installed packages that the program imports. A failed
process is then replaced by a fork of it, which takes a fraction of a second. It does not import the
program's own modules. If a package must not be imported before the process has its role, use
--nostandby.
"""


def _define_launch(flag_values: absl_flags.FlagValues) -> None:
    define = Group(flag_values)
    user_code.define_roles(define)
    define.integer(
        "max_restarts",
        3,
        "Total number of restarts after failures. Exit code 2 (bad input) is final.",
        lower_bound=0,
    )
    define.float(
        "grace_secs",
        30.0,
        "Seconds between SIGTERM and SIGKILL, and seconds for the other processes to exit after "
        "the chief has exited.",
        lower_bound=0,
    )
    define.float(
        "evaluator_secs",
        600.0,
        "Seconds for the last evaluation of the evaluator.",
        lower_bound=0,
    )
    define.boolean(
        "standby",
        True,
        "Keep a process that has imported TensorFlow and the program's installed packages, and "
        "start failed tasks from it (Linux).",
    )
    define.boolean(
        "private_network",
        False,
        "Run all processes in a separate network without connections to other networks (Linux, if "
        "the system allows it).",
    )


FLAGS = (_define_launch,)


def run(flag_values: absl_flags.FlagValues, program: Sequence[str]) -> None:
    """Runs a program as a cluster, and exits with the exit code of the chief.

    Args:
      flag_values: The parsed flags.
      program: The program and its arguments.

    Raises:
      UsageError: There is no program, or the system does not allow a private network.
      SystemExit: The program has ended.
    """
    from estimator_train.launcher.launch import LocalJob, launch

    if not program:
        raise UsageError("a program is needed, such as: launch --workers=2 -- python train.py")
    if flag_values.private_network:
        _enter_private_network()
    sys.exit(launch(LocalJob(program, **user_code.read_fields(LocalJob, flag_values))))


def _enter_private_network() -> None:
    from estimator_train.launcher import network

    try:
        network.enter_private_network()
    except OSError as error:
        raise UsageError(
            f"--private_network: this system does not allow private networks ({error.strerror}). "
            "Omit the flag, and block the ports of this machine for other users."
        ) from error
