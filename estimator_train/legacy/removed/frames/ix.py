"""The indexer `ix` of pandas, by labels and positions, which pandas 1.0 removed."""

from typing import Any

import numpy as np
import pandas as pd


class MixedIndexer:
    """Indexer by labels, and by positions where an axis has no labels that are integers.

    Args:
      table: A frame or series.
    """

    def __init__(self, table: Any) -> None:
        self._table = table

    def __getitem__(self, key: Any) -> Any:
        return self._table.loc[self._to_labels(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._table.loc[self._to_labels(key)] = value

    def _to_labels(self, key: Any) -> Any:
        if isinstance(key, tuple) and self._table.ndim > 1:
            axes = (self._table.index, self._table.columns)
            return tuple(_find_labels(part, axis) for part, axis in zip(key, axes, strict=False))
        return _find_labels(key, self._table.index)


def _find_labels(key: Any, axis: pd.Index) -> Any:
    """Returns the labels of positions; the key itself if it has labels or is a mask."""
    if pd.api.types.is_integer_dtype(axis.dtype) or not _has_positions(key):
        return key
    found = axis[key]
    return list(found) if isinstance(found, pd.Index) else found


def _has_positions(key: Any) -> bool:
    if isinstance(key, slice):
        bounds = [bound for bound in (key.start, key.stop) if bound is not None]
        return bool(bounds) and all(isinstance(bound, (int, np.integer)) for bound in bounds)
    if isinstance(key, (int, np.integer)):
        return not isinstance(key, bool)
    is_list = isinstance(key, (list, np.ndarray, pd.Index, pd.Series)) and len(key) > 0
    return is_list and pd.api.types.is_integer_dtype(np.asarray(key).dtype)
