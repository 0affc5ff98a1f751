"""Reads of the global step: the one that TensorFlow's hooks fetch, and its order in a step."""

import tensorflow as tf

# Why internal: TensorFlow's hooks all fetch one cached read of the global step, and only this
# function gives it (see `read_step_before_increment`).
from tensorflow.python.training.training_util import (
    GLOBAL_STEP_READ_KEY,
    _get_or_create_global_step_read,
)

from estimator_train.engine.tf_internals.graphs import run_after, walk

_ASSIGNMENTS = ("AssignAddVariableOp", "AssignVariableOp", "AssignAdd", "Assign")


def find_global_step_read() -> tf.Tensor:
    """Returns the read of the global step that TensorFlow's hooks fetch with a step.

    Why internal: only this read is ordered before the step's increment (see below).
    """
    return _get_or_create_global_step_read()


def read_step_before_increment(
    global_step: tf.Variable, train_op: tf.Operation | tf.Tensor
) -> tf.Tensor:
    """Returns a read of the global step that runs before the training step increments it.

    TensorFlow's hooks expect the value before the step, but nothing orders the read and the
    increment of one session call: a small model sometimes fetches the value after it, and a hook
    fires one step off. Only assignments that the training step runs are ordered: an object-based
    saver restores the global step by another assignment, when there is nothing to read yet.

    Why internal: only a private method says whether an assignment is in control flow.

    Args:
      global_step: The global step of the default graph, after model_fn was called.
      train_op: The operation of the training step.

    Returns:
      The int64 scalar tensor that hooks fetch.
    """
    primary = getattr(global_step, "values", (global_step,))[0]
    if primary is not global_step:
        # Its own read would have the variable's initializer as an alternative, and with it, under
        # strategies of several workers, a collective in whatever session call reads the step.
        graph = tf.compat.v1.get_default_graph()
        graph.add_to_collection(GLOBAL_STEP_READ_KEY, primary.read_value())
    read = _get_or_create_global_step_read()
    of_step = set(walk([getattr(train_op, "op", train_op)]))
    for operation in primary.op.outputs[0].consumers():
        in_control_flow = operation._get_control_flow_context() is not None
        if operation.type in _ASSIGNMENTS and operation in of_step and not in_control_flow:
            run_after(operation, read.op)
    return read
