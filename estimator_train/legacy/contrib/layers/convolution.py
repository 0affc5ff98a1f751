"""Convolutions of `tf.contrib.layers`."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_train.legacy.contrib.framework.arg_scope import add_arg_scope
from estimator_train.legacy.contrib.layers.building import (
    bias_of,
    finished,
    layer_scope,
    layer_variable,
)
from estimator_train.legacy.contrib.layers.initializers import xavier_initializer
from estimator_train.legacy.contrib.layers.utils import (
    get_variable_collections,
    n_positive_integers,
)

_v1 = tf.compat.v1
_XAVIER = xavier_initializer()
_ZEROS = _v1.zeros_initializer()
# Number of dimensions to the forms of inputs, channels last and first.
_FORMS = {1: ("NWC", "NCW"), 2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}


def convolution(
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
    weights_initializer: Any = _XAVIER,
    weights_regularizer: Any = None,
    biases_initializer: Any = _ZEROS,
    biases_regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
    conv_dims: int | None = None,
) -> tf.Tensor:
    """A convolution; its variables are `weights` and `biases`. See `fully_connected` for the rest.

    Args:
      inputs: Pictures, (batch, height, width, channels), or of one or three dimensions.
      num_outputs: Channels of the output.
      kernel_size: Of each dimension, or one for all.
      stride: The same.
      padding: SAME or VALID.
      data_format: Channels last, NHWC, the default; or first, NCHW.
      rate: Of a dilated convolution, as the stride.
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
      conv_dims: How many dimensions there have to be.

    Raises:
      ValueError: There are others, or data_format is none.
    """
    inputs = tf.convert_to_tensor(inputs)
    dims = inputs.shape.rank - 2
    form = _form(data_format, dims, conv_dims)
    variable = functools.partial(
        layer_variable,
        dtype=inputs.dtype.base_dtype,
        trainable=trainable,
        collections=variables_collections,
    )
    with layer_scope(scope, "Conv", inputs, reuse) as entered:
        weights = variable(
            "weights",
            [*n_positive_integers(dims, kernel_size), inputs.shape[form.index("C")], num_outputs],
            initializer=weights_initializer,
            regularizer=weights_regularizer,
        )
        strides, rates = n_positive_integers(dims, stride), n_positive_integers(dims, rate)
        return finished(
            tf.nn.convolution(inputs, weights, strides, padding.upper(), form, rates),
            normalizer_fn,
            normalizer_params,
            lambda: bias_of(variable, num_outputs, biases_initializer, biases_regularizer, form),
            activation_fn,
            outputs_collections,
            entered,
        )


def _form(given: str | None, dims: int, wanted: int | None) -> str:
    if given not in (None, *sum(_FORMS.values(), ())):
        raise ValueError(f"Invalid data_format: {given!r}")
    if dims not in _FORMS or wanted not in (None, dims):
        raise ValueError(f"Convolution expects input with rank {(wanted or 2) + 2}, got {dims + 2}")
    return given or _FORMS[dims][0]


def _of_dimensions(dims: int) -> Callable[..., tf.Tensor]:
    """`convolution` as a function of its own, which has its own arguments in an arg_scope."""
    convolve: Callable[..., tf.Tensor] = functools.partial(convolution, conv_dims=dims)

    def layer(*args: Any, **kwargs: Any) -> tf.Tensor:
        return convolve(*args, **kwargs)

    known = inspect.signature(convolution)
    arguments = [one for name, one in known.parameters.items() if name != "conv_dims"]
    vars(layer)["__signature__"] = known.replace(parameters=arguments)
    # slim's repeat and stack name scopes by it.
    layer.__name__ = layer.__qualname__ = f"convolution{dims}d"
    layer.__doc__ = f"A convolution of {dims} dimensions; see `convolution`."
    return add_arg_scope(layer)


conv1d, conv2d, conv3d = _of_dimensions(1), _of_dimensions(2), _of_dimensions(3)
convolution = add_arg_scope(convolution)


@add_arg_scope
def convolution2d_transpose(
    inputs: Any,
    num_outputs: int,
    kernel_size: Any,
    stride: Any = 1,
    padding: str = "SAME",
    data_format: str = "NHWC",
    activation_fn: Callable[..., Any] | None = tf.nn.relu,
    normalizer_fn: Callable[..., Any] | None = None,
    normalizer_params: Any = None,
    weights_initializer: Any = _XAVIER,
    weights_regularizer: Any = None,
    biases_initializer: Any = _ZEROS,
    biases_regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> tf.Tensor:
    """The gradient of a convolution as a layer, which makes pictures larger; see `convolution`."""
    form = checked_form(data_format)
    inputs = _pictures(inputs)
    height, width = n_positive_integers(2, kernel_size)
    variable = functools.partial(
        layer_variable,
        dtype=inputs.dtype.base_dtype,
        trainable=trainable,
        collections=variables_collections,
    )
    with layer_scope(scope, "Conv2d_transpose", inputs, reuse) as entered:
        weights = variable(
            "weights",
            [height, width, num_outputs, inputs.shape[form.index("C")]],
            initializer=weights_initializer,
            regularizer=weights_regularizer,
        )
        strides, size = n_positive_integers(2, stride), tf.shape(inputs)
        extra = [max(height - strides[0], 0), max(width - strides[1], 0)]
        extra = [0, 0] if padding.upper() == "SAME" else extra
        first = form.index("H")
        sides = [size[first + i] * strides[i] + extra[i] for i in (0, 1)]
        shape = [size[0], *sides, num_outputs] if first == 1 else [size[0], num_outputs, *sides]
        return finished(
            tf.nn.conv2d_transpose(inputs, weights, shape, strides, padding.upper(), form),
            normalizer_fn,
            normalizer_params,
            lambda: bias_of(variable, num_outputs, biases_initializer, biases_regularizer, form),
            activation_fn,
            outputs_collections,
            entered,
        )


@add_arg_scope
def separable_convolution2d(
    inputs: Any,
    num_outputs: int | None,
    kernel_size: Any,
    depth_multiplier: int = 1,
    stride: Any = 1,
    padding: str = "SAME",
    data_format: str = "NHWC",
    rate: Any = 1,
    activation_fn: Callable[..., Any] | None = tf.nn.relu,
    normalizer_fn: Callable[..., Any] | None = None,
    normalizer_params: Any = None,
    weights_initializer: Any = _XAVIER,
    pointwise_initializer: Any = None,
    weights_regularizer: Any = None,
    biases_initializer: Any = _ZEROS,
    biases_regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> tf.Tensor:
    """A convolution of each channel, then one across them; num_outputs None leaves that out.

    The variables are `depthwise_weights`, `pointwise_weights`, which begin as the former do where
    they have no initializer, and `biases`; the collections of both kernels are those of `weights`.
    See `convolution`.
    """
    form = checked_form(data_format)
    inputs = _pictures(inputs)
    channels = inputs.shape.as_list()[form.index("C")]
    variable = functools.partial(
        layer_variable,
        dtype=inputs.dtype.base_dtype,
        trainable=trainable,
        collections=variables_collections,
    )
    kernel = functools.partial(
        variable,
        regularizer=weights_regularizer,
        collections=get_variable_collections(variables_collections, "weights"),
    )
    sides = n_positive_integers(2, stride)
    strides = [1, *sides, 1] if form == "NHWC" else [1, 1, *sides]
    with layer_scope(scope, "SeparableConv2d", inputs, reuse) as entered:
        depthwise = kernel(
            "depthwise_weights",
            [*n_positive_integers(2, kernel_size), channels, depth_multiplier],
            initializer=weights_initializer,
        )
        outputs = tf.nn.depthwise_conv2d(
            inputs, depthwise, strides, padding.upper(), form, n_positive_integers(2, rate)
        )
        if num_outputs is not None:
            pointwise = kernel(
                "pointwise_weights",
                [1, 1, channels * depth_multiplier, num_outputs],
                initializer=pointwise_initializer or weights_initializer,
            )
            outputs = tf.nn.conv2d(outputs, pointwise, 1, "VALID", form)
        size = num_outputs or channels * depth_multiplier
        return finished(
            outputs,
            normalizer_fn,
            normalizer_params,
            lambda: bias_of(variable, size, biases_initializer, biases_regularizer, form),
            activation_fn,
            outputs_collections,
            entered,
        )


def _pictures(inputs: Any) -> tf.Tensor:
    inputs = tf.convert_to_tensor(inputs)
    if inputs.shape.rank != 4:
        raise ValueError(f"Expected pictures, of rank 4, got rank {inputs.shape.rank}")
    return inputs


def checked_form(data_format: str) -> str:
    """The same.

    Raises:
      ValueError: It is neither NHWC nor NCHW.
    """
    if data_format not in _FORMS[2]:
        raise ValueError("data_format has to be either NCHW or NHWC.")
    return data_format
