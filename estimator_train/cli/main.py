"""The entry point of `estimator-train`: finds the command, parses its flags, runs it."""

import difflib
import os
import sys
from collections.abc import Sequence
from typing import Any

from absl import flags as absl_flags

from estimator_train.cli import help_text
from estimator_train.cli.job.own_packages import Group, flags
from estimator_train.cli.output import errors, logs, versions
from estimator_train.cli.registry import COMMANDS, Command

_HELP = {"--help", "-help", "-h", "--helpfull", "--helpshort"}
_VERSION = {"--version", "-version", "-V"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command.

    Args:
      arguments: The command and its flags; by default those this process was started with.

    Returns:
      The exit code: 0; 1 for an error that is not the user's; 2 for bad input; 130 if interrupted.
    """
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if any(c.parses_itself and c.name in arguments[:1] for c in COMMANDS):
            module: Any = _find(arguments).load()
            return module.main(arguments[1:])
        code = _run(*_split(arguments))
        sys.stdout.flush()
    except (Exception, KeyboardInterrupt) as error:
        return errors.report(error, debug="--debug" in arguments)
    return code or 0


def _split(arguments: list[str]) -> tuple[list[str], list[str] | None]:
    """The command's own arguments, and those after "--" if there is one."""
    if "--" not in arguments:
        return arguments, None
    end = arguments.index("--")
    return arguments[:end], arguments[end + 1 :]


def _run(arguments: list[str], program: list[str] | None) -> int | None:
    if arguments and arguments[0] in _HELP:
        print(help_text.overview())
        return 0
    if arguments and arguments[0] in _VERSION:
        print(versions.report())
        return 0
    command = _find(arguments)
    module = command.load()
    flag_values = absl_flags.FlagValues()
    Group(flag_values).boolean(
        "debug", False, "Show tracebacks, and all that TensorFlow and the estimator log."
    )
    for define in module.FLAGS:
        define(flag_values)
    if _HELP.intersection(arguments):
        print(help_text.of_command(command, module))
        return 0
    rest = flags.parse_with_preset(arguments, flag_values)
    rest += ["--"] if program is not None and not command.takes_program else []
    if rest[1:] and not command.arguments:
        raise errors.UsageError(
            f"unexpected argument '{rest[1]}': {command.name} takes flags only, such as "
            f"--model_dir=DIR."
        )
    logs.set_up(flag_values.debug, command.loads_tensorflow)
    # A script's own directory is where Python looks first; for a command it is the user's.
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    if command.arguments:
        return module.run(flag_values, rest[1:])
    return module.run(flag_values, *([program or []] if command.takes_program else []))


def _find(arguments: list[str]) -> Command:
    names = [command.name for command in COMMANDS]
    if not arguments:
        raise errors.UsageError(f"which command? One of {', '.join(names)}; or --help.")
    for command in COMMANDS:
        if command.name == arguments[0]:
            return command
    close = difflib.get_close_matches(arguments[0], names, n=1)
    hint = f"Did you mean {close[0]}?" if close else f"There are {', '.join(names)}."
    raise errors.UsageError(f"unknown command '{arguments[0]}'. {hint}")
