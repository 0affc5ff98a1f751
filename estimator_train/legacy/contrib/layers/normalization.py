"""Normalizations of `tf.contrib.layers`."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_train.legacy.contrib.arg_scope import add_arg_scope
from estimator_train.legacy.contrib.layers.building import (
    collected,
    layer_scope,
    layer_variable,
)

_v1 = tf.compat.v1


@add_arg_scope
def batch_norm(
    inputs: Any,
    decay: float = 0.999,
    center: bool = True,
    scale: bool = False,
    epsilon: float = 0.001,
    activation_fn: Callable[..., Any] | None = None,
    param_initializers: Any = None,
    param_regularizers: Any = None,
    updates_collections: Any = _v1.GraphKeys.UPDATE_OPS,
    is_training: Any = True,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    batch_weights: Any = None,
    fused: Any = None,
    data_format: str = "NHWC",
    zero_debias_moving_mean: bool = False,
    scope: Any = None,
    **unused: Any,
) -> tf.Tensor:
    """Normalizes over all dimensions but the channels, by the batch or by moving means.

    Its variables are `beta`, `gamma`, `moving_mean` and `moving_variance`.

    Args:
      inputs: A tensor.
      decay: Of the moving means.
      center: Whether there is a beta that is added.
      scale: Whether there is a gamma that is multiplied by.
      epsilon: Added to the variance.
      activation_fn: Of the output.
      param_initializers: Variable to initializer.
      param_regularizers: Variable to regularizer.
      updates_collections: Collection for the updates of the moving means; None updates them with
        each step that computes the output.
      is_training: Whether to normalize by the batch; True, False or a tensor.
      reuse: Whether the variables are there already.
      variables_collections: Collections for the variables.
      outputs_collections: Collections for the output.
      trainable: Whether the variables are trained.
      batch_weights: Not supported.
      fused: No difference in the result.
      data_format: NHWC or NCHW.
      zero_debias_moving_mean: Not supported.
      scope: The layer's name.
      **unused: What else there was, of renormalization.
    """
    del fused, batch_weights, zero_debias_moving_mean
    inputs = tf.convert_to_tensor(inputs)
    rank = inputs.shape.rank
    axis = 1 if data_format == "NCHW" and rank > 2 else rank - 1
    made = {"gamma": _v1.ones_initializer(), "moving_variance": _v1.ones_initializer()}
    made |= param_initializers or {}
    regularizers = param_regularizers or {}

    def variable(name: str, is_trained: bool) -> Any:
        return layer_variable(
            name,
            [inputs.shape[axis]],
            tf.float32,
            made.get(name, _v1.zeros_initializer()),
            regularizers.get(name),
            is_trained and trainable,
            variables_collections,
        )

    with layer_scope(scope, "BatchNorm", inputs, reuse):
        beta = variable("beta", True) if center else None
        gamma = variable("gamma", True) if scale else None
        moving = variable("moving_mean", False), variable("moving_variance", False)
        axes = [i for i in range(rank) if i != axis]
        used = _moments(inputs, axes, moving, decay, is_training, updates_collections)
        shape = [1] * rank
        shape[axis] = -1
        parts = [None if p is None else tf.reshape(p, shape) for p in (*used, beta, gamma)]
        outputs = tf.nn.batch_normalization(inputs, *parts, epsilon)
        return collected(activation_fn(outputs) if activation_fn else outputs, outputs_collections)


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
    """
    inputs = tf.convert_to_tensor(inputs)
    rank = inputs.shape.rank
    axes = list(range(begin_norm_axis % rank, rank))
    with layer_scope(scope, "LayerNorm", inputs, reuse):
        beta, gamma = _center_and_scale(
            inputs.shape[begin_params_axis % rank :],
            center,
            scale,
            trainable,
            variables_collections,
        )
        mean, variance = tf.nn.moments(inputs, axes, keepdims=True)
        epsilon = 1e-3 if inputs.dtype == tf.float16 else 1e-12
        outputs = tf.nn.batch_normalization(inputs, mean, variance, beta, gamma, epsilon)
        return collected(activation_fn(outputs) if activation_fn else outputs, outputs_collections)


