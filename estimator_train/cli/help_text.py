"""What `--help` prints."""

import textwrap
from collections.abc import Callable, Iterator
from typing import Any

from absl import flags as absl_flags

from estimator_train.cli.registry import COMMANDS, Command, Module

_WIDTH = 96
_EXAMPLES = """\
examples:
  estimator-train train --preset digits
  estimator-train train --preset oct --data_dir=scans --image_size=128 --model_dir=runs/scans
  estimator-train train --model=my.package:model --input_fn=my.package:input_fn --train_epochs=3
  estimator-train train --preset digits --eval --epochs_between_evals=5 --exporters=best
  estimator-train evaluate --preset digits
  estimator-train predict --preset digits --format=csv --output=predictions.csv

`estimator-train COMMAND --help` lists the flags of a command; `estimator-train --version` says
which versions of this package, TensorFlow, tf-keras and Python are installed."""


def overview() -> str:
    """Returns the help of `estimator-train` itself."""
    commands = "\n".join(f"  {command.name:<12}{command.summary}" for command in COMMANDS)
    return (
        f"usage: estimator-train COMMAND [--flag=value ...]\n\ncommands:\n{commands}\n\n{_EXAMPLES}"
    )


def of_command(command: Command, module: Module) -> str:
    """Returns the help of one command: what it does, and its flags group by group."""
    groups = "\n\n".join(
        "\n".join(line for flag in _of_group(define) for line in _lines(flag))
        for define in module.FLAGS
    )
    arguments = f"{command.arguments} " if command.arguments else ""
    return (
        f"usage: estimator-train {command.name} {arguments}[--flag=value ...]\n\n"
        f"{module.DESCRIPTION.strip()}\n\n"
        f"{groups}\n\n"
        "  --flagfile=FILE  Read flags from a file, one a line; # starts a comment.\n"
        "  --debug  Show tracebacks, and all that TensorFlow and the estimator log."
    )


def flags_of(module: Module) -> Iterator[Any]:
    """Yields the flags of a command, each once."""
    for define in module.FLAGS:
        yield from _of_group(define)


def _of_group(define: Callable[[absl_flags.FlagValues], None]) -> Iterator[Any]:
    group = absl_flags.FlagValues()
    define(group)
    for name in group:
        if group[name].name == name:  # Else it is a short name.
            yield group[name]


def _lines(flag: Any) -> list[str]:
    names = f"--{flag.name}" + (f", -{flag.short_name}" if flag.short_name else "")
    default = "" if flag.default in (None, False, []) else f" (default: {flag.default})"
    return textwrap.wrap(
        f"{names}  {flag.help}{default}",
        _WIDTH,
        initial_indent="  ",
        subsequent_indent="      ",
        break_on_hyphens=False,
    )
