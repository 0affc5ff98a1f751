"""Operations of graphs, and those that they need."""

from collections.abc import Callable, Iterable, Iterator

import tensorflow as tf


def list_operations_before(operation: tf.Operation) -> list[tf.Operation]:
    """Returns the operations whose end or result an operation needs."""
    return [*operation.control_inputs, *(tensor.op for tensor in operation.inputs)]


def walk(
    targets: Iterable[tf.Operation],
    before: Callable[[tf.Operation], Iterable[tf.Operation]] = list_operations_before,
) -> Iterator[tf.Operation]:
    """Yields operations and those that they need, each once.

    Args:
      targets: The operations to begin with.
      before: Returns the operations to continue with after one was yielded.
    """
    seen: set[tf.Operation] = set()
    stack = [*targets]
    while stack:
        operation = stack.pop()
        if operation not in seen:
            seen.add(operation)
            yield operation
            stack.extend(before(operation))
