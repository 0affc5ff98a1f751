"""Normalizations of single examples, of `tf.contrib.layers`."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from tf_contrib._types import (
    Collections,
    Initializer,
    Scope,
    Shape,
    TensorLike,
    VariableCollections,
)
from tf_contrib.framework.arg_scope import add_arg_scope
from tf_contrib.layers.building import (
    activate_and_collect,
    layer_scope,
    layer_variable,
)
from tf_contrib.layers.convolution import check_data_format

_v1 = tf.compat.v1


@add_arg_scope
def layer_norm(
    inputs: TensorLike,
    center: bool = True,
    scale: bool = True,
    activation_fn: Callable[..., Any] | None = None,
    reuse: bool | None = None,
    variables_collections: VariableCollections | None = None,
    outputs_collections: Collections | None = None,
    trainable: bool = True,
    begin_norm_axis: int = 1,
    begin_params_axis: int = -1,
    scope: Scope | None = None,
) -> tf.Tensor:
    """Normalizes each example; its variables are `beta` and `gamma`.

    Args:
      inputs: Tensor with a batch dimension.
      center: Whether to add beta.
      scale: Whether to multiply by gamma.
      activation_fn: Function to apply to the outputs.
      reuse: Whether to reuse existing variables.
      variables_collections: Collections of the variables.
      outputs_collections: Collections of the outputs.
      trainable: Whether the variables are trained.
      begin_norm_axis: First of the axes to normalize over.
      begin_params_axis: First of the axes of beta and gamma.
      scope: Variable scope of the layer.

    Raises:
      ValueError: An axis does not exist, or the shape of beta and gamma is unknown.
    """
    inputs = tf.convert_to_tensor(inputs)
    rank = inputs.shape.rank
    if begin_norm_axis >= rank or begin_params_axis >= rank:
        raise ValueError(f"begin_params_axis ({begin_params_axis}) and begin_norm_axis "
                         f"({begin_norm_axis}) must be < rank(inputs) ({rank})")  # fmt: skip
    axes = list(range(begin_norm_axis % rank, rank))
    with layer_scope(scope, "LayerNorm", inputs, reuse) as variable_scope:
        shape = inputs.shape[begin_params_axis % rank :]
        beta, gamma = _create_beta_and_gamma(shape, center, scale, trainable, variables_collections)
        mean, variance = tf.nn.moments(inputs, axes, keepdims=True)
        epsilon = 1e-3 if inputs.dtype == tf.float16 else 1e-12
        outputs = tf.nn.batch_normalization(inputs, mean, variance, beta, gamma, epsilon)
        return activate_and_collect(outputs, activation_fn, outputs_collections, variable_scope)


@add_arg_scope
def instance_norm(
    inputs: TensorLike,
    center: bool = True,
    scale: bool = True,
    epsilon: float = 1e-6,
    activation_fn: Callable[..., Any] | None = None,
    param_initializers: Mapping[str, Initializer] | None = None,
    reuse: bool | None = None,
    variables_collections: VariableCollections | None = None,
    outputs_collections: Collections | None = None,
    trainable: bool = True,
    data_format: str = "NHWC",
    scope: Scope | None = None,
) -> tf.Tensor:
    """Normalizes each channel of each image (Ulyanov et al., 2016); see `layer_norm`."""
    inputs = tf.convert_to_tensor(inputs)
    rank = inputs.shape.rank
    axis = 1 if check_data_format(data_format) == "NCHW" else rank - 1
    axes = [i for i in range(1, rank) if i != axis]
    with layer_scope(scope, "InstanceNorm", inputs, reuse) as variable_scope:
        channels = inputs.shape[axis]
        beta, gamma = _create_beta_and_gamma(
            [channels], center, scale, trainable, variables_collections, param_initializers
        )
        shape = [-1 if i == axis else 1 for i in range(rank)]
        parts = [None if p is None else tf.reshape(p, shape) for p in (beta, gamma)]
        mean, variance = tf.nn.moments(inputs, axes, keepdims=True)
        outputs = tf.nn.batch_normalization(
            inputs, mean, variance, *parts, epsilon, name="instancenorm"
        )
        return activate_and_collect(outputs, activation_fn, outputs_collections, variable_scope)


@add_arg_scope
def group_norm(
    inputs: TensorLike,
    groups: int = 32,
    channels_axis: int = -1,
    reduction_axes: Sequence[int] = (-3, -2),
    center: bool = True,
    scale: bool = True,
    epsilon: float = 1e-6,
    activation_fn: Callable[..., Any] | None = None,
    param_initializers: Mapping[str, Initializer] | None = None,
    reuse: bool | None = None,
    variables_collections: VariableCollections | None = None,
    outputs_collections: Collections | None = None,
    trainable: bool = True,
    scope: Scope | None = None,
    mean_close_to_zero: bool = False,
) -> tf.Tensor:
    """Normalizes groups of channels of each image (Wu and He, 2018).

    The arguments that are not listed here are those of `layer_norm`.

    Args:
      inputs: Tensor with a batch dimension.
      groups: Number of groups.
      channels_axis: Axis of the channels.
      reduction_axes: Axes to normalize over, besides the channels of a group.
      center: Whether to add beta.
      scale: Whether to multiply by gamma.
      epsilon: Number added to the variance.
      activation_fn: Function to apply to the outputs.
      param_initializers: Initializers of beta and gamma by name.
      reuse: Whether to reuse existing variables.
      variables_collections: Collections of the variables.
      outputs_collections: Collections of the outputs.
      trainable: Whether the variables are trained.
      scope: Variable scope of the layer.
      mean_close_to_zero: Unused: it changes only numerical precision.

    Raises:
      ValueError: The groups do not divide the channels, or channels_axis is in reduction_axes.
    """
    del mean_close_to_zero
    inputs = tf.convert_to_tensor(inputs)
    rank = inputs.shape.rank
    axis, reduced_axes = channels_axis % rank, [i % rank for i in reduction_axes]
    channels = inputs.shape.as_list()[axis]
    if axis in reduced_axes:
        raise ValueError("reduction_axis must be mutually exclusive with channels_axis")
    if groups > channels or channels % groups:
        raise ValueError(f"{groups} groups do not divide {channels} channels.")
    with layer_scope(scope, "GroupNorm", inputs, reuse) as variable_scope:
        beta, gamma = _create_beta_and_gamma(
            [channels], center, scale, trainable, variables_collections, param_initializers
        )
        sizes = tf.shape(inputs)
        split = tf.concat([sizes[:axis], [groups, channels // groups], sizes[axis + 1 :]], 0)
        grouped = tf.reshape(inputs, split)
        axes = [axis + 1, *(i if i < axis else i + 1 for i in reduced_axes)]
        mean, variance = tf.nn.moments(grouped, axes, keepdims=True)
        shape = [1] * axis + [groups, channels // groups] + [1] * (rank - axis - 1)
        parts = [None if p is None else tf.reshape(p, shape) for p in (beta, gamma)]
        normed = tf.nn.batch_normalization(grouped, mean, variance, *parts, epsilon)
        outputs = tf.reshape(normed, sizes)
        outputs.set_shape(inputs.shape)
        return activate_and_collect(outputs, activation_fn, outputs_collections, variable_scope)


def _create_beta_and_gamma(
    shape: Shape,
    center: bool,
    scale: bool,
    trainable: bool,
    collections: VariableCollections | None,
    initializers: Mapping[str, Initializer] | None = None,
) -> tuple[Any, Any]:
    if not tf.TensorShape(shape).is_fully_defined():
        raise ValueError(f"The shape of beta and gamma is not fully defined: {shape}")
    all_initializers = {
        "beta": _v1.zeros_initializer(),
        "gamma": _v1.ones_initializer(),
        **(initializers or {}),
    }

    def create_variable(name: str) -> tf.Variable:
        return layer_variable(
            name,
            shape,
            tf.float32,
            all_initializers[name],
            trainable=trainable,
            collections=collections,
        )

    return create_variable("beta") if center else None, create_variable("gamma") if scale else None
