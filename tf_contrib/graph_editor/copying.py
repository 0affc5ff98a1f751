"""Copies of single operations."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import tensorflow as tf

from estimator_train.extension import set_input
from tf_contrib.graph_editor._types import Node
from tf_contrib.graph_editor.naming import placeholder_name
from tf_contrib.graph_editor.subgraph import SubGraphView

_PREDEFINED = {
    value
    for key, value in vars(tf.compat.v1.GraphKeys).items()
    if key.isupper() and isinstance(value, str)
}

_LAST_OF_LOOP = ("NextIteration", "RefNextIteration")


class CopiedPart:
    """The part of a graph that is being copied, and its copies.

    Args:
      sgv: The view.
      graph_: The graph of the copies.
      scope_: The scope of the copies.
      scope: The part of the names that `scope_` replaces.
    """

    def __init__(self, sgv: SubGraphView, graph_: tf.Graph, scope_: str, scope: str) -> None:
        self.sgv = sgv
        self.ops = frozenset(sgv.ops)
        self.graph = sgv.graph or graph_
        self.graph_ = graph_
        self.scope = scope
        self.scope_ = scope_
        self.transformed_ops: dict[tf.Operation, tf.Operation] = {}
        self.transformed_ts: dict[tf.Tensor, tf.Tensor] = {}

    def new_name(self, name: str) -> str:
        """Returns the name of a copy.

        Raises:
          ValueError: The name is not in the scope.
        """
        if not name.startswith(self.scope):
            raise ValueError(f"{name} does not belong to source scope: {self.scope}.")
        return self.scope_ + name.removeprefix(self.scope)

    def close_loop(self, operation: tf.Operation, index: int, tensor: tf.Tensor) -> None:
        """Gives the copy of an operation an input that was copied after it."""
        set_input(self.transformed_ops[operation], index, self.transformed_ts[tensor])


def list_in_order(graph: tf.Graph, operations: Collection[tf.Operation]) -> list[tf.Operation]:
    """Returns operations in the order in which they were made, but each after its inputs.

    An operation takes the results of later ones if its inputs were changed. In a loop, the first
    operation does not come after the last, whose results it takes from the second time on.

    Args:
      graph: Their graph.
      operations: The operations.
    """
    found: dict[tf.Operation, None] = {}
    entered: set[tf.Operation] = set()
    stack = [one for one in reversed(graph.get_operations()) if one in operations]
    while stack:
        operation = stack[-1]
        before = [tensor.op for tensor in operation.inputs if _is_needed(tensor.op, operations)]
        waiting = [one for one in before if one not in entered]
        if operation in entered or not waiting:
            found.setdefault(stack.pop())
        else:
            stack.extend(reversed(waiting))
        entered.add(operation)
    return list(found)


def _is_needed(operation: tf.Operation, operations: Collection[tf.Operation]) -> bool:
    return operation in operations and operation.type not in _LAST_OF_LOOP


def copy_op_handler(
    info: CopiedPart,
    op: tf.Operation,
    new_inputs: Sequence[tf.Tensor],
    copy_shape: bool = False,
    nodedef_fn: Callable[[tf.compat.v1.NodeDef], tf.compat.v1.NodeDef] | None = None,
) -> tuple[tf.Operation, list[tf.Tensor]]:
    """Copies an operation, on the same device and without its control inputs.

    Args:
      info: The copied part.
      op: The operation.
      new_inputs: The inputs of the copy.
      copy_shape: Whether the outputs get the static shapes of the original.
      nodedef_fn: Changes the message that describes the copy, and returns it.

    Returns:
      The copy, and its outputs.

    Raises:
      TypeError: An input is no tensor, or has another dtype.
    """
    for tensor, old in zip(new_inputs, op.inputs, strict=True):
        if not isinstance(tensor, tf.Tensor):
            raise TypeError(f"input needs to be a Tensor: {tensor}")
        if tensor.dtype.base_dtype != old.dtype.base_dtype:
            raise TypeError(
                f"The copy of {op.name} takes {old.name} of {old.dtype.name}; {tensor.name} has "
                f"{tensor.dtype.name}."
            )
    node = tf.compat.v1.NodeDef()
    node.CopyFrom(op.node_def)
    node.name = info.new_name(op.name)
    if nodedef_fn is not None:
        node = nodedef_fn(node)
    graph = info.graph_
    # Without the devices and control inputs of the caller.
    with (
        graph.as_default(),
        graph.control_dependencies(None),
        graph.device(None),
        graph.device(node.device),
    ):
        copied = graph.create_op(
            node.op,
            list(new_inputs),
            [tensor.dtype for tensor in op.outputs],
            [tensor.dtype for tensor in op.inputs],
            node.name,
            dict(node.attr),
            op.op_def,
        )
    if copy_shape:
        for tensor, old in zip(copied.outputs, op.outputs, strict=True):
            tensor.set_shape(old.shape)
    return copied, list(copied.outputs)


def replace_t_with_placeholder_handler(info: CopiedPart, t: tf.Tensor) -> tf.Tensor:
    """Returns a placeholder for a tensor, in the graph and the scope of the copies."""
    with info.graph_.as_default():
        return tf.compat.v1.placeholder(t.dtype, t.shape, placeholder_name(t, info.scope_))


def keep_t_if_possible_handler(info: CopiedPart, t: tf.Tensor) -> tf.Tensor:
    """Returns the same tensor, or a placeholder if the copies are in another graph."""
    return t if info.graph is info.graph_ else replace_t_with_placeholder_handler(info, t)


def transform_op_if_inside_handler(
    info: CopiedPart, op: tf.Operation, keep_if_possible: bool = True
) -> tf.Operation | None:
    """Returns the copy of an operation, or the same one if it was not copied.

    Args:
      info: The copied part.
      op: The operation.
      keep_if_possible: Whether to return the same operation in the same graph; otherwise None.
    """
    if op in info.ops:
        return info.transformed_ops[op]
    return op if keep_if_possible and info.graph is info.graph_ else None


def assign_renamed_collections_handler(info: CopiedPart, elem: Node, elem_: Node) -> None:
    """Adds a copy to the collections of its original.

    Collections that TensorFlow does not define get the new scope in their names.

    Args:
      info: The copied part.
      elem: The original.
      elem_: The copy.
    """
    for key in info.graph.get_all_collection_keys():
        if any(one is elem for one in info.graph.get_collection_ref(key)):
            is_renamed = isinstance(key, str) and key not in _PREDEFINED
            new = info.new_name(key) if is_renamed and key.startswith(info.scope) else key
            info.graph_.add_to_collection(new, elem_)
