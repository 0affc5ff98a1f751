"""Batches of pandas frames."""

from typing import Any

import numpy as np
import tensorflow as tf

from input_fns.memory.arrays import arrays


def pandas_frame(frame: Any, label: Any = None, **settings: Any) -> tf.data.Dataset:
    """Gives the rows of a pandas frame in batches.

    Args:
      frame: The `pandas.DataFrame`.
      label: Column that is the label, or a list of such columns for a dict of labels; None gives
        features alone.
      **settings: The settings of `PipelineOptions`, or `options` with all of them.

    Returns:
      A `tf.data.Dataset` of dicts of features by column name, or of (features, label), each of
      shape (batch_size,), strings as tf.string.

    Raises:
      TypeError: It is not a DataFrame, or a column is neither numbers, bools nor strings.
      ValueError: It is empty, has no such column, or an argument is out of its range.
    """
    if not hasattr(frame, "columns"):
        raise TypeError(f"frame must be a pandas.DataFrame, but got {type(frame).__name__}.")
    labels = label if isinstance(label, list) else [] if label is None else [label]
    for name in labels:
        if name not in frame.columns:
            there = ", ".join(str(column) for column in frame.columns)
            raise ValueError(f"There is no column {name!r}: the columns are {there}.")
    columns = {name: _array(name, frame[name]) for name in frame.columns}
    wanted: Any = {name: columns.pop(name) for name in labels}
    if not isinstance(label, list):
        wanted = None if label is None else wanted[label]
    return arrays({str(name): column for name, column in columns.items()}, wanted, **settings)


def _array(name: Any, column: Any) -> np.ndarray:
    if column.isna().any() and column.dtype.kind not in "f":
        raise ValueError(
            f"Column {name!r} has no value in {int(column.isna().sum())} row(s): fill them, as "
            "frame.fillna does."
        )
    if isinstance(column.dtype, np.dtype):
        return column.to_numpy()
    # pandas' own types: strings become objects, and numbers those of NumPy.
    values = column.to_numpy()
    return values.astype(object) if values.dtype.kind in "OUT" else values
