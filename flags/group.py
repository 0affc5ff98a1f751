"""How flags are defined in one `FlagValues`, parsed, and read from presets."""

import math
import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from absl import flags

# The --help of a script then lists the flags with those of the script.
flags.disclaim_key_flags()

_MAX_INT64 = 2**63 - 1
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_FOLDER = Path(__file__).parent / "presets"


class Group:
    """absl's `DEFINE` and `DEFINE_*` with a fixed `flag_values` argument.

    Args:
      flag_values: Target of the definitions.
    """

    def __init__(self, flag_values: flags.FlagValues) -> None:
        self.boolean = partial(flags.DEFINE_boolean, flag_values=flag_values)
        self.enum = partial(flags.DEFINE_enum, flag_values=flag_values)
        self.float = partial(self._define_number, FiniteFloatParser)
        self.integer = partial(self._define_number, Int64Parser)
        self.list = partial(flags.DEFINE_list, flag_values=flag_values)
        self.parsed = partial(flags.DEFINE, flag_values=flag_values)
        self.string = partial(flags.DEFINE_string, flag_values=flag_values)

    def _define_number(
        self,
        parser: type[flags.ArgumentParser],
        name: str,
        default: float | None,
        text: str,
        *,
        lower_bound: float | None = None,
        upper_bound: float | None = None,
        short_name: str | None = None,
    ) -> None:
        """Defines a flag as `DEFINE_float` and `DEFINE_integer` do, with another parser."""
        self.parsed(parser(lower_bound, upper_bound), name, default, text, short_name=short_name)


class FiniteFloatParser(flags.FloatParser):
    """Parser of numbers that refuses NaN, which passes all bounds, and infinity."""

    def convert(self, argument: float | str) -> float:
        """Returns the number.

        Args:
          argument: The text, or the parsed number.

        Raises:
          ValueError: The text is not a number, or the number is not finite.
        """
        number = super().convert(argument)
        if not math.isfinite(number):
            raise ValueError(f"{number} is not a finite number")
        return number


class Int64Parser(flags.IntegerParser):
    """Parser of integers that TensorFlow can hold in 64 bits."""

    def convert(self, argument: int | str) -> int:
        """Returns the integer.

        Args:
          argument: The text, or the parsed integer.

        Raises:
          ValueError: The text is not an integer, or the integer is too large.
        """
        number = super().convert(argument)
        if abs(number) > _MAX_INT64:
            raise ValueError(f"{number} is too large: the limit is {_MAX_INT64}")
        return number


class DurationParser(flags.ArgumentParser):
    """Parser of `90m`, `2h`, `1d`, `45s` or plain seconds to seconds."""

    syntactic_help = "a time, such as 90m, 2h or 600 (seconds)"

    def parse(self, argument: str | float) -> float:
        """Returns the seconds.

        Args:
          argument: The text, or the parsed seconds.

        Raises:
          ValueError: The text is not a time, or not positive.
        """
        match = re.fullmatch(r"(\d+\.?\d*|\.\d+)([smhd]?)", str(argument))
        seconds = float(match[1]) * _SECONDS[match[2]] if match else 0.0
        if seconds <= 0:
            raise ValueError(f"must be {self.syntactic_help}, and positive")
        return seconds

    def flag_type(self) -> str:
        """Returns the type that absl's help shows."""
        return "time"


class KeepBestParser(flags.ArgumentParser):
    """Parser of `METRIC:min:N` or `METRIC:max:N` to (metric, "min" or "max", N)."""

    syntactic_help = "METRIC:min:N or METRIC:max:N, such as accuracy:max:3"

    def parse(self, argument: str | tuple[str, str, int]) -> tuple[str, str, int]:
        """Returns the metric, "min" or "max", and the number.

        Args:
          argument: The text, or the parsed tuple.

        Raises:
          ValueError: The text has another form, or N is 0.
        """
        if isinstance(argument, tuple):
            return argument
        match = re.fullmatch(r"(.+):(min|max):0*([1-9]\d*)", argument)
        if not match:
            raise ValueError(f"must be {self.syntactic_help}")
        return match[1], match[2], int(match[3])

    def flag_type(self) -> str:
        """Returns the type that absl's help shows."""
        return "metric:mode:number"


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
    try:
        return flag_values(argv)
    except flags.UnrecognizedFlagError as error:
        # absl suggests names of a similar length, which `label` and `input_label` do not have.
        given = error.flagname
        longer = [name for name in flag_values if name == f"{given}s" or name.endswith(f"_{given}")]
        if not longer:
            raise
        raise flags.UnrecognizedFlagError(given, error.flagvalue, longer) from None
