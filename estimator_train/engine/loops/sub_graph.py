"""Operations of a step: found in the graph of the model, and copied into the body of a loop.

TensorFlow's kernels of Adagrad take 0.2 to 0.5 microseconds for a row of an embedding. To gather
the rows, to compute all of them, and to write them takes a fifth of that. The numbers are equal to
the last bit. The kernels lock a variable, and separate operations do not, so that nothing else in
the step may write it.
"""

import dataclasses
import functools
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence

import tensorflow as tf

from estimator_train.engine.loops.reference_variables import (
    VARIABLE_TYPES,
    Copies,
    find_obstacle,
    is_reference,
    use_copies,
)
from estimator_train.engine.tf_internals import graphs
from estimator_train.engine.tf_internals.graphs import has_dependents
from estimator_train.engine.types import Rewrite

# The types of the updates, with the places of the gradient's inputs: values, and rows.
ROW_UPDATES = {"ResourceSparseApplyAdagradV2": (4, 5), "ResourceSparseApplyAdagrad": (3, 4)}
# A row of one number is updated sooner by the kernel, and one of 256 numbers as soon.
_WIDTHS = range(2, 129)
_READS = ("ReadVariableOp", "ResourceGather", "VarIsInitializedOp", "VariableShape")
# Without an epsilon, the kernel takes reciprocal square roots of vectors, and others of their rest.
_MAX_VECTOR = 16
_UNIQUE = ("Unique", "UniqueV2")


class NotLoopableError(Exception):
    """Error for a step whose graph cannot run in a loop; the message names the reason."""


@dataclasses.dataclass(frozen=True)
class SubGraph:
    """Operations that a loop runs.

    Attributes:
      operation: The operation that runs them.
      outputs: Tensors of theirs.
      needed: The operations.
      captured: Handles of the state that they use: resources and reference variables.
      copies: Copies of the reference variables for the loop; None without such variables.
    """

    operation: tf.Operation
    outputs: Sequence[tf.Tensor]
    needed: set[tf.Operation]
    captured: list[tf.Tensor]
    copies: Copies | None

    def capture(self) -> dict[str, tf.Tensor]:
        """Captures the handles in the body of the loop; returns them by their names outside."""
        body = tf.compat.v1.get_default_graph()
        copied = {} if self.copies is None else self.copies.handles
        return {h.name: body.capture(copied.get(h.name, h)) for h in self.captured}

    def copy(
        self, inputs: dict[str, tf.Tensor], name: str, rewrite: Rewrite | None = None
    ) -> list[tf.Tensor]:
        """Copies the operations into the body of the loop.

        Args:
          inputs: Their other inputs in the body, by the names outside.
          name: Name scope of the copies.
          rewrite: Function that changes the definition of the copies; None for none.

        Returns:
          The copies of `outputs`, available when the copy of `operation` has run.
        """
        names = [self.operation.name, *(tensor.name for tensor in self.outputs)]
        definition = self.define(self.needed)
        _wait_for_arguments(definition, self.needed)
        if self.copies is not None:
            kept = [self.operation, *(tensor.op for tensor in self.outputs)]
            use_copies(definition, self.operation.graph, kept)
        if any(operation.type in ROW_UPDATES for operation in self.needed):
            _replace_row_updates(definition, self.needed)
        if rewrite is not None:
            rewrite(definition, self.needed)
        ran, *values = tf.import_graph_def(definition, inputs, names, name=name)
        with tf.control_dependencies([ran]):
            # An import forgets the shape of what a tf.cond returns.
            return [
                tf.ensure_shape(value, tensor.shape)
                for value, tensor in zip(values, self.outputs, strict=True)
            ]

    def define(self, needed: set[tf.Operation]) -> tf.compat.v1.GraphDef:
        """Returns the GraphDef of some operations; an import has to give their other inputs."""
        complete = self.operation.graph.as_graph_def()
        definition = tf.compat.v1.GraphDef(versions=complete.versions, library=complete.library)
        names = {operation.name for operation in needed}
        definition.node.extend(node for node in complete.node if node.name in names)
        for node in definition.node:
            inputs = [name for name in node.input if not name.startswith("^") or name[1:] in names]
            if len(inputs) < len(node.input):
                node.input[:] = inputs
            # A colocation may name an operation outside of the loop; nodes have devices already.
            node.attr.pop("_class", None)
        return definition


