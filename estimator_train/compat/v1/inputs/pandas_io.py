"""`pandas_input_fn` of `tf.compat.v1.estimator.inputs`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from estimator_train.compat.v1.inputs.feeding import Settings, dequeue_batches

if TYPE_CHECKING:
    import pandas as pd


def pandas_input_fn(
    x: pd.DataFrame,
    y: pd.Series | pd.DataFrame | None = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool | None = None,
    queue_capacity: int | None = 1000,
    num_threads: int = 1,
    target_column: str = "target",
) -> Callable[[], Any]:
    """Makes an input_fn that feeds a pandas DataFrame through a queue, as tf.estimator 2.15 does.

    `input_fns.pandas_frame` is faster, and its position can be saved.

    Args:
      x: The features; the function copies them.
      y: Labels with the same index; None for features alone.
      batch_size: Rows in a batch.
      num_epochs: Passes over the rows; None repeats indefinitely.
      shuffle: Whether rows come in random order; required.
      queue_capacity: Rows that the queue holds; with `shuffle` each row is drawn from these. None:
        4 times the rows of `x` with `shuffle`, otherwise the rows of `x`.
      num_threads: Threads that fill the queue; each thread enqueues all rows.
      target_column: Name of the labels; no column of `x` may have it.

    Returns:
      A function that returns features, or (features, labels). Features are a dict of tensors by
      column name; labels are a tensor for a Series and a dict for a DataFrame. Tensors have shape
      (batch,). Columns of strings become bytes.

    Raises:
      ValueError: `shuffle` is not a bool, `x` is empty, the indices of `x` and `y` differ, or `x`
        has a column with the name of `target_column`.
      TypeError: `target_column` is not a string, or `x` is not a DataFrame.
      AttributeError: `x` is None, or has no index to compare with that of `y`.
    """
    capacity: Any = queue_capacity
    if capacity is None and _is_frame(x):
        capacity = 4 * len(x) if shuffle else len(x)
    settings = Settings(batch_size, num_epochs, shuffle, capacity, num_threads)
    if not isinstance(target_column, str):
        raise TypeError("target_column must be a string type")
    if not _is_frame(x):
        # As in tf.estimator 2.15, which reads the index of `x` to compare it with that of `y`.
        has_no_index = x is None or (y is not None and not hasattr(x, "index"))
        raise (AttributeError if has_no_index else TypeError)(
            "data must be either a numpy array or pandas DataFrame if pandas is installed; got "
            f"{type(x).__name__}"
        )
    if len(x) == 0:
        raise ValueError("x cannot be an empty frame")
    x = x.copy()
    if y is not None:
        _check_labels(x, y, target_column)
        y = y.copy()

    def input_fn() -> Any:
        labels = [] if y is None else [y[name] for name in y] if _is_frame(y) else [y]
        columns = [_to_array(column) for column in [*(x[name] for name in x), *labels]]
        tensors = dequeue_batches(columns, settings)
        features = dict(zip(x, tensors, strict=False))
        if y is None:
            return features
        if _is_frame(y):
            return features, dict(zip(y, tensors[len(features) :], strict=True))
        return features, tensors[-1]

    return input_fn


def _check_labels(x: pd.DataFrame, y: pd.Series | pd.DataFrame, target_column: str) -> None:
    if target_column in x:
        raise ValueError(
            f"Cannot use name {target_column} for target column: DataFrame already has a column "
            f"with that name: {x.columns}"
        )
    if not np.array_equal(x.index, y.index):
        raise ValueError(
            f"Index for x and y are mismatched.\nIndex for x: {x.index}\nIndex for y: {y.index}\n"
        )


def _is_frame(data: Any) -> bool:
    return hasattr(data, "columns")


def _to_array(column: pd.Series) -> np.ndarray:
    """Returns a column's values; strings of pandas become objects, which TensorFlow accepts."""
    if not isinstance(column.dtype, np.dtype):
        return np.asarray(column.astype(object) if _is_text(column) else column.to_numpy())
    return column.to_numpy()


def _is_text(column: pd.Series) -> bool:
    return str(column.dtype) in ("str", "string") or column.dtype.kind == "O"
