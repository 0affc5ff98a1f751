"""Entry point of `estimator-train`: the table of commands, their help, and the run of one.

A new command needs a module in `commands/`, or a class in one of them, and a line here.
"""

import difflib
import importlib
import os
import platform
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

from absl import flags as absl_flags

import estimator_train
from estimator_train.bootstrap import start_up
from estimator_train.cli import errors
from estimator_train.cli.job.user_code import Group, flags

_WIDTH = 96
_EXAMPLES = """\
examples:
  estimator-train train --preset digits
  estimator-train train --preset oct --data_dir=scans --image_size=128 --model_dir=runs/scans
  estimator-train train --model=my.package:model --input_fn=my.package:input_fn --train_epochs=3
  estimator-train train --preset digits --eval --epochs_between_evals=5 --exporters=best
  estimator-train evaluate --preset digits
  estimator-train predict --preset digits --format=csv --output=predictions.csv

`estimator-train COMMAND --help` lists the flags of a command. `estimator-train --version` prints
the versions of this package, TensorFlow, tf-keras and Python."""
_HELP = {"--help", "-help", "-h", "--helpfull", "--helpshort"}
_VERSION = {"--version", "-version", "-V"}


class CommandModule(Protocol):
    """Interface of a command: a module, or a class in a module of several commands.

    The module must not import TensorFlow before `run` is called.
    """

    DESCRIPTION: str
    FLAGS: Sequence[Callable[[absl_flags.FlagValues], None]]

    def run(self, flag_values: absl_flags.FlagValues, *arguments: Sequence[str]) -> int | None:
        """Runs the command.

        Args:
          flag_values: The parsed flags.
          *arguments: The arguments after the flags, if the command takes any.

        Returns:
          The exit code; None for 0.
        """


@dataclass(frozen=True)
class Command:
    """Description of a command.

    Attributes:
      name: Name of the command.
      summary: One line for `--help`.
      takes_program: Whether a program and its arguments follow "--".
      arguments: Positional arguments in the words of `--help`; "" if there are none.
      parses_itself: Whether it has, instead of `run` and FLAGS, a function `main` that takes the
        arguments, and SWITCHES for the completion in shells.
      loads_tensorflow: Whether to load TensorFlow before the command runs, without its messages.
      module: Its module, if that has another name.
    """

    name: str
    summary: str
    takes_program: bool = False
    arguments: str = ""
    parses_itself: bool = False
    loads_tensorflow: bool = True
    module: str = ""

    def load(self) -> CommandModule:
        """Imports the module of the command, and returns it or its class of the command's name."""
        module = importlib.import_module(f"estimator_train.cli.commands.{self.module or self.name}")
        return cast(CommandModule, getattr(module, self.name.title().replace("-", ""), module))


COMMANDS = (
    Command("train", "train, evaluate and export a model"),
    Command("evaluate", "print the metrics of a checkpoint", module="train"),
    Command("predict", "write one line for each prediction"),
    Command(
        "export",
        "write a checkpoint as a SavedModel or for other runtimes",
        arguments="[MODEL_DIR]",
    ),
    Command(
        "to-keras",
        "convert a trained model to a Keras model file",
        arguments="MODEL_DIR",
        module="export",
    ),
    Command(
        "convert-trees",
        "convert a SavedModel of boosted trees of tf.estimator",
        arguments="OLD_DIR NEW_DIR",
        module="export",
    ),
    Command(
        "run",
        "run an unchanged script that uses old TensorFlow APIs",
        parses_itself=True,
        module="old_programs",
    ),
    Command(
        "install-shim",
        "show tf.estimator to all programs of an environment",
        loads_tensorflow=False,
        module="old_programs",
    ),
    Command("data", "show the examples of an input_fn and measure its speed"),
    Command(
        "check",
        "report which parts of a codebase run here",
        parses_itself=True,
        module="old_programs",
    ),
    Command(
        "launch",
        "run a program as a cluster on this machine",
        takes_program=True,
        loads_tensorflow=False,
    ),
    Command(
        "manifest",
        "print the description of a cluster job for Kubernetes or Slurm",
        takes_program=True,
        loads_tensorflow=False,
        module="launch",
    ),
    Command(
        "task",
        "run a program as one task of a cluster of pods",
        takes_program=True,
        loads_tensorflow=False,
        module="launch",
    ),
    Command(
        "report",
        "plot the history of one or more trainings",
        arguments="MODEL_DIR...",
        module="train",
    ),
    Command(
        "validate",
        "compare a training with tf.estimator and one with this package",
        takes_program=True,
        arguments="OLD_MODEL_DIR NEW_MODEL_DIR",
    ),
    Command("doctor", "report problems that keep jobs from running here", loads_tensorflow=False),
    Command(
        "completion",
        "print a script that completes commands and flags in a shell",
        arguments="bash|zsh",
        loads_tensorflow=False,
    ),
)


