"""HParams: named hyperparameters that flags can change."""

import json
import numbers
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

_ITEM = re.compile(
    r"\s*(?P<name>[a-zA-Z][\w.]*)(?:\[(?P<index>\d+)\])?\s*=\s*(?:\[(?P<list>[^\]]*)\]|(?P<value>[^,\[]*))"
    r"\s*(?:,|$)"
)


def parse_values(
    values: str, type_map: Mapping[str, type], ignore_unknown: bool = False
) -> dict[str, Any]:
    """Parses the text of a flag, such as `learning_rate=0.1,sizes=[64,32],shape[0]=128`.

    Args:
      values: Text of the flag.
      type_map: Types of the values by name.
      ignore_unknown: Whether to skip names without a type.

    Returns:
      Values by name: single values, lists, and dicts of indices to values.

    Raises:
      ValueError: The text is malformed, a name is unknown, or a name is assigned twice.
    """
    parsed: dict[str, Any] = {}
    position = 0
    while position < len(values):
        item = _ITEM.match(values, position)
        if not item:
            raise ValueError(f"Malformed hyperparameter value: {values[position:]}")
        position = item.end()
        if item["name"] in type_map:
            _store(parsed, type_map[item["name"]], **item.groupdict())
        elif not ignore_unknown:
            raise ValueError(f"Unknown hyperparameter type for {item['name']}")
    return parsed


def _store(
    parsed: dict[str, Any], kind: type, name: str, index: str | None, list: str | None, value: str
) -> None:
    if index is not None and list is not None:
        raise ValueError(f"Assignment of a list to a list index: {name}[{index}].")
    entries: Any = parsed.setdefault(name, {}) if index is not None else parsed
    key: Any = name if index is None else int(index)
    if not isinstance(entries, dict) or key in entries:
        raise ValueError(f"Multiple assignments to variable '{name}'.")
    if list is not None:
        entries[key] = [_parse(name, kind, item) for item in re.split("[ ,]", list) if item]
    else:
        entries[key] = _parse(name, kind, value)


class HParams:
    """Hyperparameters as attributes, each with the type of its first value.

    Programs and subclasses read and change `_hparam_types`, which maps the name of each
    hyperparameter to its type and whether it is a list, and set and delete the attributes.

    Args:
      hparam_def: Not supported: a protocol buffer of hyperparameters.
      model_structure: Object to store with the hyperparameters.
      **kwargs: Values by name: numbers, strings, booleans, None or lists of one type.
    """

    def __init__(
        self, hparam_def: object = None, model_structure: object = None, **kwargs: Any
    ) -> None:
        if hparam_def is not None:
            raise NotImplementedError(
                "hparam_def is not supported: pass the values as keyword arguments."
            )
        self._hparam_types: dict[str, tuple[type, bool]] = {}
        self._model_structure = model_structure
        for name, value in kwargs.items():
            self.add_hparam(name, value)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Returns a value: type checkers cannot know the names."""

    def add_hparam(self, name: str, value: Any) -> None:
        """Adds a hyperparameter.

        Raises:
          ValueError: The name is used or reserved, or the value is an empty list.
        """
        if getattr(self, name, None) is not None:
            raise ValueError(f"Hyperparameter name is reserved: {name}")
        is_list = isinstance(value, (list, tuple))
        if is_list and not value:
            raise ValueError(f"Multi-valued hyperparameters cannot be empty: {name}")
        self._hparam_types[name] = (type(value[0] if is_list else value), is_list)
        setattr(self, name, value)

    def set_hparam(self, name: str, value: Any) -> None:
        """Sets an existing hyperparameter and keeps its type.

        Raises:
          ValueError: The value has another type, or only one of the old and new values is a list.
        """
        kind, is_list = self._hparam_types[name]
        if isinstance(value, list) != is_list:
            needs = "" if is_list else "not "
            raise ValueError(f"{name} must {needs}be a list, got {value!r}.")
        if is_list:
            setattr(self, name, [_cast(name, kind, entry) for entry in value])
        else:
            setattr(self, name, _cast(name, kind, value))

    def del_hparam(self, name: str) -> None:
        """Removes a hyperparameter if it exists."""
        if hasattr(self, name):
            delattr(self, name)
            del self._hparam_types[name]

    def parse(self, values: str) -> "HParams":
        """Sets hyperparameters from the text of a flag; see `parse_values`. Returns this object.

        Raises:
          ValueError: The text is malformed or a name is unknown.
        """
        types = {name: kind for name, (kind, _) in self._hparam_types.items()}
        return self.override_from_dict(parse_values(values, types))

    def override_from_dict(self, values_dict: Mapping[str, Any]) -> "HParams":
        """Sets several hyperparameters and returns this object."""
        for name, value in values_dict.items():
            self.set_hparam(name, value)
        return self

    set_from_map = override_from_dict

    def parse_json(self, values_json: str) -> "HParams":
        """Sets several hyperparameters from JSON and returns this object."""
        return self.override_from_dict(json.loads(values_json))

    def to_json(
        self,
        indent: int | None = None,
        separators: tuple[str, str] | None = None,
        sort_keys: bool = False,
    ) -> str:
        """Returns all hyperparameters as JSON; arguments are those of `json.dumps`."""
        return json.dumps(self.values(), indent=indent, separators=separators, sort_keys=sort_keys)

    def values(self) -> dict[str, Any]:
        """Returns all values by name."""
        return {name: getattr(self, name) for name in self._hparam_types}

    def get(self, key: str, default: Any = None) -> Any:
        """Returns the value of a hyperparameter, or a default if it does not exist.

        Raises:
          ValueError: The default has another type than the existing hyperparameter.
        """
        if key not in self._hparam_types:
            return default
        kind, is_list = self._hparam_types[key]
        if default is not None:
            if isinstance(default, list) != is_list:
                raise ValueError(f"{key} is incompatible with default={default!r}.")
            for entry in default if is_list else [default]:
                _cast(key, kind, entry)
        return getattr(self, key)

    def get_model_structure(self) -> Any:
        """Returns the object that is stored with the hyperparameters."""
        return self._model_structure

    def set_model_structure(self, model_structure: object) -> None:
        """Stores an object with the hyperparameters."""
        self._model_structure = model_structure

    def __contains__(self, key: str) -> bool:
        return key in self._hparam_types

    def __str__(self) -> str:
        return ",".join(f"{name}={value}" for name, value in self.values().items())

    def __repr__(self) -> str:
        return f"HParams({sorted(self.values().items())})"


def _parse(name: str, kind: type, text: str) -> Any:
    try:
        if kind is bool:
            return text in ("true", "True") or text not in ("false", "False") and bool(int(text))
        return kind(text)
    except ValueError:
        raise ValueError(
            f"Could not parse hparam {name} of type {kind.__name__}: '{text}'"
        ) from None


def _cast(name: str, kind: type, value: Any) -> Any:
    if kind is type(None) or isinstance(value, kind) and type(value) is not bool:
        return value
    if kind is bool or isinstance(value, bool):
        fits = kind is bool and isinstance(value, bool)
    elif kind is str:
        fits = isinstance(value, bytes)
    elif kind is int:
        fits = isinstance(value, numbers.Integral)
    else:
        fits = kind is not float or isinstance(value, numbers.Number)
    if not fits:
        raise ValueError(f"Could not cast hparam '{name}' of type '{kind}' from value {value!r}")
    return kind(value)
