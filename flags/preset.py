"""Presets: flagfiles that come with the package, chosen by name."""

from collections.abc import Sequence
from pathlib import Path

from absl import flags

from flags.group import Group

flags.disclaim_key_flags()

_FOLDER = Path(__file__).parent / "presets"


def preset_names() -> list[str]:
    """Returns the presets there are, in alphabetical order."""
    return sorted(path.stem for path in _FOLDER.glob("*.flags"))


def define_preset_flag(flag_values: flags.FlagValues = flags.FLAGS) -> None:
    """Defines --preset.

    Args:
      flag_values: Where to define it.
    """
    Group(flag_values).enum(
        "preset",
        None,
        preset_names(),
        "A job that comes with the package; any other flag overrides what it says.",
    )


def parse_with_preset(
    argv: Sequence[str], flag_values: flags.FlagValues = flags.FLAGS
) -> list[str]:
    """Parses flags, those of a --preset first, so that every flag that is given overrides them.

    Args:
      argv: The program's name and its arguments; --flagfile among them is followed.
      flag_values: Where the flags, --preset among them, are defined; the values go there.

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
