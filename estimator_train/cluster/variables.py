"""Environment variables of platforms: values that are required, numbers and lists."""

from __future__ import annotations

import json
from collections.abc import Mapping

Variables = Mapping[str, str]


def require(variables: Variables, name: str) -> str:
    """Returns the value of an environment variable.

    Args:
      variables: The environment variables.
      name: Name of the variable.

    Raises:
      ValueError: The variable is missing or empty.
    """
    if not variables.get(name):
        raise ValueError(
            f"The environment variable {name} is not set, although others of its platform are."
        )
    return variables[name]


def read_number(variables: Variables, name: str, default: str | None = None) -> int:
    """Returns the whole number in an environment variable.

    Args:
      variables: The environment variables.
      name: Name of the variable.
      default: Its value if it is not set; None if it must be set.

    Raises:
      ValueError: The variable is missing or no whole number.
    """
    text = require(variables, name) if default is None else variables.get(name, default)
    if not text.isdecimal():
        raise ValueError(f"The environment variable {name} must be a whole number, given: {text}")
    return int(text)


def read_json_list(variables: Variables, name: str) -> list[str]:
    """Returns the items of a JSON list in an environment variable, as strings.

    Args:
      variables: The environment variables.
      name: Name of the variable; missing means an empty list.

    Raises:
      ValueError: The value is not a JSON list.
    """
    try:
        found = json.loads(variables.get(name, "[]"))
    except json.JSONDecodeError as error:
        raise ValueError(f"The environment variable {name} is not valid JSON: {error}") from error
    if not isinstance(found, list):
        raise ValueError(f"The environment variable {name} must be a JSON list, given: {found}")
    return [str(one) for one in found]
