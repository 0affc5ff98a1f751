"""HParams: named hyper-parameters that flags can change."""

import json
import re
from collections.abc import Mapping
from typing import Any

_ITEM = re.compile(
    r"\s*(?P<name>[a-zA-Z][\w.]*)(?:\[(?P<index>\d+)\])?\s*=\s*(?:\[(?P<list>[^\]]*)\]|(?P<value>[^,\[]*))"
    r"\s*(?:,|$)"
)


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

        Args:
          name: Its name.
          value: Its value.

        Raises:
          ValueError: The name is taken or reserved, or the value an empty list.
        """
        if getattr(self, name, None) is not None:
            raise ValueError(f"Hyperparameter name is reserved: {name}")
        is_list = isinstance(value, (list, tuple))
        if is_list and not value:
            raise ValueError(f"Multi-valued hyperparameters cannot be empty: {name}")
        self._types[name] = (type(value[0] if is_list else value), is_list)
        self._values[name] = list(value) if is_list else value

    def set_hparam(self, name: str, value: Any) -> None:
        """Sets one that is there, its type kept.

        Args:
          name: Its name.
          value: Its new value.

        Raises:
          ValueError: The value is of another type, or a list where there was none.
        """
        kind, is_list = self._types[name]
        if isinstance(value, (list, tuple)) != is_list:
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
        """Sets some from a flag's text, as `learning_rate=0.1,sizes=[64,32],sizes[0]=128`.

        Args:
          values: The text.

        Returns:
          This object.

        Raises:
          ValueError: It is malformed, or names an unknown one.
        """
        position = 0
        while position < len(values):
            found = _ITEM.match(values, position)
            if not found:
                raise ValueError(f"Malformed hyperparameter value: {values[position:]}")
            position = found.end()
            self._set_text(values, **found.groupdict())
        return self

    def _set_text(
        self, whole: str, name: str, index: str | None, list: str | None, value: str | None
    ) -> None:
        if name not in self._types:
            raise ValueError(f"Unknown hyperparameter type for {name}, in '{whole}'")
        kind = self._types[name][0]
        if index is not None:
            self._values[name][int(index)] = _of_text(name, kind, value or "")
        elif list is not None:
            self.set_hparam(name, [_of_text(name, kind, item) for item in list.split(",") if item])
        else:
            self.set_hparam(name, _of_text(name, kind, value or ""))

    def override_from_dict(self, values_dict: Mapping[str, Any]) -> "HParams":
        """Sets several; returns this object."""
        for name, value in values_dict.items():
            self.set_hparam(name, value)
        return self

    def parse_json(self, values_json: str) -> "HParams":
        """Sets several from JSON; returns this object."""
        return self.override_from_dict(json.loads(values_json))

    def to_json(self, **arguments: Any) -> str:
        """All as JSON; arguments as for `json.dumps`."""
        known = {k: v for k, v in self._values.items() if not callable(v)}
        return json.dumps(known, **arguments)

    def values(self) -> dict[str, Any]:
        """All by their names."""
        return dict(self._values)

    def get(self, key: str, default: Any = None) -> Any:
        """The value of one, or a default where it is not there."""
        return self._values.get(key, default)

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

    def __repr__(self) -> str:
        return f"HParams({sorted(self._values.items())})"


def _of_text(name: str, kind: type, text: str) -> Any:
    text = text.strip()
    if kind is bool:
        if text.lower() not in ("true", "false", "0", "1"):
            raise ValueError(f"Could not parse '{text}' as boolean, for {name}.")
        return text.lower() in ("true", "1")
    try:
        return text if kind is type(None) else kind(text)
    except ValueError:
        raise ValueError(
            f"Could not parse hparam {name} of type {kind.__name__}: '{text}'"
        ) from None


def _cast(name: str, kind: type, value: Any) -> Any:
    if kind is type(None) or value is None or isinstance(value, kind):
        return value
    fits = kind is float and isinstance(value, int) or kind is str or hasattr(value, "dtype")
    if not fits or isinstance(value, (bool, str)) and kind in (int, float):
        raise ValueError(f"Could not cast hparam '{name}' of type '{kind}' from value {value!r}")
    return kind(value)
