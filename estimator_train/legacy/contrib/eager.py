"""`tf.contrib.eager`: eager execution by its old place."""

from typing import Any

import tensorflow as tf

_v1 = tf.compat.v1
Variable = tf.Variable
Checkpoint = tf.train.Checkpoint
Iterator = iter
GradientTape = tf.GradientTape
defun = tf.function
py_func = tf.py_function
enable_eager_execution = _v1.enable_eager_execution
executing_eagerly = _v1.executing_eagerly
in_eager_mode = _v1.executing_eagerly
custom_gradient = tf.custom_gradient


def num_gpus() -> int:
    """The number of this process's GPUs."""
    return len(tf.config.list_logical_devices("GPU"))


def list_devices() -> list[str]:
    """The names of this process's devices."""
    return [device.name for device in tf.config.list_logical_devices()]


def run(main: Any = None, argv: Any = None) -> None:
    """See `tf.app.run`."""
    _v1.app.run(main, argv)
