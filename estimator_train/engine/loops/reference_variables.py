"""Reference variables, those of TensorFlow 1, in a loop of steps.

The body of a loop cannot use a reference variable. So the loop works on copies, which are resource
variables: they get the values before the first step, and the variables get theirs after the last.
In the body, each operation that updates a reference variable becomes the one that updates a
resource variable, and each that reads one gets a separate read.

What TensorFlow 1 calls the read of a variable shares its memory: an operation sees the value at the
time when it runs itself, as after the updates that it waits for. The reads in the body therefore
wait for all updates of their variable that precede the reading operation. They wait for nothing
else: TensorFlow fuses some operations, such as a convolution and the addition of its bias, and the
fused operation would wait for itself if the read of the bias waited for the convolution.
"""

import functools
import operator
from collections.abc import Collection, Iterable, Iterator, Sequence

import tensorflow as tf

from estimator_train.engine.tf_internals import graphs
from estimator_train.engine.tf_internals.constants import count_bytes

VARIABLE_TYPES = ("Variable", "VariableV2")
# The copies take memory and time; large steps gain little from a loop.
_MAX_BYTES = 64 * 2**20
# A sparse update would copy all of a variable that a read still holds.
_MAX_SPARSE_BYTES = 2**20
_ASSIGNMENTS = {
    "Assign": "AssignVariableOp",
    "AssignAdd": "AssignAddVariableOp",
    "AssignSub": "AssignSubVariableOp",
}
_SPARSE = ("Scatter", "SparseApply")
_FRAMES = ("Switch", "Merge", "Enter", "Exit", "NextIteration", "LoopCond")


def is_reference(tensor: tf.Tensor) -> bool:
    """Returns whether a tensor is a reference to a variable of TensorFlow 1 or to a queue."""
    return tensor.dtype != tensor.dtype.base_dtype


def find_obstacle(operations: Iterable[tf.Operation], variables: Sequence[tf.Operation]) -> str:
    """Returns why a step cannot run on copies of its reference variables; "" if it can.

    Args:
      operations: The operations of the step.
      variables: The reference variables that they use.
    """
    for variable in variables:
        if tf.DeviceSpec.from_string(variable.device).job not in (None, "localhost"):
            return f"'{variable.name}' is a reference variable of another task"
        if not variable.outputs[0].shape.is_fully_defined():
            return f"'{variable.name}' is a reference variable of unknown shape"
    size = sum(count_bytes(variable.outputs[0]) for variable in variables)
    if size > _MAX_BYTES:
        return f"its reference variables have {size / 2**20:.0f} MB"
    for operation in operations:
        if operation.type in _FRAMES:
            return f"'{operation.name}' is control flow of TensorFlow 1, beside reference variables"
        if not _changes(operation):
            continue
        if _find_resource_type(operation) is None:
            return f"'{operation.name}' ({operation.type}) changes a reference variable"
        is_large = count_bytes(operation.inputs[0]) > _MAX_SPARSE_BYTES
        if is_large and operation.type.startswith(_SPARSE):
            return f"'{operation.name}' updates some rows of a large reference variable"
    return ""


class Copies:
    """Copies of reference variables, in no collection.

    Args:
      variables: The variables, operations of the default graph.

    Attributes:
      handles: The copies, by the names of the tensors of the variables.
    """

    def __init__(self, variables: Sequence[tf.Operation]) -> None:
        self._variables = variables
        self.handles: dict[str, tf.Tensor] = {}
        for variable in variables:
            reference = variable.outputs[0]
            with tf.device(variable.device), tf.name_scope("steps_per_loop"):
                name = tf.compat.v1.get_default_graph().unique_name("copy", mark_as_used=False)
                self.handles[reference.name] = tf.raw_ops.VarHandleOp(
                    dtype=reference.dtype.base_dtype, shape=reference.shape, shared_name=name
                )

    def load(self) -> list[tf.Operation]:
        """Returns operations that set the copies to the values of the variables."""
        return [
            tf.raw_ops.AssignVariableOp(
                resource=self.handles[variable.outputs[0].name],
                value=tf.identity(variable.outputs[0]),
            )
            for variable in self._variables
        ]

    def store(self) -> tf.Operation:
        """Returns an operation that sets the variables to the values of the copies."""
        stores = []
        for variable in self._variables:
            reference = variable.outputs[0]
            value = tf.raw_ops.ReadVariableOp(
                resource=self.handles[reference.name], dtype=reference.dtype.base_dtype
            )
            stores.append(tf.raw_ops.Assign(ref=reference, value=value).op)
        return tf.group(*stores)

    def store_after(self, results: Sequence[tf.Tensor]) -> tuple[tf.Tensor, ...]:
        """Returns results of the loop that are available when the variables have its values."""
        with tf.control_dependencies(results):
            stored = self.store()
        with tf.control_dependencies([stored]):
            return tuple(map(tf.identity, results))


def use_copies(
    definition: tf.compat.v1.GraphDef, graph: tf.Graph, kept: Collection[tf.Operation]
) -> None:
    """Rewrites operations for copies in the place of reference variables.

    Args:
      definition: The operations, without the variables; changed in place.
      graph: The graph that they are from.
      kept: Operations that the loop uses by their names.
    """
    nodes = [*definition.node]
    names = {node.name for node in nodes}
    operations = {name: graph.get_operation_by_name(name) for name in names}
    updates = _Updates(operations.values())
    named = {name[1:] for node in nodes for name in node.input if name.startswith("^")}
    named |= {operation.name for operation in kept}
    del definition.node[:]
    for node in nodes:
        operation = operations[node.name]
        is_read = operation.type == "Identity" and _shares_memory(operation.inputs[0])
        if not is_read or node.name in named:  # All that use a read get a separate one.
            definition.node.extend(_rewrite(node, operation, names, updates))


