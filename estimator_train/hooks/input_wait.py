"""Measures in the graph how long steps wait for their input, inside and outside loops."""

import re

import tensorflow as tf

from estimator_train.engine.tf_internals import graph_edits

# Types of the operations that read a step's data from datasets and queues.
INPUT_TYPE = re.compile(r"\w*GetNext\w*|Queue(Dequeue|Read)\w*|ReaderRead\w*")
_TOTAL_NAME = "input_wait/seconds"


class InputWait:
    """Sum of the seconds that steps wait for input operations.

    Args:
      train_op: Operation or tensor that runs one training step, in a graph that has no session
        yet. The constructor adds clocks around the input operations of the graph.

    Attributes:
      has_input: Whether the graph has input operations.
      train_op: Operation that runs the step and measures it.
    """

    def __init__(self, train_op: tf.Operation | tf.Tensor) -> None:
        self._handle = tf.raw_ops.VarHandleOp(dtype=tf.float64, shape=[], shared_name=_TOTAL_NAME)
        zero = tf.constant(0, tf.float64)
        self._reset = tf.raw_ops.AssignVariableOp(resource=self._handle, value=zero)
        self._total = tf.raw_ops.ReadVariableOp(resource=self._handle, dtype=tf.float64)
        operations = train_op.graph.get_operations()
        inputs = [operation for operation in operations if INPUT_TYPE.fullmatch(operation.type)]
        self.has_input = bool(inputs)
        self.train_op = tf.group(train_op, self._add_clocks(inputs)) if inputs else train_op

    def reset(self, session: tf.compat.v1.Session) -> None:
        """Sets the sum to zero."""
        session.run(self._reset)

    def read(self, session: tf.compat.v1.Session) -> float:
        """Returns the seconds since `reset`; each step adds those of its slowest input."""
        return float(session.run(self._total))

    def _add_clocks(self, inputs: list[tf.Operation]) -> tf.Operation:
        with tf.device("/cpu:0"):
            longest = tf.reduce_max([_measure_seconds(operation) for operation in inputs])
        return tf.raw_ops.AssignAddVariableOp(resource=self._handle, value=longest)


def _measure_seconds(operation: tf.Operation) -> tf.Tensor:
    before = tf.timestamp()
    graph_edits.run_after(operation, before.op)
    with tf.control_dependencies([operation]):
        return tf.timestamp() - before
