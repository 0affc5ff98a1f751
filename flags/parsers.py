"""Parsers of flag values: times and best metrics."""

import re

from absl import flags

_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}


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
