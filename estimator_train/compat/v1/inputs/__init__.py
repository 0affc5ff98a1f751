"""The names of `tf.compat.v1.estimator.inputs`: input_fns of arrays and frames that feed queues."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from estimator_train.compat.v1.inputs.feeding import Settings, dequeue_batches

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["numpy_input_fn", "pandas_input_fn"]

_ONLY_ARRAY = "__direct_np_input__"
Arrays = np.ndarray | dict[Any, np.ndarray]


def numpy_input_fn(
    x: Arrays,
    y: Arrays | None = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool | None = None,
    queue_capacity: int = 1000,
    num_threads: int = 1,
) -> Callable[[], Any]:
    """Makes an input_fn that feeds arrays through a queue, as tf.estimator 2.15 does.

    `input_fns.arrays` is faster, and its position can be saved.

    Args:
      x: Array of shape (rows, ...), or a dict of such arrays.
      y: Array of shape (rows, ...), or a dict of such arrays; None for features alone.
      batch_size: Rows in a batch.
      num_epochs: Passes over the rows; None repeats indefinitely.
      shuffle: Whether rows come in random order; required.
      queue_capacity: Rows that the queue holds; with `shuffle` each row is drawn from these.
      num_threads: Threads that fill the queue; each thread enqueues all rows.

    Returns:
      A function that returns tensors of features, or of (features, labels), of shapes (batch_size,
      ...); the static batch size is unknown if `num_epochs` is given. The function raises TypeError
      if `x` is neither a dict nor an array, and ValueError if `x` or `y` is empty, a key is in both
      or arrays differ in length.

    Raises:
      ValueError: `shuffle` is not a bool.
    """
    settings = Settings(batch_size, num_epochs, shuffle, queue_capacity, num_threads)

    def input_fn() -> Any:
        features, labels = _sort_features(x), _sort_labels(y)
        _check_arrays(features, labels, y)
        columns = [*features.values(), *labels.values()]
        names = [*_name_arrays("x", features), *_name_arrays("y", labels)]
        tensors = dequeue_batches(columns, names, settings)
        feature_tensors: Any = dict(zip(features, tensors, strict=False))
        label_tensors: Any = dict(zip(labels, tensors[len(features) :], strict=True))
        if not isinstance(x, dict):
            feature_tensors = tensors[0]
        if y is None:
            return feature_tensors
        return feature_tensors, label_tensors if isinstance(y, dict) else tensors[-1]

    return input_fn


def _sort_features(x: Arrays) -> dict[Any, np.ndarray]:
    if isinstance(x, np.ndarray):
        if x.size == 0:
            raise ValueError("x cannot be an empty array")
        return {_ONLY_ARRAY: x}
    if not isinstance(x, dict):
        raise TypeError(f"x must be a dict or array; got {type(x).__name__}")
    if not x:
        raise ValueError("x cannot be an empty dict")
    return {key: x[key] for key in sorted(x)}


def _sort_labels(y: Arrays | None) -> dict[Any, np.ndarray]:
    if y is None:
        return {}
    if not isinstance(y, dict):
        return {"": y}
    if not y:
        raise ValueError("y cannot be empty dict, use None instead.")
    return {key: y[key] for key in sorted(y)}


def _name_arrays(argument: str, arrays: Mapping[Any, np.ndarray]) -> list[str]:
    """Returns the names of an argument's arrays in errors."""
    alone = ("", _ONLY_ARRAY)
    return [argument if key in alone else f"{argument}[{key!r}]" for key in arrays]


def _check_arrays(
    features: Mapping[Any, np.ndarray], labels: Mapping[Any, np.ndarray], y: Arrays | None
) -> None:
    if isinstance(y, dict):
        both = set(features) & set(labels)
        if both:
            raise ValueError(f"{len(both)} duplicate keys are found in both x and y: {both}")
    x_shapes = {key: array.shape for key, array in features.items()}
    y_shapes: Any = {key: array.shape for key, array in labels.items()}
    if len({shape[0] for shape in (*x_shapes.values(), *y_shapes.values())}) > 1:
        if not isinstance(y, dict):
            y_shapes = y_shapes[""] if labels else None
        raise ValueError(
            "Length of tensors in x and y is mismatched. All elements in x and y must have the "
            f"same length.\nShapes in x: {x_shapes}\nShapes in y: {y_shapes}\n"
        )


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
      (batch,). Columns of strings become bytes, and columns of categories their values.

    Raises:
      ValueError: `shuffle` is not a bool, `x` is empty, the indices of `x` and `y` differ, two
        columns have the same name, or `x` has a column with the name of `target_column`.
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
            + (": pass the result of its to_pandas()" if hasattr(x, "to_pandas") else "")
        )
    if len(x) == 0:
        raise ValueError("x cannot be an empty frame")
    for name, frame in {"x": x, "y": y}.items():
        if _is_frame(frame) and not frame.columns.is_unique:
            twice = list(frame.columns[frame.columns.duplicated()])
            raise ValueError(f"Columns of {name} must have different names, got {twice} twice.")
    x = x.copy()
    if y is not None:
        _check_labels(x, y, target_column)
        y = y.copy()

    def input_fn() -> Any:
        series = {f"Column {name!r} of x": x[name] for name in x}
        if y is not None and _is_frame(y):
            series |= {f"Column {name!r} of y": y[name] for name in y}
        elif y is not None:
            series["y"] = y
        columns = [_to_array(name, column) for name, column in series.items()]
        tensors = dequeue_batches(columns, list(series), settings)
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
    return hasattr(data, "columns") and hasattr(data, "index")  # Frames of polars have no index.


def _to_array(name: str, column: pd.Series) -> np.ndarray:
    """Returns a column's values; strings of pandas become objects, which TensorFlow accepts.

    Raises:
      TypeError: A column of categories, strings or nullable bools has a row without a value.
    """
    values = column.to_numpy()
    if isinstance(column.dtype, np.dtype) or values.dtype.kind not in "OUT":
        return values
    if column.isna().any():
        raise TypeError(
            f"{name} has no value in {int(column.isna().sum())} row(s): fill them, for example "
            "with fillna."
        )
    return values.astype(object)
