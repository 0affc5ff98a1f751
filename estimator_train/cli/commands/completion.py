"""`estimator-train completion`: what completes commands and flags in a shell."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from absl import flags as absl_flags

from estimator_train.cli import help_text
from estimator_train.cli.output.errors import PROGRAM, UsageError
from estimator_train.cli.registry import COMMANDS, Command

DESCRIPTION = """
Prints a script with which a shell completes commands, flags and values, where there are a few:
`source <(estimator-train completion bash)` in ~/.bashrc, or
`source <(estimator-train completion zsh)` behind `compinit` in ~/.zshrc.
"""
FLAGS: tuple[Callable[[absl_flags.FlagValues], None], ...] = ()
_FUNCTION = "_estimator_train"


class _Option(NamedTuple):
    """A flag: its name with dashes, what it means, if it has a value, and which there are."""

    name: str
    meaning: str = ""
    takes_value: bool = False
    values: Sequence[str] = ()


def run(flag_values: absl_flags.FlagValues, shells: Sequence[str]) -> None:
    """Prints the script.

    Args:
      flag_values: No flag is looked at.
      shells: The shell.

    Raises:
      UsageError: There is not one shell, or none that is known.
    """
    scripts = {"bash": _bash, "zsh": _zsh}
    if len(shells) != 1 or shells[0] not in scripts:
        raise UsageError(f"completion needs one of {', '.join(scripts)}, got '{' '.join(shells)}'.")
    print(scripts[shells[0]]())


def _options(command: Command) -> Iterator[_Option]:
    yield _Option("--help", "show its flags")
    module: Any = command.load()
    if command.parses_itself:
        for switch in module.SWITCHES:
            yield _Option(switch.rstrip("="), takes_value=switch.endswith("="))
        return
    yield _Option("--debug", "show tracebacks")
    yield _Option("--flagfile", "read flags from a file", takes_value=True)
    for flag in help_text.flags_of(module):
        values = getattr(flag.parser, "enum_values", None) or ()
        yield _Option(f"--{flag.name}", flag.help, not flag.boolean, values)


def _bash() -> str:
    names = " ".join(command.name for command in COMMANDS)
    options = {command.name: list(_options(command)) for command in COMMANDS}
    words = "\n".join(
        f"    {name}) words='{' '.join(o.name + '=' * o.takes_value for o in found)}' ;;"
        for name, found in options.items()
    )
    values = "\n".join(
        f"    {name}--{option.name[2:]}) words='{' '.join(option.values)}' ;;"
        for name, found in options.items()
        for option in found
        if option.values
    )
    return f"""\
{_FUNCTION}() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} words=
  # Bash takes = for a word of its own.
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


def _zsh() -> str:
    names = " ".join(_quoted(f"{c.name}:{c.summary}") for c in COMMANDS)
    cases = "\n".join(
        f"    {command.name}) _arguments "
        + " ".join(_argument(option) for option in _options(command))
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


def _argument(option: _Option) -> str:
    """A flag as `_arguments` of zsh takes it."""
    meaning = option.meaning.split(". ")[0]
    for special in "\\[]:":
        meaning = meaning.replace(special, f"\\{special}")
    values = f"({' '.join(option.values)})" if option.values else "_files"
    value = f":value:{values}" if option.takes_value else ""
    return _quoted(f"{option.name}{'=' * option.takes_value}[{meaning}]{value}")


def _quoted(text: str) -> str:
    """Text between the single quotes of a shell."""
    return "'" + text.replace("'", "'\\''") + "'"
