"""The context of a Keras model's call, for layers that a graph calls one by one."""

import warnings
from collections.abc import Callable
from typing import TypeVar

import tensorflow as tf
import tf_keras

from estimator_train.engine.tf_internals.modes import convert_callees

_T = TypeVar("_T")


def in_keras_call(function: Callable[[], _T], training: bool) -> _T:
    """Calls a function as a Keras model calls its layers.

    Layers get this value of `training`, and AutoGraph converts them. Names of operations begin at
    the root name scope.

    Args:
      function: Calls layers in the default graph.
      training: Whether layers run in training mode.

    Returns:
      The result of `function`.
    """
    result: list[_T] = []
    called = convert_callees(function)

    class Model(tf_keras.layers.Layer):
        @tf.autograph.experimental.do_not_convert
        def call(self, inputs: tf.Tensor | None, training: bool) -> tf.Tensor | None:
            with tf.compat.v1.name_scope(None):
                result.append(called())
            return inputs

    with warnings.catch_warnings():
        # TensorFlow 1 code reads it from the graph. The call below follows the warning's advice.
        warnings.filterwarnings("ignore", message=".*set_learning_phase")
        tf_keras.backend.set_learning_phase(int(training))
    Model()(None, training=training)
    return result[0]
