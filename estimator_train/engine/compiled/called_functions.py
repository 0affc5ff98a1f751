"""Operations of a graph by their properties, also within the functions that they call."""

from collections.abc import Callable, Iterable, Iterator

import tensorflow as tf


def find_operations(
    operations: Iterable[tf.Operation], condition: Callable[[tf.compat.v1.NodeDef], bool]
) -> list[tf.Operation]:
    """Returns the operations that meet a condition, or call a function with such an operation.

    Args:
      operations: Operations of one graph.
      condition: Whether a node meets the condition.
    """
    operations = list(operations)
    callers = {op: list(_list_functions(op.node_def)) for op in operations}
    found: set[str] = set()
    if any(callers.values()):
        found = _find_functions(operations[0].graph.as_graph_def(), condition)
    return [op for op in operations if condition(op.node_def) or not found.isdisjoint(callers[op])]


def list_called_nodes(
    operation: tf.Operation, definition: tf.compat.v1.GraphDef
) -> list[tf.compat.v1.NodeDef]:
    """Returns the nodes of the functions that an operation calls itself.

    Args:
      operation: The operation.
      definition: The definition of its graph.
    """
    called = set(_list_functions(operation.node_def))
    functions = definition.library.function
    return [
        node for inner in functions if inner.signature.name in called for node in inner.node_def
    ]


def _find_functions(
    definition: tf.compat.v1.GraphDef, condition: Callable[[tf.compat.v1.NodeDef], bool]
) -> set[str]:
    """Returns the names of the functions with such an operation, or with a call of one."""
    functions = definition.library.function
    nodes = {function.signature.name: function.node_def for function in functions}
    found = {name for name, inner in nodes.items() if any(map(condition, inner))}
    calls = {
        name: {called for node in inner for called in _list_functions(node)}
        for name, inner in nodes.items()
    }
    while more := {name for name in calls if calls[name] & found} - found:
        found |= more
    return found


def _list_functions(node: tf.compat.v1.NodeDef) -> Iterator[str]:
    """Yields the names of the functions that a node calls."""
    for value in node.attr.values():
        for function in (value.func, *value.list.func):
            if function.name:
                yield function.name
