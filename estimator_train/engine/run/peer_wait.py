"""Measures in the graph how long steps wait for the gradients of other synchronous workers."""

import re

import tensorflow as tf

from estimator_train.engine.loops.step_fetches import TrainOp
from estimator_train.engine.tf_internals import graphs

_REDUCTION = re.compile(r"CollectiveReduce\w*")
_TOTAL_NAME = "peer_wait/seconds"


class PeerWait:
    """Sum of the seconds that steps wait in their collectives.

    A worker that is slower than the others waits less than they do.

    Args:
      train_op: Operation or tensor that runs one training step, in a graph that has no session
        yet. The constructor adds clocks around the reductions of the step.

    Attributes:
      train_op: Operation that runs the step and measures it.
      total: Tensor of the seconds since `reset`.
      reset: Operation that sets the sum to zero; it must run first in each session.
    """

    def __init__(self, train_op: TrainOp) -> None:
        step = train_op if isinstance(train_op, tf.Operation) else train_op.op
        found = [
            operation
            for operation in graphs.walk([step], graphs.operations_before)
            if _REDUCTION.fullmatch(operation.type)
        ]
        with tf.device("/cpu:0"):
            handle = tf.raw_ops.VarHandleOp(dtype=tf.float64, shape=[], shared_name=_TOTAL_NAME)
            self.reset = tf.raw_ops.AssignVariableOp(
                resource=handle, value=tf.constant(0, tf.float64)
            )
            self.total = tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.float64)
            self.train_op = train_op
            if found:
                longest = tf.reduce_max([_measure_seconds(operation) for operation in found])
                added = tf.raw_ops.AssignAddVariableOp(resource=handle, value=longest)
                self.train_op = tf.group(train_op, added)


def _measure_seconds(operation: tf.Operation) -> tf.Tensor:
    """Returns the seconds from the time at which an operation has its inputs to its end."""
    with tf.control_dependencies([tensor.op for tensor in operation.inputs]):
        before = tf.timestamp()
    graphs.run_after(operation, before.op)
    with tf.control_dependencies([operation]):
        return tf.timestamp() - before
