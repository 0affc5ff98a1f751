"""Convolutions of `tf.contrib.layers`."""

import functools
import inspect
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
from tf_contrib.layers.building import build_layer
from tf_contrib.layers.initializers import xavier_initializer
from tf_contrib.layers.utils import n_positive_integers

_v1 = tf.compat.v1
_XAVIER = xavier_initializer()
_ZEROS = _v1.zeros_initializer()
# Formats of inputs by their number of spatial dimensions: channels last, channels first.
_FORMATS = {1: ("NWC", "NCW"), 2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}


def convolution(
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
    conv_dims: int | None = None,
) -> tf.Tensor:
    """Computes a convolution; its variables are `weights` and `biases`.

    The arguments that are not listed here are those of `fully_connected`.

    Args:
      inputs: Shape (batch, width, channels), (batch, height, width, channels) or (batch, depth,
        height, width, channels).
      num_outputs: Number of output channels.
      kernel_size: Size of the kernel in each spatial dimension, or one size for all.
      stride: Strides, or one stride for all.
      padding: SAME or VALID.
      data_format: NHWC (channels last, the default) or NCHW (channels first), and their forms for
        one and three spatial dimensions.
      rate: Dilation rates, or one rate for all.
      activation_fn: Function to apply to the outputs, or None.
      normalizer_fn: Function to apply instead of biases.
      normalizer_params: Arguments of normalizer_fn.
      weights_initializer: Initializer of the weights.
      weights_regularizer: Regularizer of the weights.
      biases_initializer: Initializer of the biases; None: no biases.
      biases_regularizer: Regularizer of the biases.
      reuse: Whether to reuse existing variables.
      variables_collections: Collections of the variables.
      outputs_collections: Collections of the outputs.
      trainable: Whether the variables are trained.
      scope: Variable scope of the layer.
      conv_dims: Required number of spatial dimensions.

    Raises:
      ValueError: The inputs have another rank, or data_format is wrong.
    """
    arguments = dict(locals())
    inputs = tf.convert_to_tensor(inputs)
    dims = inputs.shape.rank - 2
    channel_order = _choose_data_format(data_format, dims, conv_dims)

    def compute_outputs(kernel: Callable[..., Any]) -> tf.Tensor:
        channels = inputs.shape[channel_order.index("C")], num_outputs
        weights = kernel("weights", [*n_positive_integers(dims, kernel_size), *channels])
        strides, rates = n_positive_integers(dims, stride), n_positive_integers(dims, rate)
        return tf.nn.convolution(inputs, weights, strides, padding.upper(), channel_order, rates)

    return build_layer("Conv", inputs, num_outputs, compute_outputs, arguments, channel_order)


def _choose_data_format(data_format: str | None, dims: int, expected: int | None) -> str:
    if data_format not in (None, *sum(_FORMATS.values(), ())):
        raise ValueError(f"Invalid data_format: {data_format!r}")
    if dims not in _FORMATS or expected not in (None, dims):
        raise ValueError(
            f"Convolution expects input with rank {(expected or 2) + 2}, got {dims + 2}"
        )
    return data_format or _FORMATS[dims][0]


def _create_convolution(dims: int) -> Callable[..., tf.Tensor]:
    """Creates a convolution of `dims` dimensions with its own entry in an arg_scope."""
    convolve: Callable[..., tf.Tensor] = functools.partial(convolution, conv_dims=dims)

    def layer(*args: Any, **kwargs: Any) -> tf.Tensor:
        return convolve(*args, **kwargs)

    signature = inspect.signature(convolution)
    arguments = [one for name, one in signature.parameters.items() if name != "conv_dims"]
    vars(layer)["__signature__"] = signature.replace(parameters=arguments)
    # slim's repeat and stack name scopes after the function.
    layer.__name__ = layer.__qualname__ = f"convolution{dims}d"
    layer.__doc__ = f"Computes a convolution of {dims} dimensions; see `convolution`."
    return add_arg_scope(layer)


conv1d, conv2d, conv3d = _create_convolution(1), _create_convolution(2), _create_convolution(3)
convolution = add_arg_scope(convolution)


