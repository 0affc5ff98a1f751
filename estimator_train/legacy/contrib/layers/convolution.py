"""Convolutions and pools of `tf.contrib.layers`."""

import functools
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_train.legacy.contrib.arg_scope import add_arg_scope
from estimator_train.legacy.contrib.layers.building import (
    collected,
    finished,
    layer_scope,
    layer_variable,
)
from estimator_train.legacy.contrib.layers.initializers import xavier_initializer

_v1 = tf.compat.v1
_ZEROS = _v1.zeros_initializer()


@add_arg_scope
def conv2d(
    inputs: Any,
    num_outputs: int,
    kernel_size: Any,
    stride: Any = 1,
    padding: str = "SAME",
    data_format: str | None = None,
    rate: Any = 1,
    activation_fn: Callable[..., Any] | None = tf.nn.relu,
    normalizer_fn: Callable[..., Any] | None = None,
    normalizer_params: Any = None,
    weights_initializer: Any = None,
    weights_regularizer: Any = None,
    biases_initializer: Any = _ZEROS,
    biases_regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> tf.Tensor:
    """A convolution; its variables are `weights` and `biases`. See `fully_connected` for the rest.

    Args:
      inputs: Pictures, (batch, height, width, channels), or NCHW.
      num_outputs: Channels of the output.
      kernel_size: Height and width of the kernel.
      stride: Of the kernel.
      padding: SAME or VALID.
      data_format: NHWC, the default, or NCHW.
      rate: Of a dilated convolution.
      activation_fn: See `fully_connected`.
      normalizer_fn: The same.
      normalizer_params: The same.
      weights_initializer: The same.
      weights_regularizer: The same.
      biases_initializer: The same.
      biases_regularizer: The same.
      reuse: The same.
      variables_collections: The same.
      outputs_collections: The same.
      trainable: The same.
      scope: The same.
    """
    inputs = tf.convert_to_tensor(inputs)
    form = data_format or "NHWC"
    channels = inputs.shape[form.index("C")]
    variable = functools.partial(
        layer_variable,
        dtype=inputs.dtype.base_dtype,
        trainable=trainable,
        collections=variables_collections,
    )
    with layer_scope(scope, "Conv", inputs, reuse):
        weights = variable(
            "weights",
            [*_pair(kernel_size), channels, num_outputs],
            initializer=weights_initializer or xavier_initializer(),
            regularizer=weights_regularizer,
        )
        outputs = tf.nn.convolution(
            inputs, weights, _pair(stride), padding.upper(), form, _pair(rate)
        )
        bias = None
        if normalizer_fn is None and biases_initializer is not None:
            biases = variable(
                "biases",
                [num_outputs],
                initializer=biases_initializer,
                regularizer=biases_regularizer,
            )
            bias = functools.partial(tf.nn.bias_add, bias=biases, data_format=form)
        return finished(
            outputs, normalizer_fn, normalizer_params, bias, activation_fn, outputs_collections
        )


@add_arg_scope
def conv2d_transpose(
    inputs: Any,
    num_outputs: int,
    kernel_size: Any,
    stride: Any = 1,
    padding: str = "SAME",
    activation_fn: Callable[..., Any] | None = tf.nn.relu,
    normalizer_fn: Callable[..., Any] | None = None,
    normalizer_params: Any = None,
    weights_initializer: Any = None,
    weights_regularizer: Any = None,
    biases_initializer: Any = _ZEROS,
    biases_regularizer: Any = None,
    reuse: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> tf.Tensor:
    """The gradient of a convolution as a layer, which makes pictures larger; see `conv2d`."""
    inputs = tf.convert_to_tensor(inputs)
    height, width = _pair(kernel_size)
    with layer_scope(scope, "Conv2d_transpose", inputs, reuse):
        dtype = inputs.dtype.base_dtype
        weights = layer_variable(
            "weights",
            [height, width, num_outputs, inputs.shape[-1]],
            dtype,
            weights_initializer or xavier_initializer(),
            weights_regularizer,
            trainable,
        )
        strides, size = _pair(stride), tf.shape(inputs)
        extra = [0, 0] if padding.upper() == "SAME" else [height - strides[0], width - strides[1]]
        sides = [size[i + 1] * strides[i] + max(extra[i], 0) for i in (0, 1)]
        outputs = tf.nn.conv2d_transpose(
            inputs, weights, [size[0], *sides, num_outputs], strides, padding.upper()
        )
        bias = None
        if normalizer_fn is None and biases_initializer is not None:
            biases = layer_variable(
                "biases", [num_outputs], dtype, biases_initializer, biases_regularizer, trainable
            )
            bias = functools.partial(tf.nn.bias_add, bias=biases)
        return finished(
            outputs, normalizer_fn, normalizer_params, bias, activation_fn, outputs_collections
        )


@add_arg_scope
def separable_conv2d(
    inputs: Any,
    num_outputs: int | None,
    kernel_size: Any,
    depth_multiplier: int = 1,
    stride: Any = 1,
    padding: str = "SAME",
    rate: Any = 1,
    activation_fn: Callable[..., Any] | None = tf.nn.relu,
    normalizer_fn: Callable[..., Any] | None = None,
    normalizer_params: Any = None,
    weights_initializer: Any = None,
    weights_regularizer: Any = None,
    biases_initializer: Any = _ZEROS,
    reuse: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
    **unused: Any,
) -> tf.Tensor:
    """A convolution of each channel, then one across them; num_outputs None leaves that out."""
    inputs = tf.convert_to_tensor(inputs)
    channels = inputs.shape[-1]
    made = weights_initializer or xavier_initializer()
    variable = functools.partial(layer_variable, dtype=inputs.dtype.base_dtype, trainable=trainable)
    with layer_scope(scope, "SeparableConv2d", inputs, reuse):
        shape = [*_pair(kernel_size), channels, depth_multiplier]
        depthwise = variable(
            "depthwise_weights", shape, initializer=made, regularizer=weights_regularizer
        )
        outputs = tf.nn.depthwise_conv2d(
            inputs, depthwise, [1, *_pair(stride), 1], padding.upper(), dilations=_pair(rate)
        )
        if num_outputs is not None:
            pointwise = variable(
                "pointwise_weights",
                [1, 1, channels * depth_multiplier, num_outputs],
                initializer=made,
                regularizer=weights_regularizer,
            )
            outputs = tf.nn.conv2d(outputs, pointwise, 1, "VALID")
        bias = None
        if normalizer_fn is None and biases_initializer is not None:
            biases = variable("biases", [outputs.shape[-1]], initializer=biases_initializer)
            bias = functools.partial(tf.nn.bias_add, bias=biases)
        return finished(
            outputs, normalizer_fn, normalizer_params, bias, activation_fn, outputs_collections
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
    outputs = tf.nn.max_pool2d(
        inputs, _pair(kernel_size), _pair(stride), padding.upper(), data_format, name=scope
    )
    return collected(outputs, outputs_collections)


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
    outputs = tf.nn.avg_pool2d(
        inputs, _pair(kernel_size), _pair(stride), padding.upper(), data_format, name=scope
    )
    return collected(outputs, outputs_collections)


def _pair(value: Any) -> list[int]:
    return [value, value] if isinstance(value, int) else list(value)
