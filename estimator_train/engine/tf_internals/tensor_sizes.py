"""Sizes of tensors and of a graph's constants, and division of a list by sizes."""

import weakref
from collections.abc import Iterable
from typing import Any, TypeVar

import tensorflow as tf

_Entry = TypeVar("_Entry")
# The operations of a graph that were counted, and the bytes of the constants among them.
_counted: weakref.WeakKeyDictionary[tf.Graph, tuple[int, int]] = weakref.WeakKeyDictionary()


def count_bytes(value: Any) -> int:
    """Returns the size of a tensor or variable in bytes; 0 for other objects and unknown shapes."""
    shape = getattr(value, "shape", None)
    return 0 if shape is None else int(shape.num_elements() or 0) * int(value.dtype.size)


def count_constant_bytes(graph: tf.Graph) -> int:
    """Returns the size of a graph's constants in bytes.

    Operations stay in a graph as they are, so that each call counts only those that are new.
    """
    number, size = _counted.get(graph, (0, 0))
    operations = graph.get_operations()
    new = (one.outputs[0] for one in operations[number:] if one.type == "Const")
    size += sum(map(count_bytes, new))
    _counted[graph] = len(operations), size
    return size


def divide(entries: Iterable[_Entry], tensors: Iterable[Any], min_bytes: int) -> list[list[_Entry]]:
    """Returns entries in parts of at least `min_bytes`, in their order; the last may be smaller.

    Args:
      entries: The entries.
      tensors: The tensor or variable of each entry; another object has no size.
      min_bytes: Minimum size of a part.
    """
    parts: list[list[_Entry]] = [[]]
    size = 0
    for entry, tensor in zip(entries, tensors, strict=True):
        if size >= min_bytes:
            parts.append([])
            size = 0
        parts[-1].append(entry)
        size += count_bytes(tensor)
    return parts
