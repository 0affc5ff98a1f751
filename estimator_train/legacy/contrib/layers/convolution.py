"""Convolutions of `tf.contrib.layers`."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_train.legacy.contrib.framework.arg_scope import add_arg_scope
from estimator_train.legacy.contrib.layers.building import built
from estimator_train.legacy.contrib.layers.initializers import xavier_initializer
from estimator_train.legacy.contrib.layers.utils import n_positive_integers

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
    """A convolution; its variables are `weights` and `biases`.

    The inputs are pictures, (batch, height, width, channels), or have one or three dimensions in
    place of height and width; conv_dims says how many there have to be. kernel_size, stride and
    rate, that of a dilated convolution, are of each of them, or one for all. padding is SAME or
    VALID. data_format has the channels last, NHWC, the default; or first, NCHW. The output has
    num_outputs channels. The other arguments are those of `fully_connected`.

    Raises:
      ValueError: There are other dimensions, or data_format is none.
    """
    given = dict(locals())
    inputs = tf.convert_to_tensor(inputs)
    dims = inputs.shape.rank - 2
    form = _form(data_format, dims, conv_dims)

    def convolved(kernel: Callable[..., Any]) -> tf.Tensor:
        channels = inputs.shape[form.index("C")], num_outputs
        weights = kernel("weights", [*n_positive_integers(dims, kernel_size), *channels])
        strides, rates = n_positive_integers(dims, stride), n_positive_integers(dims, rate)
        return tf.nn.convolution(inputs, weights, strides, padding.upper(), form, rates)

    return built("Conv", inputs, num_outputs, convolved, given, form)


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
    given = dict(locals())
    form = checked_form(data_format)
    inputs = _pictures(inputs)
    height, width = n_positive_integers(2, kernel_size)

    def enlarged(kernel: Callable[..., Any]) -> tf.Tensor:
        weights = kernel("weights", [height, width, num_outputs, inputs.shape[form.index("C")]])
        strides, size = n_positive_integers(2, stride), tf.shape(inputs)
        extra = [max(height - strides[0], 0), max(width - strides[1], 0)]
        extra = [0, 0] if padding.upper() == "SAME" else extra
        first = form.index("H")
        sides = [size[first + i] * strides[i] + extra[i] for i in (0, 1)]
        shape = [size[0], *sides, num_outputs] if first == 1 else [size[0], num_outputs, *sides]
        return tf.nn.conv2d_transpose(inputs, weights, shape, strides, padding.upper(), form)

    return built("Conv2d_transpose", inputs, num_outputs, enlarged, given, form)


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
    given = dict(locals())
    form = checked_form(data_format)
    inputs = _pictures(inputs)
    channels = inputs.shape.as_list()[form.index("C")]
    sides = n_positive_integers(2, stride)
    strides = [1, *sides, 1] if form == "NHWC" else [1, 1, *sides]

    def separated(kernel: Callable[..., Any]) -> tf.Tensor:
        shape = [*n_positive_integers(2, kernel_size), channels, depth_multiplier]
        depthwise = kernel("depthwise_weights", shape)
        rates = n_positive_integers(2, rate)
        outputs = tf.nn.depthwise_conv2d(inputs, depthwise, strides, padding.upper(), form, rates)
        if num_outputs is None:
            return outputs
        pointwise = kernel(
            "pointwise_weights",
            [1, 1, channels * depth_multiplier, num_outputs],
            initializer=pointwise_initializer or weights_initializer,
        )
        return tf.nn.conv2d(outputs, pointwise, 1, "VALID", form)

    size = num_outputs or channels * depth_multiplier
    return built("SeparableConv2d", inputs, size, separated, given, form)


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
