"""Operations of a step: found in the graph of the model, and copied into the body of a loop."""

import dataclasses
import functools
from collections.abc import Collection, Iterable, Sequence

import tensorflow as tf

from estimator_train.engine.loops.reference_variables import (
    VARIABLE_TYPES,
    Copies,
    find_obstacle,
    is_reference,
    use_copies,
)
from estimator_train.engine.loops.row_updates import ROW_UPDATES, replace_row_updates
from estimator_train.engine.tf_internals import graphs
from estimator_train.engine.tf_internals.graphs import has_dependents


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

    def copy(self, inputs: dict[str, tf.Tensor], name: str) -> list[tf.Tensor]:
        """Copies the operations into the body of the loop.

        Args:
          inputs: Their other inputs in the body, by the names outside.
          name: Name scope of the copies.

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
            replace_row_updates(definition, self.needed)
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
