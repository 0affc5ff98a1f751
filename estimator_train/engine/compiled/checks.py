"""Checks of a step that XLA leaves out: assertions, ranges of ids and labels, finite numbers.

XLA ignores assertions and takes the nearest row for an id out of range. A compiled step therefore
computes what these operations check, and a session raises an error after a step that fails a check.
The operations are found also within the functions that a step calls.
"""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

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


@dataclasses.dataclass(frozen=True)
class Check:
    """Condition that an operation of a step checks.

    Attributes:
      text: The operation and the condition, for an error.
      inputs: Tensors that the condition takes.
      condition: Returns whether the check succeeds, a bool scalar, from the values of `inputs`.
    """

    text: str
    inputs: tuple[tf.Tensor, ...]
    condition: Callable[..., tf.Tensor]


def find_checks(operations: Iterable[tf.Operation]) -> list[Check]:
    """Returns the checks of the operations of a step, without those in functions that they call."""
    found = sorted(operations, key=lambda operation: operation.name)
    guards = [operation for operation in found if _is_guard(operation)]
    definition = guards[0].graph.as_graph_def() if guards else tf.compat.v1.GraphDef()
    checks = [_make_guard_check(guard, definition) for guard in guards]
    for operation in found:
        if _is_check(operation.node_def):
            rule = _RULES[operation.type]
            text = f"{operation.name} ({operation.type}): {rule.text}"
            checks.append(Check(text, tuple(operation.inputs), rule.condition))
    return checks


def find_unchecked(operations: Iterable[tf.Operation]) -> list[tf.Operation]:
    """Returns the operations that call functions with checks, which XLA leaves out."""
    found = find_operations(operations, _is_check)
    return [op for op in found if not (_is_check(op.node_def) or _is_guard(op))]


def find_first_failure(checks: Sequence[Check], values: Mapping[str, tf.Tensor]) -> tf.Tensor:
    """Returns the number of the first check that fails, from 1 on, or 0: an int32 scalar.

    Args:
      checks: The checks.
      values: Name of each input of a check to its value.
    """
    failure = tf.zeros([], tf.int32)
    # Choices between scalars, which XLA compiles into one operation.
    for number, check in reversed(list(enumerate(checks, 1))):
        succeeds = check.condition(*(values[tensor.name] for tensor in check.inputs))
        failure = tf.where(succeeds, failure, number)
    return failure


def raise_failure(checks: Sequence[Check], failure: tf.Tensor) -> list[tf.Operation]:
    """Adds an operation that raises an InvalidArgumentError if a check failed.

    Args:
      checks: The checks.
      failure: The result of `find_first_failure`.

    Returns:
      The operation; none without checks.
    """
    if not checks:
        return []
    text = tf.gather(["", *(check.text for check in checks)], failure)
    return [tf.raw_ops.Assert(condition=tf.equal(failure, 0), data=[text])]


def _is_check(node: tf.compat.v1.NodeDef) -> bool:
    if node.op in _INTEGER_DIVISIONS:
        return bool(tf.as_dtype(node.attr["T"].type).is_integer)
    return node.op in _RULES


def _is_guard(operation: tf.Operation) -> bool:
    """Returns whether an operation is the `tf.cond` around an assertion."""
    is_cond = operation.type in ("If", "StatelessIf")
    return is_cond and operation.name.rpartition("/")[2].startswith("AssertGuard")


def _make_guard_check(guard: tf.Operation, definition: tf.compat.v1.GraphDef) -> Check:
    texts = [
        text.decode(errors="replace")
        for node in list_called_nodes(guard, definition)
        if node.op == "Const"
        for text in node.attr["value"].tensor.string_val
    ]
    return Check(f"{guard.name}: {' '.join(texts)}", (guard.inputs[0],), _is_true)


def _is_true(asserted: tf.Tensor, *_: tf.Tensor) -> tf.Tensor:
    return asserted


