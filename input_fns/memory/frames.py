"""Batches of frames of pandas or polars."""

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

from input_fns.memory.arrays import arrays

if TYPE_CHECKING:
    import pandas as pd


def pandas_frame(
    frame: "pd.DataFrame", label: Hashable | list[Any] = None, **settings: Any
) -> tf.data.Dataset:
    """Returns batches of the rows of a frame of pandas or polars.

    Args:
      frame: The `pandas.DataFrame` or `polars.DataFrame`.
      label: Name of the label column, or a list of names for a dict of labels; None gives
        features without labels.
      **settings: Settings of `PipelineOptions` by name, or `options=PipelineOptions(...)`.

    Returns:
      A `tf.data.Dataset` of dicts of features by column name, or of (features, label), each of
      shape (batch_size,), strings as tf.string.

    Raises:
      TypeError: `frame` is not a DataFrame, or a column has values other than numbers, bools and
        strings.
      ValueError: The frame is empty or lacks a label column, two columns have the same name, a
        value is missing, or an argument is out of range.
    """
    if type(frame).__name__ == "LazyFrame":
        raise TypeError("frame must be a frame in memory, but got LazyFrame: call its collect().")
    if not hasattr(frame, "columns"):
        raise TypeError(f"frame must be a pandas.DataFrame, but got {type(frame).__name__}.")
    present = [str(name) for name in frame.columns]
    if len(set(present)) < len(present):
        twice = sorted({name for name in present if present.count(name) > 1})
        raise ValueError(f"Columns must have different names, but {', '.join(twice)} appear twice.")
    labels = label if isinstance(label, list) else [] if label is None else [label]
    if len(set(labels)) < len(labels):
        raise ValueError(f"label must name each column once, but got {labels}.")
    for name in labels:
        if name not in frame.columns:
            names = ", ".join(str(column) for column in frame.columns)
            raise ValueError(f"There is no column {name!r}: the columns are {names}.")
    for name in frame.columns:
        if not hasattr(frame[name], "to_numpy"):
            kind = f"{type(frame).__module__.partition('.')[0]}.{type(frame).__name__}"
            raise TypeError(
                f"frame must be of pandas or polars, but got {kind}: use input_fns.frame."
            )
    columns = {name: _as_array(name, frame[name]) for name in frame.columns}
    label_arrays: Any = {name: columns.pop(name) for name in labels}
    if not isinstance(label, list):
        label_arrays = None if label is None else label_arrays[label]
    features = {str(name): column for name, column in columns.items()}
    return arrays(features, label_arrays, **settings)


def _as_array(name: Hashable, column: Any) -> np.ndarray:
    is_missing = column.isna() if hasattr(column, "isna") else column.is_null()
    values = column.to_numpy()
    # NaN is a value in columns of floats.
    if is_missing.any() and not (values.dtype.kind == "f" and _holds_floats(column)):
        raise ValueError(
            f"Column {name!r} has no value in {int(is_missing.sum())} row(s): fill them, for "
            "example with frame.fillna."
        )
    # pandas and polars have string and number types that NumPy does not know.
    return values.astype(object) if values.dtype.kind in "OUT" else values


def _holds_floats(column: Any) -> bool:
    """Returns whether the values of a column of pandas or polars are floats."""
    dtype = column.dtype
    return dtype.is_float() if hasattr(dtype, "is_float") else getattr(dtype, "kind", "") == "f"
