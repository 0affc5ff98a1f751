"""HParams: named hyper-parameters that flags can change."""

import json
import numbers
import re
from collections.abc import Mapping
from typing import Any

_ITEM = re.compile(
    r"\s*(?P<name>[a-zA-Z][\w.]*)(?:\[(?P<index>\d+)\])?\s*=\s*(?:\[(?P<list>[^\]]*)\]|(?P<value>[^,\[]*))"
    r"\s*(?:,|$)"
)


def parse_values(
    values: str, type_map: Mapping[str, type], ignore_unknown: bool = False
) -> dict[str, Any]:
    """Values by their names of a flag's text, as `learning_rate=0.1,sizes=[64,32],shape[0]=128`.

    Args:
      values: The text.
      type_map: The types of the values.
      ignore_unknown: Whether names without a type are left out, and are no error.

    Returns:
      Values, lists, and of names with an index dicts of indices to values.

    Raises:
      ValueError: It is malformed, names an unknown one, or the same twice.
    """
    found: dict[str, Any] = {}
    position = 0
    while position < len(values):
        item = _ITEM.match(values, position)
        if not item:
            raise ValueError(f"Malformed hyperparameter value: {values[position:]}")
        position = item.end()
        if item["name"] in type_map:
            _put(found, type_map[item["name"]], **item.groupdict())
        elif not ignore_unknown:
            raise ValueError(f"Unknown hyperparameter type for {item['name']}")
    return found


def _put(
    found: dict[str, Any], kind: type, name: str, index: str | None, list: str | None, value: str
) -> None:
    if index is not None and list is not None:
        raise ValueError(f"Assignment of a list to a list index: {name}[{index}].")
    entries: Any = found.setdefault(name, {}) if index is not None else found
    key: Any = name if index is None else int(index)
    if not isinstance(entries, dict) or key in entries:
        raise ValueError(f"Multiple assignments to variable '{name}'.")
    if list is not None:
        entries[key] = [_of_text(name, kind, item) for item in re.split("[ ,]", list) if item]
    else:
        entries[key] = _of_text(name, kind, value)


class HParams:
    """Hyper-parameters as attributes, each with the type of its first value.

    Args:
      hparam_def: Not supported: a protocol buffer of them.
      model_structure: An object kept beside them.
      **kwargs: Names and values: numbers, strings, booleans, None or lists of one type.
    """

    def __init__(self, hparam_def: Any = None, model_structure: Any = None, **kwargs: Any) -> None:
        if hparam_def is not None:
            raise NotImplementedError("hparam_def: give the values by their names instead.")
        self.__dict__.update(_values={}, _types={}, _model_structure=model_structure)
        for name, value in kwargs.items():
            self.add_hparam(name, value)

    def add_hparam(self, name: str, value: Any) -> None:
        """Adds one.

        Raises:
          ValueError: The name is taken or reserved, or the value an empty list.
        """
        if getattr(self, name, None) is not None:
            raise ValueError(f"Hyperparameter name is reserved: {name}")
        is_list = isinstance(value, (list, tuple))
        if is_list and not value:
            raise ValueError(f"Multi-valued hyperparameters cannot be empty: {name}")
        self._types[name] = (type(value[0] if is_list else value), is_list)
        self._values[name] = value

    def set_hparam(self, name: str, value: Any) -> None:
        """Sets one that is there, its type kept.

        Raises:
          ValueError: The value is of another type, or a list where there was none.
        """
        kind, is_list = self._types[name]
        if isinstance(value, list) != is_list:
            needs = "" if is_list else "not "
            raise ValueError(f"{name} must {needs}be a list, got {value!r}.")
        if is_list:
            self._values[name] = [_cast(name, kind, entry) for entry in value]
        else:
            self._values[name] = _cast(name, kind, value)

    def del_hparam(self, name: str) -> None:
        """Removes one, if it is there."""
        self._values.pop(name, None)
        self._types.pop(name, None)

    def parse(self, values: str) -> "HParams":
        """Sets some from a flag's text, as `learning_rate=0.1,sizes=[64,32]`; returns this object.

        Raises:
          ValueError: It is malformed, or names an unknown one.
        """
        types = {name: kind for name, (kind, _) in self._types.items()}
        return self.override_from_dict(parse_values(values, types))

    def override_from_dict(self, values_dict: Mapping[str, Any]) -> "HParams":
        """Sets several; returns this object."""
        for name, value in values_dict.items():
            self.set_hparam(name, value)
        return self

    set_from_map = override_from_dict

    def parse_json(self, values_json: str) -> "HParams":
        """Sets several from JSON; returns this object."""
        return self.override_from_dict(json.loads(values_json))

    def to_json(
        self, indent: int | None = None, separators: Any = None, sort_keys: bool = False
    ) -> str:
        """All as JSON; arguments as for `json.dumps`."""
        return json.dumps(self._values, indent=indent, separators=separators, sort_keys=sort_keys)

    def values(self) -> dict[str, Any]:
        """All by their names."""
        return dict(self._values)

    def get(self, key: str, default: Any = None) -> Any:
        """The value of one, or a default where it is not there.

        Raises:
          ValueError: It is there, and the default is not of its type.
        """
        if key not in self._values:
            return default
        kind, is_list = self._types[key]
        if default is not None:
            if isinstance(default, list) != is_list:
                raise ValueError(f"{key} is incompatible with default={default!r}.")
            for entry in default if is_list else [default]:
                _cast(key, kind, entry)
        return self._values[key]

    def get_model_structure(self) -> Any:
        """The object kept beside them."""
        return self._model_structure

    def set_model_structure(self, model_structure: Any) -> None:
        """Sets the object kept beside them."""
        self.__dict__["_model_structure"] = model_structure

    def __getattr__(self, name: str) -> Any:
        values = self.__dict__.get("_values", {})
        if name not in values:
            raise AttributeError(f"'HParams' object has no attribute '{name}'")
        return values[name]

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self._values:
            self._values[name] = value
        else:
            self.__dict__[name] = value

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def __deepcopy__(self, memo: Any) -> "HParams":
        return HParams(model_structure=self._model_structure, **self._values)

    def __str__(self) -> str:
        return ",".join(f"{name}={value}" for name, value in self._values.items())

    def __repr__(self) -> str:
        return f"HParams({sorted(self._values.items())})"


def _of_text(name: str, kind: type, text: str) -> Any:
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
