"""Conversion of values to NumPy arrays that have the same values, or an error."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import tensorflow as tf

_MAX_EXACT = 2**53  # Larger integers have no float64, or share it with others.


def as_arrays(name: str, structure: Any) -> Any:
    """Converts every leaf of nested dicts and tuples to an array that TensorFlow accepts.

    Args:
      name: Name of the structure in errors.
      structure: A dict or tuple of such structures, or anything that `np.asarray` accepts.

    Returns:
      The same structure; its leaves are arrays in native byte order.

    Raises:
      ValueError: A leaf is not a regular array, has no rows, misses values, or has integers that
        would become other numbers.
      TypeError: TensorFlow does not support the dtype of a leaf.
    """
    if isinstance(structure, dict):
        return {key: as_arrays(f"{name}[{key!r}]", leaf) for key, leaf in structure.items()}
    if isinstance(structure, tuple):
        leaves = [as_arrays(f"{name}[{index}]", leaf) for index, leaf in enumerate(structure)]
        return structure._make(leaves) if hasattr(structure, "_make") else tuple(leaves)
    try:
        array = _as_array(structure)
    except (TypeError, ValueError) as error:
        raise type(error)(
            f"{name} must be a regular array of numbers, bools or strings, but got "
            f"{type(structure).__name__}: {error}"
        ) from error
    if array.ndim == 0 or len(array) == 0:
        raise ValueError(f"{name} must have at least one row, but its shape is {array.shape}.")
    return array


def _as_array(values: Any) -> np.ndarray:
    if np.ma.is_masked(values):
        count = int(np.ma.getmaskarray(values).sum())
        raise ValueError(f"it has {count} masked values: fill them with its filled().")
    array = np.asarray(values)
    if array.dtype.kind == "f" and not isinstance(values, np.ndarray):
        _check_integers(values)
    if array.dtype.kind == "S" and not hasattr(values, "dtype"):
        array = np.asarray(values, object)  # NumPy's bytes lose zeros at their end.
    if array.dtype.kind in "UT":
        # tf.numpy_function encodes objects only as UTF-8; NumPy's text loses zeros at its end.
        has_type = hasattr(values, "dtype")
        array = array.astype(object) if has_type else np.asarray(values, object)
    tf.as_dtype(array.dtype)
    if array.dtype.kind == "O":
        for item in array.flat:
            if not isinstance(item, str | bytes):
                raise TypeError(f"it contains the object {item!r} ({type(item).__name__}).")
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _check_integers(values: Any) -> None:
    """Checks that integers stay the same numbers as 64-bit floats.

    NumPy makes floats of integers among floats, of integers with missing values, and of a list
    with integers above 2**63.

    Args:
      values: The values, no array of NumPy.

    Raises:
      ValueError: An integer is missing or would become another number.
    """
    for part in _list_parts(values):
        if isinstance(part, (int, np.integer)):
            if abs(int(part)) > _MAX_EXACT and int(float(part)) != int(part):
                raise ValueError(
                    f"the integer {part} would become the float {float(part)!r}: give the values "
                    "a type that holds all of them, such as np.array(values, np.uint64)."
                )
            continue
        kind = str(getattr(part, "dtype", getattr(part, "type", ""))).lower()
        if not kind.lstrip("u").startswith("int"):
            continue
        array = np.asarray(part)
        if array.dtype.kind == "f":
            raise ValueError(
                f"integers of the type {kind} have {int(np.isnan(array).sum())} missing values: "
                "fill them, or use input_fns.frame with defaults."
            )
        large = array[np.abs(array.astype(np.float64)) >= _MAX_EXACT].ravel()
        _check_integers(large.tolist())


def _list_parts(values: Any) -> Iterator[Any]:
    """Yields the numbers of nested lists, the columns of a frame, or an array of a library."""
    if isinstance(values, (list, tuple)):
        for value in values:
            if type(value) is not float:
                yield from _list_parts(value)
    elif getattr(values, "ndim", 2) == 2 and hasattr(values, "columns"):
        if hasattr(values, "iloc"):  # Of pandas.
            yield from (values.iloc[:, place] for place in range(values.shape[1]))
        elif hasattr(values, "column_names"):  # Of Arrow.
            yield from values.columns
        else:
            yield from (values[:, place] for place in range(len(values.columns)))
    else:
        yield values
