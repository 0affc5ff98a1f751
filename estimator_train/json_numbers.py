"""Numbers that JSON does not have: NaN becomes null, and an infinity a string.

Python writes the words NaN and Infinity, which strict readers refuse. With null a column of numbers
stays one.
"""

import json
import math
from collections.abc import Callable
from typing import Any

_NUMBERS: dict[str | None, float] = {None: math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def write_json(
    value: Any,
    *,
    indent: int | None = None,
    default: Callable[[Any], Any] | None = None,
    ensure_ascii: bool = True,
) -> str:
    """Returns a value as valid JSON.

    Args:
      value: The value.
      indent: Spaces of a level; None writes one line.
      default: Function that converts a value that JSON does not have, as that of `json.dumps`.
      ensure_ascii: Whether other characters than those of ASCII are escaped.
    """
    try:
        return json.dumps(
            value, indent=indent, default=default, ensure_ascii=ensure_ascii, allow_nan=False
        )
    except ValueError:  # A number is NaN or infinite, also in a value that `default` converts.
        plain = _replace_non_finite(json.loads(json.dumps(value, default=default)))
        return json.dumps(plain, indent=indent, ensure_ascii=ensure_ascii)


def _replace_non_finite(value: Any) -> Any:
    """Returns a value as read from JSON, whose numbers are all valid in JSON.

    Args:
      value: The value; it is not changed.
    """
    if isinstance(value, dict):
        return {name: _replace_non_finite(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_replace_non_finite(part) for part in value]
    if not isinstance(value, float) or math.isfinite(value):
        return value
    return None if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def restore_non_finite(value: Any) -> Any:
    """Returns numbers as they were before `write_json`.

    Args:
      value: A number or nested lists of numbers, as read from JSON; other values are returned.
    """
    if isinstance(value, list):
        return [restore_non_finite(part) for part in value]
    return _NUMBERS.get(value, value) if value is None or isinstance(value, str) else value
