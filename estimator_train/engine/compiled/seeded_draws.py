"""Operations of a step that draw random numbers by a seed."""

from collections.abc import Iterable, Iterator

import tensorflow as tf

_SEEDS = ("seed", "seed2")


def find_seeded_draws(operations: Iterable[tf.Operation]) -> list[tf.Operation]:
    """Returns the operations that draw by a seed, also within a function that they call.

    An operation of TensorFlow 1 keeps a generator in itself, which its seeds begin; without seeds
    it begins anywhere. Stateless operations and those of `tf.random.Generator` are not returned:
    their state is in a tensor or a variable.

    Args:
      operations: Operations of one graph.
    """
    operations = list(operations)
    callers = {op: list(_list_functions(op.node_def)) for op in operations}
    drawing: set[str] = set()
    if any(callers.values()):
        drawing = _find_drawing_functions(operations[0].graph.as_graph_def())
    return [
        op for op in operations if _has_seed(op.node_def) or not drawing.isdisjoint(callers[op])
    ]


def _find_drawing_functions(definition: tf.compat.v1.GraphDef) -> set[str]:
    """Returns the names of the functions that draw by a seed, or call one that does."""
    functions = definition.library.function
    nodes = {function.signature.name: function.node_def for function in functions}
    drawing = {name for name, found in nodes.items() if any(map(_has_seed, found))}
    calls = {
        name: {called for node in found for called in _list_functions(node)}
        for name, found in nodes.items()
    }
    while more := {name for name in calls if calls[name] & drawing} - drawing:
        drawing |= more
    return drawing


def _has_seed(node: tf.compat.v1.NodeDef) -> bool:
    return any(node.attr[name].i for name in _SEEDS if name in node.attr)


def _list_functions(node: tf.compat.v1.NodeDef) -> Iterator[str]:
    """Yields the names of the functions that a node calls."""
    for value in node.attr.values():
        for function in (value.func, *value.list.func):
            if function.name:
                yield function.name
