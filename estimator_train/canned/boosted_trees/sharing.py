"""Trees on parameter servers, which several workers grow."""

from __future__ import annotations

from collections.abc import Callable

import tensorflow as tf

from estimator_train.canned.boosted_trees.ensemble import SCOPE


def is_shared(variable: tf.Variable) -> bool:
    """Returns whether a variable is on a task that the graph's devices name."""
    return tf.DeviceSpec.from_string(variable.device or "").job is not None


def run_exclusively(compute: Callable[[], tf.Tensor], variable: tf.Variable) -> tf.Tensor:
    """Returns a result that one worker at a time computes, within a tf.function.

    A worker that dies while it holds the lock releases it.

    Args:
      compute: Reads and assigns variables, and returns a tensor.
      variable: One of these variables; the lock is on its device.
    """
    if not is_shared(variable):
        return compute()
    with tf.device(variable.device):
        lock = tf.raw_ops.MutexLock(mutex=tf.raw_ops.MutexV2(shared_name=f"{SCOPE}/lock"))
    with tf.control_dependencies([lock]):
        result = tf.identity(compute())
    with tf.device(variable.device), tf.control_dependencies([result]):
        tf.raw_ops.ConsumeMutexLock(mutex_lock=lock)
    return result
