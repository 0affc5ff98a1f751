"""Methods and arguments that pandas has removed, added when a codebase imports pandas."""

import contextlib
from collections.abc import Callable
from datetime import datetime
from typing import Any

import numpy as np
import pandas as pd

# pandas offered its own imports `np` and `datetime`.
__all__ = ["datetime", "np", "read_csv", "read_table"]

# Arguments that pandas no longer takes and that change no result of a readable file.
_WITHOUT_EFFECT = frozenset(
    ["infer_datetime_format", "keep_date_col", "mangle_dupe_cols", "verbose", "warn_bad_lines"]
)


def read_csv(*arguments: Any, **named: Any) -> Any:
    """Calls `pandas.read_csv`, and takes the arguments of pandas 1 too."""
    return _read(pd.read_csv, arguments, named)


def read_table(*arguments: Any, **named: Any) -> Any:
    """Calls `pandas.read_table`, and takes the arguments of pandas 1 too."""
    return _read(pd.read_table, arguments, named)


def _read(read: Callable[..., Any], arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
    named = {name: value for name, value in named.items() if name not in _WITHOUT_EFFECT}
    if named.pop("delim_whitespace", False):
        named["sep"] = r"\s+"
    if not named.pop("error_bad_lines", True):
        named["on_bad_lines"] = "skip"
    squeezes = named.pop("squeeze", False)
    table = read(*arguments, **named)
    return table.squeeze("columns") if squeezes else table


def _append(self: Any, other: Any, ignore_index: bool = False, **more: Any) -> Any:
    more.pop("sort", None)
    added = other if isinstance(other, (list, tuple)) else [other]
    if isinstance(self, pd.DataFrame):
        added = [_to_frame(rows) for rows in added]
    return pd.concat([self, *added], ignore_index=ignore_index, **more)


def _to_frame(rows: Any) -> Any:
    if isinstance(rows, dict):
        return pd.DataFrame([rows])
    if isinstance(rows, pd.Series):
        return rows.to_frame().T.infer_objects()
    return rows


def _as_matrix(self: Any, columns: Any = None) -> Any:
    return (self if columns is None else self[columns]).to_numpy()


def _get_value(self: Any, *place: Any) -> Any:
    return self.at[place if len(place) > 1 else place[0]]


def _set_value(self: Any, *arguments: Any) -> Any:
    *place, value = arguments
    self.at[tuple(place) if len(place) > 1 else place[0]] = value
    return self


def _iteritems(self: Any) -> Any:
    return iter(self.items())


def _applymap(self: Any, function: Callable[[Any], Any], **named: Any) -> Any:
    return self.map(function, **named)


def _accept_method(original: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a `fillna` that takes `method`, as in pandas 1 and 2."""

    def fillna(self: Any, value: Any = None, method: Any = None, **named: Any) -> Any:
        if method is None:
            return original(self, value, **named)
        fill = self.ffill if method in ("ffill", "pad") else self.bfill
        return fill(**named)

    return fillna


_METHODS: dict[str, Callable[..., Any]] = {
    "append": _append,
    "as_matrix": _as_matrix,
    "get_value": _get_value,
    "set_value": _set_value,
    "iteritems": _iteritems,
}


def _add_removed_methods() -> None:
    for cls in (pd.DataFrame, pd.Series):
        for name, method in _METHODS.items():
            if not hasattr(cls, name):
                setattr(cls, name, method)
        cls.fillna = _accept_method(cls.fillna)
    if not hasattr(pd.DataFrame, "applymap"):
        pd.DataFrame.applymap = _applymap
    # Columns of text have the type `object`, as before pandas 3.
    with contextlib.suppress(KeyError):
        pd.set_option("future.infer_string", False)


_add_removed_methods()
