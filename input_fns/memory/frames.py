"""Batches of pandas frames."""

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
    """Returns batches of the rows of a pandas frame.

    Args:
      frame: The `pandas.DataFrame`.
      label: Name of the label column, or a list of names for a dict of labels; None gives
        features without labels.
      **settings: Settings of `PipelineOptions` by name, or `options=PipelineOptions(...)`.

    Returns:
      A `tf.data.Dataset` of dicts of features by column name, or of (features, label), each of
      shape (batch_size,), strings as tf.string.

    Raises:
      TypeError: `frame` is not a DataFrame, or a column has values other than numbers, bools and
        strings.
      ValueError: The frame is empty or lacks a label column, or an argument is out of range.
    """
    if not hasattr(frame, "columns"):
        raise TypeError(f"frame must be a pandas.DataFrame, but got {type(frame).__name__}.")
    labels = label if isinstance(label, list) else [] if label is None else [label]
    for name in labels:
        if name not in frame.columns:
            names = ", ".join(str(column) for column in frame.columns)
            raise ValueError(f"There is no column {name!r}: the columns are {names}.")
    columns = {name: _as_array(name, frame[name]) for name in frame.columns}
    label_arrays: Any = {name: columns.pop(name) for name in labels}
    if not isinstance(label, list):
        label_arrays = None if label is None else label_arrays[label]
    features = {str(name): column for name, column in columns.items()}
    return arrays(features, label_arrays, **settings)


def _as_array(name: Hashable, column: "pd.Series") -> np.ndarray:
    if column.isna().any() and column.dtype.kind not in "f":
        raise ValueError(
            f"Column {name!r} has no value in {int(column.isna().sum())} row(s): fill them, for "
            "example with frame.fillna."
        )
    if isinstance(column.dtype, np.dtype):
        return column.to_numpy()
    # pandas has string and number types that NumPy does not know.
    values = column.to_numpy()
    return values.astype(object) if values.dtype.kind in "OUT" else values
