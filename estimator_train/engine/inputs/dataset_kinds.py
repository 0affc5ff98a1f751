"""What kinds of operations make the datasets of a graph."""

import re
from collections.abc import Iterator

import tensorflow as tf

_KIND = re.compile(r"(\w+?)Dataset(V\d+)?")


def kind_of(operation: tf.Operation) -> str | None:
    """The kind of dataset that an operation makes, such as "Batch"; None if it makes none."""
    return kind_named(operation.type)


def kind_named(operation_type: str) -> str | None:
    """The kind of dataset that operations of a type make; None if they make none."""
    found = _KIND.fullmatch(operation_type)
    return found[1] if found else None


def datasets_before(operation: tf.Operation) -> Iterator[tf.Operation]:
    """An operation that makes a dataset, and those that make the datasets that it reads."""
    yield operation
    for tensor in operation.inputs:
        if tensor.dtype == tf.variant:
            yield from datasets_before(tensor.op)
