"""`estimator-train completion`: prints a script that completes commands and flags in a shell."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from absl import flags as absl_flags

from estimator_train.cli import main
from estimator_train.cli.errors import PROGRAM, UsageError
from estimator_train.cli.main import COMMANDS, Command

DESCRIPTION = """
Prints a script for a shell, which completes commands, flags, and the values of flags that allow
only a few. Put `source <(estimator-train completion bash)` into ~/.bashrc, or
`source <(estimator-train completion zsh)` into ~/.zshrc, after `compinit`.
"""
FLAGS: tuple[Callable[[absl_flags.FlagValues], None], ...] = ()
_FUNCTION = "_estimator_train"


class _Option(NamedTuple):
    """A flag to complete.

    Attributes:
      name: Name of the flag with its dashes.
      description: Help text of the flag.
      takes_value: Whether the flag has a value.
      values: The allowed values, if there are only a few.
    """

    name: str
    description: str = ""
    takes_value: bool = False
    values: Sequence[str] = ()


def run(flag_values: absl_flags.FlagValues, shells: Sequence[str]) -> None:
    """Prints the script.

    Args:
      flag_values: The parsed flags, which have no effect.
      shells: The name of the shell.

    Raises:
      UsageError: `shells` is not one of the supported shells.
    """
    scripts = {"bash": _make_bash_script, "zsh": _make_zsh_script}
    if len(shells) != 1 or shells[0] not in scripts:
        raise UsageError(f"completion needs one of {', '.join(scripts)}, got '{' '.join(shells)}'.")
    print(scripts[shells[0]]())


def _list_options(command: Command) -> Iterator[_Option]:
    yield _Option("--help", "show the flags of the command")
    module: Any = command.load()
    if command.parses_itself:
        for switch in module.SWITCHES:
            yield _Option(switch.rstrip("="), takes_value=switch.endswith("="))
        return
    yield _Option("--debug", "show tracebacks")
    yield _Option("--flagfile", "read flags from a file", takes_value=True)
    for flag in main.list_flags(module):
        values = getattr(flag.parser, "enum_values", None) or ()
        yield _Option(f"--{flag.name}", flag.help, not flag.boolean, values)


def _make_bash_script() -> str:
    names = " ".join(command.name for command in COMMANDS)
    options = {command.name: list(_list_options(command)) for command in COMMANDS}
    words = "\n".join(
        f"    {name}) words='{' '.join(o.name + '=' * o.takes_value for o in of_command)}' ;;"
        for name, of_command in options.items()
    )
    values = "\n".join(
        f"    {name}--{option.name[2:]}) words='{' '.join(option.values)}' ;;"
        for name, of_command in options.items()
        for option in of_command
        if option.values
    )
    return f"""\
{_FUNCTION}() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} words=
  # Bash makes = a separate word.
  if [[ $word == = ]]; then word=; elif [[ $before == = ]]; then
    before=${{COMP_WORDS[COMP_CWORD-2]}}
  fi
  case ${{COMP_WORDS[1]}}$before in
{values}
  esac
  if ((COMP_CWORD == 1)); then words='{names} --help --version'; fi
  if [[ $word == -* ]] && ((COMP_CWORD > 1)); then case ${{COMP_WORDS[1]}} in
{words}
  esac; fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  if [[ ${{COMPREPLY[0]}} == *= ]]; then compopt -o nospace; fi
}}
complete -o default -F {_FUNCTION} {PROGRAM}"""


def _make_zsh_script() -> str:
    names = " ".join(_quote(f"{c.name}:{c.summary}") for c in COMMANDS)
    cases = "\n".join(
        f"    {command.name}) _arguments "
        + " ".join(_format_zsh_argument(option) for option in _list_options(command))
        + " '*:file:_files' ;;"
        for command in COMMANDS
    )
    return f"""\
{_FUNCTION}() {{
  if ((CURRENT == 2)); then
    local -a found=({names})
    _describe command found
    return
  fi
  shift words
  ((CURRENT--))
  case $words[1] in
{cases}
  esac
}}
compdef {_FUNCTION} {PROGRAM}"""


def _format_zsh_argument(option: _Option) -> str:
    """Formats a flag for the function `_arguments` of zsh."""
    description = option.description.split(". ")[0]
    for special in "\\[]:":
        description = description.replace(special, f"\\{special}")
    values = f"({' '.join(option.values)})" if option.values else "_files"
    value = f":value:{values}" if option.takes_value else ""
    return _quote(f"{option.name}{'=' * option.takes_value}[{description}]{value}")


def _quote(text: str) -> str:
    """Puts text between single quotes for a shell."""
    return "'" + text.replace("'", "'\\''") + "'"
