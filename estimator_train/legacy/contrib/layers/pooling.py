"""Pooling layers of `tf.contrib.layers`."""

import tensorflow as tf

from estimator_train.legacy.contrib._types import Collections, Sizes, TensorLike
from estimator_train.legacy.contrib.framework.arg_scope import add_arg_scope
from estimator_train.legacy.contrib.layers.convolution import check_data_format
from estimator_train.legacy.contrib.layers.utils import (
    collect_named_outputs,
    n_positive_integers,
)


@add_arg_scope
def max_pool2d(
    inputs: TensorLike,
    kernel_size: Sizes,
    stride: Sizes = 2,
    padding: str = "VALID",
    data_format: str = "NHWC",
    outputs_collections: Collections | None = None,
    scope: str | None = None,
) -> tf.Tensor:
    """Returns the maximum of each window."""
    window = n_positive_integers(2, kernel_size), n_positive_integers(2, stride), padding.upper()
    with tf.name_scope(scope or "MaxPool2D") as name_scope:
        outputs = tf.nn.max_pool2d(inputs, *window, check_data_format(data_format), name="MaxPool")
        return collect_named_outputs(outputs_collections, name_scope, outputs)


@add_arg_scope
def avg_pool2d(
    inputs: TensorLike,
    kernel_size: Sizes,
    stride: Sizes = 2,
    padding: str = "VALID",
    data_format: str = "NHWC",
    outputs_collections: Collections | None = None,
    scope: str | None = None,
) -> tf.Tensor:
    """Returns the mean of each window."""
    window = n_positive_integers(2, kernel_size), n_positive_integers(2, stride), padding.upper()
    with tf.name_scope(scope or "AvgPool2D") as name_scope:
        outputs = tf.nn.avg_pool2d(inputs, *window, check_data_format(data_format), name="AvgPool")
        return collect_named_outputs(outputs_collections, name_scope, outputs)


@add_arg_scope
def max_pool3d(
    inputs: TensorLike,
    kernel_size: Sizes,
    stride: Sizes = 2,
    padding: str = "VALID",
    data_format: str = "NDHWC",
    outputs_collections: Collections | None = None,
    scope: str | None = None,
) -> tf.Tensor:
    """Returns the maximum of each window of a volume."""
    window = n_positive_integers(3, kernel_size), n_positive_integers(3, stride), padding.upper()
    with tf.name_scope(scope or "MaxPool3D") as name_scope:
        outputs = tf.nn.max_pool3d(inputs, *window, _check_volume(data_format), name="MaxPool3D")
        return collect_named_outputs(outputs_collections, name_scope, outputs)


@add_arg_scope
def avg_pool3d(
    inputs: TensorLike,
    kernel_size: Sizes,
    stride: Sizes = 2,
    padding: str = "VALID",
    data_format: str = "NDHWC",
    outputs_collections: Collections | None = None,
    scope: str | None = None,
) -> tf.Tensor:
    """Returns the mean of each window of a volume."""
    window = n_positive_integers(3, kernel_size), n_positive_integers(3, stride), padding.upper()
    with tf.name_scope(scope or "AvgPool3D") as name_scope:
        outputs = tf.nn.avg_pool3d(inputs, *window, _check_volume(data_format), name="AvgPool3D")
        return collect_named_outputs(outputs_collections, name_scope, outputs)


def _check_volume(data_format: str) -> str:
    if data_format not in ("NDHWC", "NCDHW"):
        raise ValueError("data_format has to be either NCDHW or NDHWC.")
    return data_format
