"""Presets: flagfiles of the package, selected by name."""

from collections.abc import Sequence
from pathlib import Path

from absl import flags

from flags.group import Group

flags.disclaim_key_flags()

_FOLDER = Path(__file__).parent / "presets"


def preset_names() -> list[str]:
    """Returns the names of the presets, in alphabetical order."""
    return sorted(path.stem for path in _FOLDER.glob("*.flags"))


def define_preset_flag(flag_values: flags.FlagValues = flags.FLAGS) -> None:
    """Defines --preset.

    Args:
      flag_values: Target of the definition.
    """
    Group(flag_values).enum(
        "preset",
        None,
        preset_names(),
        "A job of the package; every other flag overrides its values.",
    )


def parse_with_preset(
    argv: Sequence[str], flag_values: flags.FlagValues = flags.FLAGS
) -> list[str]:
    """Parses flags; the given flags override those of --preset.

    Args:
      argv: The name of the program and its arguments, which may contain --flagfile.
      flag_values: The defined flags, including --preset; it receives the values.

    Returns:
      The program's name and the arguments that are not flags.

    Raises:
      absl.flags.Error: A flag is unknown, or its value is wrong.
    """
    chosen = flags.FlagValues()
    define_preset_flag(chosen)
    chosen.set_gnu_getopt(True)
    chosen(argv, known_only=True)
    if chosen.preset:
        argv = [argv[0], f"--flagfile={_FOLDER / chosen.preset}.flags", *argv[1:]]
    return flag_values(argv)