@add_arg_scope
def instance_norm(
    inputs: Any,
    center: bool = True,
    scale: bool = True,
    epsilon: float = 1e-6,
    activation_fn: Callable[..., Any] | None = None,
    reuse: Any = None,
    trainable: bool = True,
    scope: Any = None,
    **unused: Any,
) -> tf.Tensor:
    """Normalizes each channel of each picture; see `layer_norm`."""
    axes = list(range(1, inputs.shape.rank - 1))
    with layer_scope(scope, "InstanceNorm", inputs, reuse):
        beta, gamma = _center_and_scale(inputs.shape[-1:], center, scale, trainable, None)
        mean, variance = tf.nn.moments(inputs, axes, keepdims=True)
        outputs = tf.nn.batch_normalization(inputs, mean, variance, beta, gamma, epsilon)
        return activation_fn(outputs) if activation_fn else outputs


@add_arg_scope
def group_norm(
    inputs: Any,
    groups: int = 32,
    center: bool = True,
    scale: bool = True,
    epsilon: float = 1e-6,
    activation_fn: Callable[..., Any] | None = None,
    reuse: Any = None,
    trainable: bool = True,
    scope: Any = None,
    **unused: Any,
) -> tf.Tensor:
    """Normalizes groups of channels of each picture; see `layer_norm`."""
    channels = inputs.shape[-1]
    if channels % groups:
        raise ValueError(f"Number of groups {groups} does not divide the {channels} channels.")
    with layer_scope(scope, "GroupNorm", inputs, reuse):
        beta, gamma = _center_and_scale([channels], center, scale, trainable, None)
        shape = tf.shape(inputs)
        grouped = tf.reshape(inputs, tf.concat([shape[:-1], [groups, channels // groups]], 0))
        axes = [*range(1, inputs.shape.rank - 1), inputs.shape.rank]
        mean, variance = tf.nn.moments(grouped, axes, keepdims=True)
        normed = (grouped - mean) * tf.math.rsqrt(variance + epsilon)
        outputs = tf.reshape(normed, shape)
        outputs = outputs * gamma if gamma is not None else outputs
        outputs = outputs + beta if beta is not None else outputs
        outputs = tf.ensure_shape(outputs, inputs.shape)
        return activation_fn(outputs) if activation_fn else outputs


def _center_and_scale(
    shape: Any, center: bool, scale: bool, trainable: bool, collections: Any
) -> tuple[Any, Any]:
    ones, zeros = _v1.ones_initializer(), _v1.zeros_initializer()
    arguments = {"trainable": trainable, "collections": collections}
    beta = layer_variable("beta", shape, tf.float32, zeros, **arguments) if center else None
    gamma = layer_variable("gamma", shape, tf.float32, ones, **arguments) if scale else None
    return beta, gamma


def _moments(
    inputs: tf.Tensor, axes: Any, moving: Any, decay: float, is_training: Any, collection: Any
) -> tuple[Any, Any]:
    """Mean and variance to normalize by; the updates of the moving ones are noted or done."""
    if is_training is False:
        return moving
    mean, variance = tf.nn.moments(inputs, axes)

    def updates() -> list[Any]:
        return [
            _v1.assign_sub(old, (old - new) * (1.0 - decay))
            for old, new in zip(moving, (mean, variance), strict=True)
        ]

    def by_batch() -> tuple[Any, Any]:
        with tf.control_dependencies(updates()):
            return tf.identity(mean), tf.identity(variance)

    if isinstance(is_training, tf.Tensor):
        return tuple(tf.cond(is_training, by_batch, lambda: tuple(tf.identity(m) for m in moving)))
    if collection is None:
        return by_batch()
    for update in updates():
        _v1.add_to_collection(collection, update)
    return mean, variance
