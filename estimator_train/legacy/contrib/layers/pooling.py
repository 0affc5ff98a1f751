"""Pools of `tf.contrib.layers`."""

from typing import Any

import tensorflow as tf

from estimator_train.legacy.contrib.framework.arg_scope import add_arg_scope
from estimator_train.legacy.contrib.layers.convolution import checked_form
from estimator_train.legacy.contrib.layers.utils import (
    collect_named_outputs,
    n_positive_integers,
)


@add_arg_scope
def max_pool2d(
    inputs: Any,
    kernel_size: Any,
    stride: Any = 2,
    padding: str = "VALID",
    data_format: str = "NHWC",
    outputs_collections: Any = None,
    scope: Any = None,
) -> tf.Tensor:
    """The largest value of each window."""
    sizes = n_positive_integers(2, kernel_size), n_positive_integers(2, stride), padding.upper()
    with tf.name_scope(scope or "MaxPool2D") as entered:
        outputs = tf.nn.max_pool2d(inputs, *sizes, checked_form(data_format), name="MaxPool")
        return collect_named_outputs(outputs_collections, entered, outputs)


@add_arg_scope
def avg_pool2d(
    inputs: Any,
    kernel_size: Any,
    stride: Any = 2,
    padding: str = "VALID",
    data_format: str = "NHWC",
    outputs_collections: Any = None,
    scope: Any = None,
) -> tf.Tensor:
    """The mean of each window."""
    sizes = n_positive_integers(2, kernel_size), n_positive_integers(2, stride), padding.upper()
    with tf.name_scope(scope or "AvgPool2D") as entered:
        outputs = tf.nn.avg_pool2d(inputs, *sizes, checked_form(data_format), name="AvgPool")
        return collect_named_outputs(outputs_collections, entered, outputs)