def _create_transposed(dims: int) -> Callable[..., tf.Tensor]:
    """Creates the transpose of a convolution of `dims` dimensions."""

    def layer(
        inputs: TensorLike,
        num_outputs: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: str = "SAME",
        data_format: str = _FORMATS[dims][0],
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
        arguments = dict(locals())
        return _build_transposed(dims, check_data_format(data_format, dims), arguments)

    layer.__name__ = layer.__qualname__ = f"convolution{dims}d_transpose"
    layer.__doc__ = (
        f"Computes a transposed convolution of {dims} dimensions, which enlarges its inputs; "
        "see `convolution`."
    )
    return add_arg_scope(layer)


convolution2d_transpose, convolution3d_transpose = _create_transposed(2), _create_transposed(3)


def _build_transposed(dims: int, channel_order: str, arguments: Mapping[str, Any]) -> tf.Tensor:
    """Builds the transpose of a convolution of some dimensions."""
    inputs = _check_rank(arguments["inputs"], dims + 2)
    num_outputs, padding = arguments["num_outputs"], arguments["padding"].upper()
    sizes = n_positive_integers(dims, arguments["kernel_size"])
    strides = n_positive_integers(dims, arguments["stride"])

    def compute_outputs(kernel: Callable[..., Any]) -> tf.Tensor:
        channels = inputs.shape[channel_order.index("C")]
        weights = kernel("weights", [*sizes, num_outputs, channels])
        given = tf.shape(inputs)
        first = 1 if channel_order[-1] == "C" else 2
        sides = [
            given[first + i] * step + (0 if padding == "SAME" else max(size - step, 0))
            for i, (size, step) in enumerate(zip(sizes, strides, strict=True))
        ]
        shape = [given[0], *sides, num_outputs] if first == 1 else [given[0], num_outputs, *sides]
        transpose = tf.nn.conv2d_transpose if dims == 2 else tf.nn.conv3d_transpose
        return transpose(inputs, weights, shape, strides, padding, channel_order)

    name = f"Conv{dims}d_transpose"
    return build_layer(name, inputs, num_outputs, compute_outputs, arguments, channel_order)


@add_arg_scope
def convolution2d_in_plane(
    inputs: TensorLike,
    kernel_size: Sizes,
    stride: Sizes = 1,
    padding: str = "SAME",
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
    """Convolves each channel alone, all with one kernel; see `convolution`."""
    arguments = dict(locals())
    inputs = _check_rank(inputs, 4)
    channels = inputs.shape.as_list()[3]
    strides = [1, *n_positive_integers(2, stride), 1]

    def compute_outputs(kernel: Callable[..., Any]) -> tf.Tensor:
        weights = kernel("weights", [*n_positive_integers(2, kernel_size), 1, 1])
        return tf.nn.depthwise_conv2d(
            inputs, tf.tile(weights, [1, 1, channels, 1]), strides, padding.upper()
        )

    return build_layer("ConvInPlane", inputs, channels, compute_outputs, arguments)


@add_arg_scope
def separable_convolution2d(
    inputs: TensorLike,
    num_outputs: int | None,
    kernel_size: Sizes,
    depth_multiplier: int = 1,
    stride: Sizes = 1,
    padding: str = "SAME",
    data_format: str = "NHWC",
    rate: Sizes = 1,
    activation_fn: Callable[..., Any] | None = tf.nn.relu,
    normalizer_fn: Callable[..., Any] | None = None,
    normalizer_params: Mapping[str, Any] | None = None,
    weights_initializer: Initializer = _XAVIER,
    pointwise_initializer: Initializer | None = None,
    weights_regularizer: Regularizer | None = None,
    biases_initializer: Initializer = _ZEROS,
    biases_regularizer: Regularizer | None = None,
    reuse: bool | None = None,
    variables_collections: VariableCollections | None = None,
    outputs_collections: Collections | None = None,
    trainable: bool = True,
    scope: Scope | None = None,
) -> tf.Tensor:
    """Convolves each channel alone, then combines the channels; see `convolution`.

    The variables are `depthwise_weights`, `pointwise_weights` and `biases`. Both kernels are added
    to the collections of `weights`. Without num_outputs, the channels are not combined. By default
    pointwise_initializer is weights_initializer.
    """
    arguments = dict(locals())
    channel_order = check_data_format(data_format)
    inputs = _check_rank(inputs, 4)
    channels = inputs.shape.as_list()[channel_order.index("C")]
    sides = n_positive_integers(2, stride)
    strides = [1, *sides, 1] if channel_order == "NHWC" else [1, 1, *sides]

    def compute_outputs(kernel: Callable[..., Any]) -> tf.Tensor:
        shape = [*n_positive_integers(2, kernel_size), channels, depth_multiplier]
        depthwise = kernel("depthwise_weights", shape)
        rates = n_positive_integers(2, rate)
        outputs = tf.nn.depthwise_conv2d(
            inputs, depthwise, strides, padding.upper(), channel_order, rates
        )
        if num_outputs is None:
            return outputs
        pointwise = kernel(
            "pointwise_weights",
            [1, 1, channels * depth_multiplier, num_outputs],
            initializer=pointwise_initializer or weights_initializer,
        )
        return tf.nn.conv2d(outputs, pointwise, 1, "VALID", channel_order)

    size = num_outputs or channels * depth_multiplier
    return build_layer("SeparableConv2d", inputs, size, compute_outputs, arguments, channel_order)


def _check_rank(inputs: TensorLike, rank: int) -> tf.Tensor:
    inputs = tf.convert_to_tensor(inputs)
    if inputs.shape.rank != rank:
        raise ValueError(f"inputs must have rank {rank}, got rank {inputs.shape.rank}")
    return inputs


def check_data_format(data_format: str, dims: int = 2) -> str:
    """Returns data_format if it is one of `dims` spatial dimensions, such as NHWC or NCHW.

    Raises:
      ValueError: data_format is another one.
    """
    channels_last, channels_first = _FORMATS[dims]
    if data_format not in (channels_last, channels_first):
        raise ValueError(f"data_format has to be either {channels_first} or {channels_last}.")
    return data_format
