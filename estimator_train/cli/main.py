"""Entry point of `estimator-train`: finds the command, parses its flags, runs it."""

import difflib
import os
import sys
from collections.abc import Sequence
from typing import Any

from absl import flags as absl_flags

from estimator_train.cli import help_text
from estimator_train.cli.job.own_packages import Group, flags
from estimator_train.cli.output import errors, logs
from estimator_train.cli.registry import COMMANDS, Command

_HELP = {"--help", "-help", "-h", "--helpfull", "--helpshort"}
_VERSION = {"--version", "-version", "-V"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command.

    Args:
      arguments: The command and its flags; by default the arguments of this process.

    Returns:
      The exit code: 0 for success; 1 for an unexpected error; 2 for bad input; 130 if interrupted.
    """
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if any(c.parses_itself and c.name in arguments[:1] for c in COMMANDS):
            module: Any = _find_command(arguments).load()
            return module.main(arguments[1:])
        code = _run(*_split(arguments))
        sys.stdout.flush()
    except (Exception, KeyboardInterrupt) as error:
        return errors.report_error(error, debug="--debug" in arguments)
    return code or 0


def _split(arguments: list[str]) -> tuple[list[str], list[str] | None]:
    """Returns the arguments of the command, and those after "--", or None without a "--"."""
    if "--" not in arguments:
        return arguments, None
    end = arguments.index("--")
    return arguments[:end], arguments[end + 1 :]


def _run(arguments: list[str], program: list[str] | None) -> int | None:
    if arguments and arguments[0] in _HELP:
        print(help_text.format_overview())
        return 0
    if arguments and arguments[0] in _VERSION:
        print(help_text.format_versions())
        return 0
    command = _find_command(arguments)
    module = command.load()
    flag_values = absl_flags.FlagValues()
    Group(flag_values).boolean(
        "debug", False, "Show tracebacks and all log messages of TensorFlow and the estimator."
    )
    for define in module.FLAGS:
        define(flag_values)
    if _HELP.intersection(arguments):
        print(help_text.format_command(command, module))
        return 0
    positional = flags.parse_with_preset(arguments, flag_values)
    positional += ["--"] if program is not None and not command.takes_program else []
    if positional[1:] and not command.arguments:
        raise errors.UsageError(
            f"unexpected argument '{positional[1]}': {command.name} takes only flags, such as "
            f"--model_dir=DIR."
        )
    logs.configure(flag_values.debug, command.loads_tensorflow)
    # Python searches the directory of a script first; users expect this of the working directory.
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    groups = [positional[1:]] if command.arguments else []
    groups += [program or []] if command.takes_program else []
    return module.run(flag_values, *groups)


def _find_command(arguments: list[str]) -> Command:
    names = [command.name for command in COMMANDS]
    if not arguments:
        raise errors.UsageError(
            f"a command is needed: one of {', '.join(names)}. --help describes them."
        )
    for command in COMMANDS:
        if command.name == arguments[0]:
            return command
    close = difflib.get_close_matches(arguments[0], names, n=1)
    hint = f"Did you mean {close[0]}?" if close else f"The commands are {', '.join(names)}."
    raise errors.UsageError(f"unknown command '{arguments[0]}'. {hint}")
