"""Changes of a column reach its frame, as before pandas 3: `frame["a"].fillna(0, inplace=True)`.

In pandas 3 a column that is taken from a frame is a copy, and such a statement has no effect. Here
each column knows where it was taken from, and its changes are written back as long as the frame has
the same values.
"""

import functools
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

_IN_PLACE = ("fillna", "ffill", "bfill", "replace", "interpolate", "clip", "mask", "where")
_INDEXERS = ("loc", "iloc", "at", "iat")


_SOURCE = "_taken_from"  # Attribute of a series: its frame, as a weak reference, and its key.


def write_back_to_frames() -> None:
    """Makes changes of columns reach their frames, where pandas is version 3 or later."""
    if int(pd.__version__.partition(".")[0]) < 3:
        return
    warnings.filterwarnings("ignore", category=pd.errors.ChainedAssignmentError)
    pd.DataFrame.__getitem__ = _remember_source(pd.DataFrame.__getitem__)
    for name in _IN_PLACE:
        setattr(pd.Series, name, _wrap_in_place(getattr(pd.Series, name), _is_in_place))
    for name in ("__setitem__", "update"):
        setattr(pd.Series, name, _wrap_in_place(getattr(pd.Series, name), lambda named: True))
    # `at` and `iat` have one base class; `loc` and `iloc` have another.
    for cls in {_find_owner(type(getattr(pd.Series([0]), name))) for name in _INDEXERS}:
        cls.__setitem__ = _write_back_indexer(cls.__setitem__)


def _find_owner(indexer: type) -> Any:
    """Returns the class that defines how an indexer sets items."""
    return next(cls for cls in indexer.__mro__ if "__setitem__" in vars(cls))


def _is_in_place(named: dict[str, Any]) -> bool:
    return bool(named.get("inplace"))


def _remember_source(get_item: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(get_item)
    def call(self: Any, key: Any) -> Any:
        found = get_item(self, key)
        if isinstance(found, pd.Series):
            object.__setattr__(found, _SOURCE, (weakref.ref(self), key))
        return found

    return call


def _find_frame(series: Any) -> tuple[Any, Any] | None:
    """Returns the frame and key of a column, if the frame still has the column's values."""
    reference, key = getattr(series, "__dict__", {}).get(_SOURCE, (None, None))
    frame = reference() if reference else None
    if frame is None or key not in frame.columns:
        return None
    ours, current = _find_buffer(series), _find_buffer(frame._get_item(key))
    is_shared = ours is not None and current is not None and np.shares_memory(ours, current)
    return (frame, key) if is_shared else None


def _find_buffer(series: Any) -> Any:
    """Returns the array that holds a series' values, None if it is not of NumPy."""
    values = getattr(series, "_values", None)
    for name in ("_ndarray", "_data"):  # In arrays of pandas: of times, categories, masked values.
        values = getattr(values, name, values) if not isinstance(values, np.ndarray) else values
    return values if isinstance(values, np.ndarray) else None


def _write_back(source: tuple[Any, Any] | None, series: Any) -> None:
    if source:
        frame, key = source
        frame[key] = series


def _wrap_in_place(
    method: Callable[..., Any], changes: Callable[[dict[str, Any]], bool]
) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(self: Any, *arguments: Any, **named: Any) -> Any:
        source = _find_frame(self) if changes(named) else None
        result = method(self, *arguments, **named)
        _write_back(source, self)
        return result

    return call


def _write_back_indexer(set_item: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(set_item)
    def call(self: Any, key: Any, value: Any) -> None:
        source = _find_frame(self.obj)
        set_item(self, key, value)
        _write_back(source, self.obj)

    return call
