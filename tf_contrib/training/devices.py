"""`tf.contrib.training`: which parameter server holds a variable."""

from collections.abc import Callable

import numpy as np
import tensorflow as tf


class GreedyLoadBalancingStrategy:
    """Strategy of `tf.train.replica_device_setter`: the task with the smallest load.

    Args:
      num_tasks: The number of tasks.
      load_fn: Returns the load of an operation.
    """

    def __init__(self, num_tasks: int, load_fn: Callable[[tf.Operation], float]) -> None:
        self._num_tasks = num_tasks
        self._load_fn = load_fn
        self._ps_loads = np.zeros(num_tasks)

    def __call__(self, op: tf.Operation) -> int:
        """Returns the task of an operation and adds its load to the task's."""
        task = int(np.argmin(self._ps_loads))
        self._ps_loads[task] += self._load_fn(op)
        return task


def byte_size_load_fn(op: tf.Operation) -> int:
    """Returns the size in bytes of the output of an operation.

    Raises:
      ValueError: The operation has not one output of a known size.
    """
    if len(op.outputs) != 1:
        raise ValueError(f"Op {op} must have a single output")
    output = op.outputs[0]
    output.shape.assert_is_fully_defined()
    return int(output.dtype.size * output.shape.num_elements())
