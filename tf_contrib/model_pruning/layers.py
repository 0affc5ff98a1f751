"""Layers of `tf.contrib.layers` whose weights have a mask."""

import functools
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from tf_contrib._types import (
    Collections,
    Initializer,
    Regularizer,
    Scope,
    Sizes,
    TensorLike,
    VariableCollections,
)
from tf_contrib.framework.arg_scope import add_arg_scope
from tf_contrib.framework.variables import model_variable
from tf_contrib.layers.building import build_layer
from tf_contrib.layers.convolution import check_data_format
from tf_contrib.layers.initializers import xavier_initializer
from tf_contrib.layers.utils import n_positive_integers
from tf_contrib.model_pruning.masks import multiply_by_mask

_v1 = tf.compat.v1
_XAVIER = xavier_initializer()
_ZEROS = _v1.zeros_initializer()


@add_arg_scope
def masked_convolution(
    inputs: TensorLike,
    num_outputs: int,
    kernel_size: Sizes,
    stride: Sizes = 1,
    padding: str = "SAME",
    data_format: str | None = None,
    rate: Sizes = 1,
    activation_fn: Callable[..., Any] | None = tf.nn.relu,
    normalizer_fn: Callable[..., Any] | None = None,
    normalizer_params: Mapping[str, Any] | None = None,
    weights_initializer: Initializer = _XAVIER,
    weights_regularizer: Regularizer | None = None,
    biases_initializer: Initializer = _ZEROS,
    biases_regularizer: Regularizer | None = None,
    reuse: bool | None = None,
    variables_collections: VariableCollections | None = None,
    outputs_collections: Collections | None = None,
    trainable: bool = True,
    scope: Scope | None = None,
) -> tf.Tensor:
    """Computes a convolution of images whose weights have a mask and a threshold.

    The arguments are those of `tf.contrib.layers.conv2d`.

    Raises:
      ValueError: The inputs do not have rank 4, or data_format is wrong.
    """
    arguments = dict(locals())
    inputs = tf.convert_to_tensor(inputs)
    channel_order = check_data_format(data_format or "NHWC")
    if inputs.shape.rank != 4:
        raise ValueError("Sparse Convolution not supported for input with rank", inputs.shape.rank)

    def compute_outputs(kernel: Callable[..., Any]) -> tf.Tensor:
        channels = inputs.shape[channel_order.index("C")], num_outputs
        shape = [*n_positive_integers(2, kernel_size), *channels]
        return tf.nn.convolution(
            inputs,
            _create_masked(kernel, shape, inputs.dtype),
            n_positive_integers(2, stride),
            padding.upper(),
            channel_order,
            n_positive_integers(2, rate),
        )

    return build_layer("Conv", inputs, num_outputs, compute_outputs, arguments, channel_order)


masked_conv2d = masked_convolution


@add_arg_scope
def masked_fully_connected(
    inputs: TensorLike,
    num_outputs: int,
    activation_fn: Callable[..., Any] | None = tf.nn.relu,
    normalizer_fn: Callable[..., Any] | None = None,
    normalizer_params: Mapping[str, Any] | None = None,
    weights_initializer: Initializer = _XAVIER,
    weights_regularizer: Regularizer | None = None,
    biases_initializer: Initializer = _ZEROS,
    biases_regularizer: Regularizer | None = None,
    reuse: bool | None = None,
    variables_collections: VariableCollections | None = None,
    outputs_collections: Collections | None = None,
    trainable: bool = True,
    scope: Scope | None = None,
) -> tf.Tensor:
    """Computes a dense layer whose weights have a mask and a threshold.

    The arguments are those of `tf.contrib.layers.fully_connected`.

    Raises:
      ValueError: num_outputs is not an integer, or the inputs are a vector.
    """
    arguments = dict(locals())
    if not isinstance(num_outputs, int):
        raise ValueError(f"num_outputs should be int or long, got {num_outputs}.")
    inputs = tf.convert_to_tensor(inputs)
    if inputs.shape.rank < 2:
        raise ValueError(f"The inputs must have rank 2 or more, got shape {inputs.shape}.")

    def compute_outputs(kernel: Callable[..., Any]) -> tf.Tensor:
        weights = _create_masked(kernel, [inputs.shape[-1], num_outputs], inputs.dtype)
        multiply = tf.matmul if inputs.shape.rank == 2 else functools.partial(tf.tensordot, axes=1)
        return multiply(inputs, weights)

    return build_layer("fully_connected", inputs, num_outputs, compute_outputs, arguments)


def _create_masked(
    kernel: Callable[..., tf.Variable], shape: list[int], dtype: tf.DType
) -> tf.Tensor:
    """Creates weights of a layer with their mask and threshold, and returns the masked weights."""
    weights = kernel("weights", shape)
    mask = model_variable("mask", shape, dtype, _v1.ones_initializer(), trainable=False)
    threshold = model_variable("threshold", [], dtype, _v1.zeros_initializer(), trainable=False)
    return multiply_by_mask(weights, mask, threshold)
