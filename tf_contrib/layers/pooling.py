"""Pooling layers of `tf.contrib.layers`."""

from collections.abc import Callable

import tensorflow as tf

from tf_contrib._types import Collections, Sizes, TensorLike
from tf_contrib.framework.arg_scope import add_arg_scope
from tf_contrib.layers.convolution import check_data_format
from tf_contrib.layers.utils import (
    collect_named_outputs,
    n_positive_integers,
)


def _create_pooling(kind: str, dims: int) -> Callable[..., tf.Tensor]:
    """Creates the pooling layer of some spatial dimensions; its kind is Max or Avg."""
    pool = getattr(tf.nn, f"{kind.lower()}_pool{dims}d")
    operation_name = f"{kind}Pool" if dims == 2 else f"{kind}Pool3D"

    def layer(
        inputs: TensorLike,
        kernel_size: Sizes,
        stride: Sizes = 2,
        padding: str = "VALID",
        data_format: str = "NHWC" if dims == 2 else "NDHWC",
        outputs_collections: Collections | None = None,
        scope: str | None = None,
    ) -> tf.Tensor:
        sizes, strides = n_positive_integers(dims, kernel_size), n_positive_integers(dims, stride)
        order = check_data_format(data_format, dims)
        with tf.name_scope(scope or f"{kind}Pool{dims}D") as name_scope:
            outputs = pool(inputs, sizes, strides, padding.upper(), order, name=operation_name)
            return collect_named_outputs(outputs_collections, name_scope, outputs)

    layer.__name__ = layer.__qualname__ = f"{kind.lower()}_pool{dims}d"
    layer.__doc__ = f"Returns the {'maximum' if kind == 'Max' else 'mean'} of each window."
    return add_arg_scope(layer)


max_pool2d, max_pool3d = _create_pooling("Max", 2), _create_pooling("Max", 3)
avg_pool2d, avg_pool3d = _create_pooling("Avg", 2), _create_pooling("Avg", 3)