def format_versions() -> str:
    """Returns the text of `--version`: one line for each version that a bug report needs."""
    return (
        f"estimator-train {estimator_train.__version__}\n"
        f"TensorFlow {start_up.find_version('tensorflow') or 'is not installed'}\n"
        f"tf-keras {start_up.find_version('tf-keras') or 'is not installed'}\n"
        f"Python {platform.python_version()}"
    )


def format_overview() -> str:
    """Returns the help of `estimator-train` itself."""
    width = max(len(command.name) for command in COMMANDS)
    commands = "\n".join(f"  {command.name:<{width}}  {command.summary}" for command in COMMANDS)
    return (
        f"usage: estimator-train COMMAND [--flag=value ...]\n\ncommands:\n{commands}\n\n{_EXAMPLES}"
    )


def format_command(command: Command, module: CommandModule) -> str:
    """Returns the help of a command: its description and its groups of flags."""
    groups = "\n\n".join(
        "\n".join(line for flag in _list_group(define) for line in _format_flag(flag))
        for define in module.FLAGS
    )
    arguments = f"{command.arguments} " if command.arguments else ""
    return (
        f"usage: estimator-train {command.name} {arguments}[--flag=value ...]\n\n"
        f"{module.DESCRIPTION.strip()}\n\n"
        f"{groups}\n\n"
        "  --flagfile=FILE  Read flags from a file, one per line; # starts a comment.\n"
        "  --debug  Show tracebacks and all log messages of TensorFlow and the estimator."
    )


def list_flags(module: CommandModule) -> Iterator[absl_flags.Flag]:
    """Yields the flags of a command."""
    for define in module.FLAGS:
        yield from _list_group(define)


def _list_group(define: Callable[[absl_flags.FlagValues], None]) -> Iterator[absl_flags.Flag]:
    group = absl_flags.FlagValues()
    define(group)
    for name in group:
        if group[name].name == name:  # absl lists short names too.
            yield group[name]


def _format_flag(flag: absl_flags.Flag) -> list[str]:
    names = f"--{flag.name}" + (f", -{flag.short_name}" if flag.short_name else "")
    default = "" if flag.default in (None, False, []) else f" (default: {flag.default})"
    return textwrap.wrap(
        f"{names}  {flag.help}{default}",
        _WIDTH,
        initial_indent="  ",
        subsequent_indent="      ",
        break_on_hyphens=False,
    )


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
        print(format_overview())
        return 0
    if arguments and arguments[0] in _VERSION:
        print(format_versions())
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
        print(format_command(command, module))
        return 0
    positional = flags.parse_with_preset(arguments, flag_values)
    positional += ["--"] if program is not None and not command.takes_program else []
    if positional[1:] and not command.arguments:
        advice = f"{command.name} takes only flags, which --help lists"
        if command.takes_program:
            advice = f"a program comes after --, as in: {command.name} -- {positional[1]}"
        elif "model_dir" in flag_values:
            advice = f"{command.name} takes only flags, such as --model_dir=DIR"
        raise errors.UsageError(f"unexpected argument '{positional[1]}': {advice}.")
    errors.configure(flag_values.debug, command.loads_tensorflow)
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