def _find_shape(params: tf.Tensor) -> tf.Tensor:
    """Returns the shape of a tensor, or of the variable whose handle it is, int64."""
    if params.dtype == tf.resource:
        return tf.raw_ops.VariableShape(input=params, out_type=tf.int64)
    return tf.shape(params, tf.int64)


def _are_in_range(indices: tf.Tensor, sizes: tf.Tensor) -> tf.Tensor:
    indices = tf.cast(indices, tf.int64)
    return tf.reduce_all((indices >= 0) & (indices < sizes))


def _are_rows(params: tf.Tensor, indices: tf.Tensor, *axis: tf.Tensor) -> tf.Tensor:
    return _are_in_range(indices, _find_shape(params)[axis[0] if axis else 0])


def _are_places(params: tf.Tensor, indices: tf.Tensor, *_: tf.Tensor) -> tf.Tensor:
    return _are_in_range(indices, _find_shape(params)[: indices.shape[-1]])


def _are_scattered(indices: tf.Tensor, _: tf.Tensor, shape: tf.Tensor) -> tf.Tensor:
    return _are_in_range(indices, tf.cast(shape, tf.int64)[: indices.shape[-1]])


def _are_sparse(indices: tf.Tensor, shape: tf.Tensor, *_: tf.Tensor) -> tf.Tensor:
    return _are_in_range(indices, tf.cast(shape, tf.int64))


def _are_rows_of_variable(handle: tf.Tensor, indices: tf.Tensor, _: tf.Tensor) -> tf.Tensor:
    return _are_rows(handle, indices)


def _are_classes(logits: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    return _are_in_range(labels, tf.shape(logits, tf.int64)[-1])


def _are_segments(_: tf.Tensor, segments: tf.Tensor, count: tf.Tensor) -> tf.Tensor:
    # Negative ones are left out of the sums.
    return tf.reduce_all(tf.cast(segments, tf.int64) < tf.cast(count, tf.int64))


def _are_finite(values: tf.Tensor) -> tf.Tensor:
    return tf.reduce_all(tf.math.is_finite(values))


def _are_divisors(_: tf.Tensor, divisors: tf.Tensor) -> tf.Tensor:
    return tf.reduce_all(tf.not_equal(divisors, 0))


@dataclasses.dataclass(frozen=True)
class _Rule:
    """What operations of a type check.

    Attributes:
      text: The condition that fails.
      condition: Returns whether the check succeeds, from the values of the operation's inputs.
    """

    text: str
    condition: Callable[..., tf.Tensor]


_INDEX = "an index is out of range"
_SCATTERS = ("Add", "Sub", "Mul", "Div", "Update", "Min", "Max")
_INTEGER_DIVISIONS = ("Div", "FloorDiv", "FloorMod", "Mod", "TruncateDiv", "TruncateMod")
_RULES = {
    "Assert": _Rule("the assertion failed", _is_true),
    "CheckNumerics": _Rule("a number is not finite", _are_finite),
    "SparseSoftmaxCrossEntropyWithLogits": _Rule("a label is out of range", _are_classes),
    "ScatterNd": _Rule(_INDEX, _are_scattered),
    "SparseToDense": _Rule(_INDEX, _are_sparse),
    **dict.fromkeys(("Gather", "GatherV2", "ResourceGather"), _Rule(_INDEX, _are_rows)),
    **dict.fromkeys(("GatherNd", "ResourceGatherNd"), _Rule(_INDEX, _are_places)),
    **{f"TensorScatter{name}": _Rule(_INDEX, _are_places) for name in _SCATTERS},
    **{f"ResourceScatterNd{name}": _Rule(_INDEX, _are_places) for name in _SCATTERS},
    **{f"ResourceScatter{name}": _Rule(_INDEX, _are_rows_of_variable) for name in _SCATTERS},
    **{
        f"UnsortedSegment{name}": _Rule("a segment is out of range", _are_segments)
        for name in ("Sum", "Prod", "Min", "Max")
    },
    **dict.fromkeys(_INTEGER_DIVISIONS, _Rule("a divisor is 0", _are_divisors)),
}
