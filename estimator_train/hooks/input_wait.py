"""How long steps wait for their input, measured in the graph, in loops as well as outside them."""

import re
from typing import Any

import tensorflow as tf

from estimator_train.engine import tf_internals

# Operations that give a step its data, of datasets and of queues.
INPUT_TYPE = re.compile(r"\w*GetNext\w*|Queue(Dequeue|Read)\w*|ReaderRead\w*")
_SLOT = "input_wait/seconds"


class InputWait:
    """Adds up the seconds that input operations take.

    Args:
      train_op: A step's operation or tensor, in a graph that has no session yet. Clocks are added
        around the input operations of the graph.
    """

    def __init__(self, train_op: Any) -> None:
        self._handle = tf.raw_ops.VarHandleOp(dtype=tf.float64, shape=[], shared_name=_SLOT)
        zero = tf.constant(0, tf.float64)
        self._reset = tf.raw_ops.AssignVariableOp(resource=self._handle, value=zero)
        self._total = tf.raw_ops.ReadVariableOp(resource=self._handle, dtype=tf.float64)
        found = [op for op in train_op.graph.get_operations() if INPUT_TYPE.fullmatch(op.type)]
        self.found = bool(found)
        self.train_op = tf.group(train_op, self._counted(found)) if found else train_op

    def reset(self, session: tf.compat.v1.Session) -> None:
        """Begins at zero."""
        session.run(self._reset)

    def read(self, session: tf.compat.v1.Session) -> float:
        """Seconds since `reset`: of each step those of the input that it waited for longest."""
        return float(session.run(self._total))

    def _counted(self, operations: list[tf.Operation]) -> tf.Operation:
        with tf.device("/cpu:0"):
            longest = tf.reduce_max([_seconds_of(operation) for operation in operations])
        return tf.raw_ops.AssignAddVariableOp(resource=self._handle, value=longest)


def _seconds_of(operation: tf.Operation) -> tf.Tensor:
    before = tf.timestamp()
    tf_internals.run_after(operation, before.op)
    with tf.control_dependencies([operation]):
        return tf.timestamp() - before
