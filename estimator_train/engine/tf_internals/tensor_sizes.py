"""Sizes of tensors, and division of a list by them."""

from collections.abc import Iterable
from typing import Any, TypeVar

_Entry = TypeVar("_Entry")


def count_bytes(value: Any) -> int:
    """Returns the size of a tensor or variable in bytes; 0 for other objects and unknown shapes."""
    shape = getattr(value, "shape", None)
    return 0 if shape is None else int(shape.num_elements() or 0) * int(value.dtype.size)


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
