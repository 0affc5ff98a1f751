"""Input receivers with the shapes and types that an input_fn returns."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_train.experimental import build_raw_supervised_input_receiver_fn
from estimator_train.extension import SupervisedInputReceiver

_v1 = tf.compat.v1


def build_supervised_input_receiver_fn_from_input_fn(
    input_fn: Callable[..., Any], **input_fn_args: Any
) -> Callable[[], SupervisedInputReceiver]:
    """Returns an input_receiver_fn whose placeholders fit the features and labels of an input_fn.

    Args:
      input_fn: Function that returns a dataset or a pair of features and labels. It is called once,
        in a graph of its own; of its results only shapes, types and names are used.
      **input_fn_args: Arguments of input_fn.

    Raises:
      ExampleError: There are no labels.
    """
    with tf.Graph().as_default():
        result = input_fn(**input_fn_args)
        if isinstance(result, (tf.data.Dataset, _v1.data.Dataset)):
            result = _v1.data.make_initializable_iterator(result).get_next()
        is_pair = isinstance(result, (tuple, list)) and len(result) == 2
        features, labels = result if is_pair else (result, None)
    return build_raw_supervised_input_receiver_fn(features, labels)
