"""Methods of arrays that NumPy has removed since a codebase was written."""

from collections.abc import Callable
from typing import Any

import numpy as np

from estimator_train.legacy.removed.add import add_missing


def add_removed_methods() -> None:
    """Adds the methods to `numpy.ndarray` and NumPy's numbers, unless they exist."""
    for cls in (np.ndarray, np.generic):
        add_missing(cls, _METHODS)


def _tostring(self: Any, order: Any = "C") -> bytes:
    return bytes(self.tobytes(order))


def _itemset(self: Any, *arguments: Any) -> None:
    *index, value = arguments
    if len(index) == 1 and not isinstance(index[0], tuple):
        self.flat[index[0]] = value
    elif index:
        self[index[0] if len(index) == 1 else tuple(index)] = value
    else:
        self[...] = value


def _ptp(self: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    return np.ptp(self, axis, out, keepdims)


def _newbyteorder(self: Any, new_order: str = "S") -> Any:
    return self.view(self.dtype.newbyteorder(new_order))


_METHODS: dict[str, Callable[..., Any]] = {
    "tostring": _tostring,
    "itemset": _itemset,
    "ptp": _ptp,
    "newbyteorder": _newbyteorder,
}
