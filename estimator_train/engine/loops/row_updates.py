"""Updates of rows of an embedding in a loop, with the same numbers in less time.

TensorFlow's kernels of Adagrad take 0.2 to 0.5 microseconds for a row. To gather the rows, to
compute all of them, and to write them takes a fifth of that. The numbers are equal to the last bit.
The kernels lock a variable, and separate operations do not, so that nothing else in the step may
write it.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

import tensorflow as tf

# The types of the updates, with the places of the gradient's inputs: values, and rows.
ROW_UPDATES = {"ResourceSparseApplyAdagradV2": (4, 5), "ResourceSparseApplyAdagrad": (3, 4)}
# A row of one number is updated sooner by the kernel, and one of 256 numbers as soon.
_WIDTHS = range(2, 129)
_READS = ("ReadVariableOp", "ResourceGather", "VarIsInitializedOp", "VariableShape")
# Without an epsilon, the kernel takes reciprocal square roots of vectors, and others of their rest.
_MAX_VECTOR = 16
_UNIQUE = ("Unique", "UniqueV2")


def replace_row_updates(
    definition: tf.compat.v1.GraphDef, operations: Iterable[tf.Operation]
) -> None:
    """Replaces updates of rows by operations with the same results, where that is safe.

    Args:
      definition: The operations of a step; changed in place. The last of the operations that
        replace an update has its name.
      operations: The same operations in the graph of the model.
    """
    updates = {operation.name: operation for operation in _find_updates([*operations])}
    nodes = [*definition.node]
    del definition.node[:]
    for node in nodes:
        update = updates.get(node.name)
        definition.node.extend(_write_update(node, update) if update else [node])


def _find_updates(operations: list[tf.Operation]) -> list[tf.Operation]:
    """Returns the updates that operations without a lock can replace."""
    if tf.config.list_physical_devices("GPU"):  # They have kernels of their own.
        return []
    writes = Counter(
        _name_variable(tensor)
        for operation in operations
        for tensor in operation.inputs
        if tensor.dtype == tf.resource and operation.type not in _READS
    )
    updates = [operation for operation in operations if operation.type in ROW_UPDATES]
    return [update for update in updates if _is_replaceable(update, writes)]


def _is_replaceable(update: tf.Operation, writes: Counter[object]) -> bool:
    """Returns whether an update is the only one of its variables, of float32 and of unique rows."""
    values, rows = (update.inputs[place] for place in ROW_UPDATES[update.type])
    handles = update.inputs[:2]
    return (
        values.dtype == tf.float32
        and update.get_attr("update_slots")
        and all(handle.op.type == "VarHandleOp" for handle in handles)
        and all(writes[_name_variable(handle)] == 1 for handle in handles)
        and _are_unique(rows)
        and _has_suitable_width(update)
    )


def _name_variable(handle: tf.Tensor) -> object:
    """Returns what handles of one variable have in common; two of them may have the same name."""
    if handle.op.type != "VarHandleOp":
        return handle.name
    return handle.op.get_attr("container"), handle.op.get_attr("shared_name")


def _are_unique(rows: tf.Tensor) -> bool:
    """Returns whether no row repeats, because of an operation that took one of each."""
    while rows.op.type in ("Identity", "Reshape"):
        rows = rows.op.inputs[0]
    return rows.op.type in _UNIQUE and rows.value_index == 0


def _has_suitable_width(update: tf.Operation) -> bool:
    width = tf.TensorShape(update.inputs[0].op.get_attr("shape"))[1:].num_elements()
    has_epsilon = update.type == "ResourceSparseApplyAdagradV2"
    return width in _WIDTHS and (has_epsilon or width % _MAX_VECTOR == 0)


def _write_update(
    node: tf.compat.v1.NodeDef, update: tf.Operation
) -> Iterator[tf.compat.v1.NodeDef]:
    """Yields the operations that replace an update.

    accumulator += gradient²; variable -= learning rate · gradient / (√accumulator + epsilon): the
    order of the kernel, and the same roundings.
    """
    controls = [name for name in node.input if name.startswith("^")]
    variable, accumulator, rate, *epsilon = node.input[: ROW_UPDATES[update.type][0]]
    values, rows = (node.input[place] for place in ROW_UPDATES[update.type])

    def write(name: str, kind: str, *inputs: str) -> tf.compat.v1.NodeDef:
        new = tf.compat.v1.NodeDef(name=name, op=kind, input=inputs, device=node.device)
        of_values = "dtype" if kind.startswith("Resource") else "T"
        new.attr[of_values].type = tf.float32.as_datatype_enum
        if kind.startswith("Resource"):
            new.attr["Tindices"].CopyFrom(node.attr["Tindices"])
        return new

    def name(part: str) -> str:
        return f"{node.name}/{part}"

    yield write(name("old_sums"), "ResourceGather", accumulator, rows, *controls)
    yield write(name("squares"), "Square", values)
    yield write(name("sums"), "AddV2", name("old_sums"), name("squares"))
    yield write(name("write_sums"), "ResourceScatterUpdate", accumulator, rows, name("sums"))
    yield write(name("scaled"), "Mul", rate, values)
    if epsilon:
        yield write(name("roots"), "Sqrt", name("sums"))
        yield write(name("divisors"), "AddV2", name("roots"), *epsilon)
        yield write(name("changes"), "RealDiv", name("scaled"), name("divisors"))
    else:
        yield write(name("roots"), "Rsqrt", name("sums"))
        yield write(name("changes"), "Mul", name("scaled"), name("roots"))
    yield write(name("old_rows"), "ResourceGather", variable, rows, *controls)
    yield write(name("rows"), "Sub", name("old_rows"), name("changes"))
    last = f"^{name('write_sums')}"
    yield write(node.name, "ResourceScatterUpdate", variable, rows, name("rows"), last)
