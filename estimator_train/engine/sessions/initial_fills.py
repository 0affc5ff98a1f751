"""Initialization of large variables of equal numbers, such as Adagrad's slots, without constants.

A session expands a constant before it runs it, in one thread, and keeps it until the session is
closed: as much memory again as the slots.
"""

from collections.abc import Iterator

import numpy as np
import tensorflow as tf

from estimator_train.engine.tf_internals import graph_edits, graphs
from estimator_train.engine.tf_internals.tensor_sizes import count_bytes

_LARGE_BYTES = 2**20


def fill_variables(scaffold: tf.compat.v1.train.Scaffold) -> tf.compat.v1.train.Scaffold:
    """Returns a Scaffold that initializes the same variables to the same values.

    Args:
      scaffold: The model's finalized Scaffold.

    Returns:
      A copy whose `init_op` fills large variables that `scaffold.init_op` assigns a constant of
      equal numbers; `scaffold` itself without such variables.
    """
    if not isinstance(scaffold.init_op, tf.Operation):
        return scaffold
    initializers = list(_list_grouped(scaffold.init_op))
    fed = {getattr(key, "name", key) for key in scaffold.init_feed_dict or {}}
    numbers = {initializer: _find_number(initializer, fed) for initializer in initializers}
    if all(number is None for number in numbers.values()):
        return scaffold
    graph = scaffold.init_op.graph
    with graph_edits.reopen_for_context(graph), graph.as_default(), tf.name_scope("initial_fills"):
        init_op = [
            initializer if number is None else _fill(initializer, number)
            for initializer, number in numbers.items()
        ]
    return tf.compat.v1.train.Scaffold(init_op=init_op, copy_from_scaffold=scaffold)


def _list_grouped(group: tf.Operation) -> Iterator[tf.Operation]:
    """Yields the operations of a `tf.group`, also of groups in it."""

    def before(operation: tf.Operation) -> list[tf.Operation]:
        return operation.control_inputs if operation.type == "NoOp" else []

    return (found for found in graphs.walk([group], before) if found.type != "NoOp")


def _find_number(initializer: tf.Operation, fed: set[str]) -> np.generic | None:
    """Returns the number that all elements of a large variable get; None if they get others.

    Args:
      initializer: An operation that initializes.
      fed: Names of tensors whose values the caller of `init_op` feeds.
    """
    if initializer.type != "AssignVariableOp" or initializer.control_inputs:
        return None
    value = initializer.inputs[1]
    if value.op.type != "Const" or value.name in fed:
        return None
    if count_bytes(value) < _LARGE_BYTES:
        return None
    proto = value.op.get_attr("value")
    # A constant of equal numbers has one, in the field of its dtype.
    numbers = [content for field, content in proto.ListFields() if field.name.endswith("_val")]
    if proto.tensor_content or [len(content) for content in numbers] != [1]:
        return None
    proto.tensor_shape.Clear()
    return tf.make_ndarray(proto)[()]


def _fill(initializer: tf.Operation, number: np.generic) -> tf.Operation:
    """Adds an operation that fills the variable of an initializer."""
    resource, value = initializer.inputs
    with tf.device(initializer.device):
        filled = tf.fill(value.shape, tf.constant(number, value.dtype))
        return tf.raw_ops.AssignVariableOp(resource=resource, value=filled)
