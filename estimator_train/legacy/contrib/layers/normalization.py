"""Normalizations of each example, of `tf.contrib.layers`."""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_train.legacy.contrib.framework.arg_scope import add_arg_scope
from estimator_train.legacy.contrib.layers.building import activated, layer_scope, layer_variable
from estimator_train.legacy.contrib.layers.convolution import checked_form

_v1 = tf.compat.v1


@add_arg_scope
def layer_norm(
    inputs: Any,
    center: bool = True,
    scale: bool = True,
    activation_fn: Callable[..., Any] | None = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    begin_norm_axis: int = 1,
    begin_params_axis: int = -1,
    scope: Any = None,
) -> tf.Tensor:
    """Normalizes each example; its variables are `beta` and `gamma`.

    Args:
      inputs: A tensor.
      center: Whether there is a beta.
      scale: Whether there is a gamma.
      activation_fn: Of the output.
      reuse: Whether the variables are there already.
      variables_collections: Collections for the variables.
      outputs_collections: Collections for the output.
      trainable: Whether the variables are trained.
      begin_norm_axis: The first of the dimensions that are normalized over.
      begin_params_axis: The first of those that beta and gamma have.
      scope: The layer's name.

    Raises:
      ValueError: There is no such dimension, or the size of beta and gamma is not known.
    """
    inputs = tf.convert_to_tensor(inputs)
    rank = inputs.shape.rank
    if begin_norm_axis >= rank or begin_params_axis >= rank:
        raise ValueError(f"begin_params_axis ({begin_params_axis}) and begin_norm_axis "
                         f"({begin_norm_axis}) must be < rank(inputs) ({rank})")  # fmt: skip
    axes = list(range(begin_norm_axis % rank, rank))
    with layer_scope(scope, "LayerNorm", inputs, reuse) as entered:
        shape = inputs.shape[begin_params_axis % rank :]
        beta, gamma = _center_and_scale(shape, center, scale, trainable, variables_collections)
        mean, variance = tf.nn.moments(inputs, axes, keepdims=True)
        epsilon = 1e-3 if inputs.dtype == tf.float16 else 1e-12
        outputs = tf.nn.batch_normalization(inputs, mean, variance, beta, gamma, epsilon)
        return activated(outputs, activation_fn, outputs_collections, entered)


@add_arg_scope
def instance_norm(
    inputs: Any,
    center: bool = True,
    scale: bool = True,
    epsilon: float = 1e-6,
    activation_fn: Callable[..., Any] | None = None,
    param_initializers: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    data_format: str = "NHWC",
    scope: Any = None,
) -> tf.Tensor:
    """Normalizes each channel of each picture (Ulyanov and others, 2016); see `layer_norm`."""
    inputs = tf.convert_to_tensor(inputs)
    rank = inputs.shape.rank
    axis = 1 if checked_form(data_format) == "NCHW" else rank - 1
    axes = [i for i in range(1, rank) if i != axis]
    with layer_scope(scope, "InstanceNorm", inputs, reuse) as entered:
        channels = inputs.shape[axis]
        beta, gamma = _center_and_scale(
            [channels], center, scale, trainable, variables_collections, param_initializers
        )
        shape = [-1 if i == axis else 1 for i in range(rank)]
        parts = [None if p is None else tf.reshape(p, shape) for p in (beta, gamma)]
        mean, variance = tf.nn.moments(inputs, axes, keepdims=True)
        outputs = tf.nn.batch_normalization(
            inputs, mean, variance, *parts, epsilon, name="instancenorm"
        )
        return activated(outputs, activation_fn, outputs_collections, entered)


@add_arg_scope
def group_norm(
    inputs: Any,
    groups: int = 32,
    channels_axis: int = -1,
    reduction_axes: Sequence[int] = (-3, -2),
    center: bool = True,
    scale: bool = True,
    epsilon: float = 1e-6,
    activation_fn: Callable[..., Any] | None = None,
    param_initializers: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
    mean_close_to_zero: bool = False,
) -> tf.Tensor:
    """Normalizes groups of channels of each picture (Wu and He, 2018).

    The channels, along channels_axis, make as many groups as `groups` says. reduction_axes are
    the dimensions that are normalized over, with the channels of a group. epsilon is added to the
    variance, and param_initializers are variables to initializers. mean_close_to_zero makes no
    difference in the result. The other arguments are those of `layer_norm`.

    Raises:
      ValueError: The groups do not divide the channels, or these are normalized over as a whole.
    """
    del mean_close_to_zero
    inputs = tf.convert_to_tensor(inputs)
    rank = inputs.shape.rank
    axis, over = channels_axis % rank, [i % rank for i in reduction_axes]
    channels = inputs.shape.as_list()[axis]
    if axis in over:
        raise ValueError("reduction_axis must be mutually exclusive with channels_axis")
    if groups > channels or channels % groups:
        raise ValueError(f"{groups} groups do not divide {channels} channels.")
    with layer_scope(scope, "GroupNorm", inputs, reuse) as entered:
        beta, gamma = _center_and_scale(
            [channels], center, scale, trainable, variables_collections, param_initializers
        )
        sizes = tf.shape(inputs)
        split = tf.concat([sizes[:axis], [groups, channels // groups], sizes[axis + 1 :]], 0)
        grouped = tf.reshape(inputs, split)
        axes = [axis + 1, *(i if i < axis else i + 1 for i in over)]
        mean, variance = tf.nn.moments(grouped, axes, keepdims=True)
        shape = [1] * axis + [groups, channels // groups] + [1] * (rank - axis - 1)
        parts = [None if p is None else tf.reshape(p, shape) for p in (beta, gamma)]
        normed = tf.nn.batch_normalization(grouped, mean, variance, *parts, epsilon)
        outputs = tf.reshape(normed, sizes)
        outputs.set_shape(inputs.shape)
        return activated(outputs, activation_fn, outputs_collections, entered)


def _center_and_scale(
    shape: Any,
    center: bool,
    scale: bool,
    trainable: bool,
    collections: Any,
    initializers: Any = None,
) -> tuple[Any, Any]:
    if not tf.TensorShape(shape).is_fully_defined():
        raise ValueError(f"The shape of beta and gamma is not fully defined: {shape}")
    made = {
        "beta": _v1.zeros_initializer(),
        "gamma": _v1.ones_initializer(),
        **(initializers or {}),
    }

    def variable(name: str) -> Any:
        return layer_variable(
            name, shape, tf.float32, made[name], trainable=trainable, collections=collections
        )

    return variable("beta") if center else None, variable("gamma") if scale else None
