"""The texts that `--help` and `--version` print."""

import platform
import textwrap
from collections.abc import Callable, Iterator

from absl import flags as absl_flags

import estimator_train
from estimator_train.bootstrap import installed
from estimator_train.cli.registry import COMMANDS, Command, CommandModule

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


def format_versions() -> str:
    """Returns the text of `--version`: one line for each version that a bug report needs."""
    return (
        f"estimator-train {estimator_train.__version__}\n"
        f"TensorFlow {installed.find_version('tensorflow') or 'is not installed'}\n"
        f"tf-keras {installed.find_version('tf-keras') or 'is not installed'}\n"
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