class _Updates:
    """Updates of reference variables, and the operations that they precede.

    Args:
      operations: The operations of a step; no cycle connects them.
    """

    def __init__(self, operations: Collection[tf.Operation]) -> None:
        updates = [operation for operation in operations if _changes(operation)]
        # Sets of updates are integers with a bit for each: a step may have hundreds of updates.
        self._bits = {update: 1 << place for place, update in enumerate(updates)}
        self._before = self._accumulate(set(operations))
        self._of_variable: dict[tf.Operation, list[tf.Operation]] = {}
        for update in updates:
            for index, tensor in enumerate(update.inputs):
                if _changes(update, index):
                    variable, _ = _trace(tensor)
                    self._of_variable.setdefault(variable, []).append(update)

    def find(self, variable: tf.Operation, reader: tf.Operation) -> list[str]:
        """Returns the names of the updates of a variable that precede an operation."""
        updates = self._of_variable.get(variable, ())
        return [u.name for u in updates if self._bits[u] & self._before[reader]]

    def _accumulate(self, operations: set[tf.Operation]) -> dict[tf.Operation, int]:
        """Returns the set of the updates that precede each operation, directly or not."""
        found: dict[tf.Operation, int] = {}
        stack = [*operations]
        while stack:
            operation = stack[-1]
            before = operations.intersection(graphs.list_operations_before(operation))
            if missing := [other for other in before if other not in found]:
                stack += missing
                continue
            found[stack.pop()] = functools.reduce(
                operator.or_, (found[other] | self._bits.get(other, 0) for other in before), 0
            )
        return found


def _rewrite(
    node: tf.compat.v1.NodeDef, operation: tf.Operation, names: set[str], updates: _Updates
) -> Iterator[tf.compat.v1.NodeDef]:
    """Yields the nodes for an operation: reads of the copies that it takes, and its new form.

    Args:
      node: The operation's node.
      operation: The operation.
      names: Names of the operations that the loop has; those of reads are added.
      updates: The updates among the operations of the step.
    """
    inputs = list(node.input)[: len(operation.inputs)]
    controls = list(node.input)[len(inputs) :]
    shared = {i: tensor for i, tensor in enumerate(operation.inputs) if _shares_memory(tensor)}
    for index, tensor in shared.items():
        variable, after = _trace(tensor)
        controls += (f"^{before.name}" for before in after if before.name in names)
        if _changes(operation, index):
            inputs[index] = variable.name
            continue
        read = tf.compat.v1.NodeDef(op="ReadVariableOp", device=node.device)
        read.name = inputs[index] = _choose_name(f"{node.name}/read_{index}", names)
        read.attr["dtype"].type = tensor.dtype.base_dtype.as_datatype_enum
        read.input[:] = [variable.name, *(f"^{name}" for name in updates.find(variable, operation))]
        yield read
    node.input[:] = [*inputs, *dict.fromkeys(controls)]
    if _changes(operation):
        _convert_update(node, str(_find_resource_type(operation)))
    yield node


def _convert_update(node: tf.compat.v1.NodeDef, resource_type: str) -> None:
    """Changes an update of a reference variable to one of a resource variable."""
    is_scatter = node.op.startswith("Scatter") and not node.op.startswith("ScatterNd")
    if node.op in _ASSIGNMENTS or is_scatter:
        attributes = {"dtype": node.attr["T"]}
        if is_scatter:
            attributes["Tindices"] = node.attr["Tindices"]
    else:
        attributes = {name: node.attr[name] for name in node.attr if not name.startswith("_")}
    converted = tf.compat.v1.NodeDef(attr=attributes)
    node.op = resource_type
    node.attr.clear()
    node.MergeFrom(converted)


def _choose_name(name: str, names: set[str]) -> str:
    """Returns a name that no operation has, and adds it to the names."""
    while name in names:
        name += "_"
    names.add(name)
    return name


def _changes(operation: tf.Operation, index: int | None = None) -> bool:
    """Returns whether an operation changes the reference that it takes, at one input or at any."""
    arguments = operation.op_def.input_arg
    if index is None:
        return any(argument.is_ref for argument in arguments)
    return index < len(arguments) and bool(arguments[index].is_ref)


def _find_resource_type(operation: tf.Operation) -> str | None:
    """Returns the type of operation that updates a resource variable as one does a reference."""
    if operation.type == "Assign" and not operation.get_attr("validate_shape"):
        return None
    name = _ASSIGNMENTS.get(operation.type, f"Resource{operation.type}")
    return name if hasattr(tf.raw_ops, name) else None


def _shares_memory(tensor: tf.Tensor) -> bool:
    """Returns whether a tensor is a reference variable, or one that TensorFlow calls its read."""
    return is_reference(tensor) or (
        tensor.op.type == "Identity" and _shares_memory(tensor.op.inputs[0])
    )


def _trace(tensor: tf.Tensor) -> tuple[tf.Operation, list[tf.Operation]]:
    """Returns the variable whose memory a tensor shares, and operations that the tensor waits for.

    Args:
      tensor: The tensor.
    """
    operation = tensor.op
    if operation.type in VARIABLE_TYPES:
        return operation, []
    variable, after = _trace(operation.inputs[0])
    if operation.type == "Identity":
        return variable, [*after, *operation.control_inputs]
    return variable, [operation]
