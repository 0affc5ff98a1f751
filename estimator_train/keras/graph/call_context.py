"""The context of a Keras model's call, for layers that are called one by one in a graph."""

import warnings
from collections.abc import Callable
from typing import Any, TypeVar

import tensorflow as tf
import tf_keras

_T = TypeVar("_T")
# What AutoGraph's status is where nobody has changed it; Keras then converts the layers it calls.
_UNCHANGED = tf.__internal__.autograph.control_status_ctx()


def in_keras_call(function: Callable[[], _T], training: bool) -> _T:
    """Calls `function` as if within the `call` of a model that was called with `training`.

    Layers in it have that value of `training`, and AutoGraph converts them. Names of operations
    begin at the root name scope.

    Args:
      function: Calls layers in the default graph.
      training: Whether layers act as in training.

    Returns:
      What `function` returned.
    """
    result: list[_T] = []
    called = tf.__internal__.autograph.tf_convert(function, _UNCHANGED, convert_by_default=False)

    class Model(tf_keras.layers.Layer):
        @tf.autograph.experimental.do_not_convert
        def call(self, inputs: Any, training: bool) -> Any:
            with tf.compat.v1.name_scope(None):
                result.append(called())
            return inputs

    with warnings.catch_warnings():
        # For code of TF1, which asks the graph; the warning's advice is what is done below.
        warnings.filterwarnings("ignore", message=".*set_learning_phase")
        tf_keras.backend.set_learning_phase(int(training))
    Model()(None, training=training)
    return result[0]