def find_sub_graph(
    operation: tf.Operation,
    outputs: Sequence[tf.Tensor],
    excluded_operations: Collection[tf.Operation] = (),
) -> SubGraph:
    """Returns the operations that a loop runs, and the state that they use.

    Args:
      operation: The operation to run.
      outputs: Tensors to compute, of the same graph.
      excluded_operations: Control inputs that are left out.

    Raises:
      NotLoopableError: An operation cannot run in a loop.
    """
    # All gates wait for the same updates if the gradients were computed after these.
    find_gates = functools.cache(_find_gates)

    def before(operation: tf.Operation) -> list[tf.Operation]:
        if _is_handle(operation):
            return []
        controls: Iterable[tf.Operation] = (
            control for control in operation.control_inputs if control not in excluded_operations
        )
        if operation.name.endswith("_grad/tuple/group_deps"):
            controls = (control for control in controls if operation not in find_gates(control))
        return [*(tensor.op for tensor in operation.inputs), *controls]

    needed: set[tf.Operation] = set()
    captured: list[tf.Tensor] = []
    for found in graphs.walk([operation, *(tensor.op for tensor in outputs)], before):
        if _is_handle(found):
            captured.append(found.outputs[0])
        else:
            _check_loopable(found)
            needed.add(found)
    return SubGraph(
        operation, outputs, needed, captured, _copy_references(needed, captured, outputs)
    )


def _copy_references(
    needed: set[tf.Operation], captured: Sequence[tf.Tensor], outputs: Sequence[tf.Tensor]
) -> Copies | None:
    """Returns copies of the reference variables of a step; None without such variables.

    Raises:
      NotLoopableError: The step cannot run on copies.
    """
    variables = [tensor.op for tensor in captured if is_reference(tensor)]
    if not variables:
        return None
    if any(map(is_reference, outputs)):
        raise NotLoopableError("its loss is a reference")
    if obstacle := find_obstacle(needed, variables):
        raise NotLoopableError(obstacle)
    return Copies(variables)


def _wait_for_arguments(
    definition: tf.compat.v1.GraphDef, operations: Iterable[tf.Operation]
) -> None:
    """Makes calls of functions with state wait for all of their arguments, as in a session.

    A loop inlines them. At the end of the input it would run the operations that need no data, such
    as the count of batches in a metric of Keras, once more.
    """
    arguments = {
        call.name: [f"^{tensor.op.name}" for tensor in call.inputs if not _is_handle(tensor.op)]
        for call in operations
        if call.type == "StatefulPartitionedCall"
    }
    for node in definition.node:
        added = dict.fromkeys(arguments.get(node.name, ()))
        node.input.extend(name for name in added if name not in node.input)


def _find_gates(operation: tf.Operation) -> frozenset[tf.Operation]:
    """Returns the gates, which wait for all gradients of a layer, that alone need an operation.

    The gradient by the first layer's input is one: as much work as the layer itself.
    """
    consumers = [user for tensor in operation.outputs for user in tensor.consumers()]
    if (
        not consumers
        or operation.op_def.is_stateful
        or any(user.type != "Identity" or has_dependents(user) for user in consumers)
    ):
        return frozenset()
    return frozenset.intersection(*(frozenset(user.control_inputs) for user in consumers))


def _is_handle(operation: tf.Operation) -> bool:
    """Returns whether an operation only names state: a variable, an iterator or a table."""
    if operation.type in VARIABLE_TYPES:
        return True
    outputs = operation.outputs
    if len(outputs) != 1 or outputs[0].dtype != tf.resource:
        return False
    # The inputs of a dense table are its keys for empty and deleted entries.
    return not operation.inputs or operation.type == "MutableDenseHashTableV2"


def _check_loopable(operation: tf.Operation) -> None:
    if not operation.inputs and any(map(is_reference, operation.outputs)):
        raise NotLoopableError(f"'{operation.name}' ({operation.type}) gives a reference")
    if operation.type == "Placeholder":
        raise NotLoopableError(f"the placeholder '{operation.name}' must be fed at every step")
    if "Queue" in operation.type:
        raise NotLoopableError(f"'{operation.name}' reads a queue")


def _replace_row_updates(
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
