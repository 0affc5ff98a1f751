"""Comparison of structures by value, where a difference that cannot be ruled out counts as one."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import tensorflow as tf


def have_equal_values(first: Any, second: Any) -> bool:
    """Returns whether two structures hold equal values of the same types, dicts in the same order.

    Args:
      first: Any object; containers and objects with attributes are compared part by part.
      second: Any object.
    """
    try:
        return _are_equal(first, second)
    except RecursionError:  # The object refers to itself.
        return False


def _are_equal(first: Any, second: Any) -> bool:
    if first is second:
        return True
    if type(first) is not type(second):
        return False
    if isinstance(first, np.ndarray):
        return first.dtype == second.dtype and np.array_equal(first, second)
    if isinstance(first, Mapping):
        return list(first) == list(second) and _compare_pairs(first.values(), second.values())
    if isinstance(first, (list, tuple)):
        return len(first) == len(second) and _compare_pairs(first, second)
    compares_identity = getattr(type(first), "__eq__", None) is object.__eq__
    if compares_identity and hasattr(first, "__dict__"):
        return bool(vars(first)) and _are_equal(vars(first), vars(second))
    try:
        return bool(first == second)
    except Exception:  # noqa: BLE001  The __eq__ of a user's class may raise any error.
        return False


def have_same_structure(first: Any, second: Any) -> bool:
    """Returns whether two element specs are equal, with containers of the same types and order.

    `==` of element specs ignores the order of a dict, which a model_fn can see, and takes a
    namedtuple for any other tuple.

    Args:
      first: The `element_spec` of a dataset.
      second: The `element_spec` of another dataset.
    """
    if isinstance(first, tf.TypeSpec):
        return bool(first == second)
    if type(first) is not type(second):
        return False
    if isinstance(first, Mapping):
        same_names = list(first) == list(second)
        return same_names and all(have_same_structure(first[name], second[name]) for name in first)
    if isinstance(first, (list, tuple)):
        pairs = zip(first, second, strict=False)
        return len(first) == len(second) and all(have_same_structure(*pair) for pair in pairs)
    return bool(first == second)


def _compare_pairs(first: Iterable[object], second: Iterable[object]) -> bool:
    return all(_are_equal(*pair) for pair in zip(first, second, strict=True))
