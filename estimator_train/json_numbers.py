"""Numbers that JSON does not have: NaN becomes null, and an infinity a string.

Python writes the words NaN and Infinity, which strict readers refuse. With null a column of numbers
stays one.
"""

import math
from typing import Any

_NUMBERS: dict[str | None, float] = {None: math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def replace_non_finite(value: Any) -> Any:
    """Returns a value of dicts, lists and Python numbers whose numbers are all valid in JSON.

    Args:
      value: The value; it is not changed.
    """
    if isinstance(value, dict):
        return {name: replace_non_finite(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [replace_non_finite(part) for part in value]
    if not isinstance(value, float) or math.isfinite(value):
        return value
    return None if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def restore_non_finite(value: Any) -> Any:
    """Returns numbers as they were before `replace_non_finite`.

    Args:
      value: A number or nested lists of numbers, as read from JSON; other values are returned.
    """
    if isinstance(value, list):
        return [restore_non_finite(part) for part in value]
    return _NUMBERS.get(value, value) if value is None or isinstance(value, str) else value
