"""`batch_norm` of `tf.contrib.layers` (Ioffe and Szegedy, 2015)."""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from tf_contrib._types import (
    Collections,
    Condition,
    Initializer,
    Regularizer,
    Scope,
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
from tf_contrib.layers.utils import constant_value, smart_cond

_v1 = tf.compat.v1


@add_arg_scope
def batch_norm(
    inputs: TensorLike,
    decay: float = 0.999,
    center: bool = True,
    scale: bool = False,
    epsilon: float = 0.001,
    activation_fn: Callable[..., Any] | None = None,
    param_initializers: Mapping[str, Initializer] | None = None,
    param_regularizers: Mapping[str, Regularizer] | None = None,
    updates_collections: Collections = _v1.GraphKeys.UPDATE_OPS,
    is_training: Condition = True,
    reuse: bool | None = None,
    variables_collections: VariableCollections | None = None,
    outputs_collections: Collections | None = None,
    trainable: bool = True,
    batch_weights: TensorLike | None = None,
    fused: bool | None = None,
    data_format: str = "NHWC",
    zero_debias_moving_mean: bool = False,
    scope: Scope | None = None,
    renorm: bool = False,
    renorm_clipping: object = None,
    renorm_decay: float = 0.99,
    adjustment: object = None,
) -> tf.Tensor:
    """Normalizes each channel by the mean and variance of the batch, or by moving averages.

    Its variables are `beta`, `gamma`, `moving_mean` and `moving_variance`.

    Args:
      inputs: Tensor with a dimension of channels.
      decay: Decay of the moving averages.
      center: Whether to add beta.
      scale: Whether to multiply by gamma.
      epsilon: Number added to the variance.
      activation_fn: Function to apply to the outputs.
      param_initializers: Initializers of the variables by name.
      param_regularizers: Regularizers of the variables by name.
      updates_collections: Collection of the updates of the moving averages; None runs them with
        every step that computes the outputs.
      is_training: Whether to normalize by the batch; True, False or a tensor.
      reuse: Whether to reuse existing variables.
      variables_collections: Collections of the variables.
      outputs_collections: Collections of the outputs.
      trainable: Whether beta and gamma are trained.
      batch_weights: Weights of the examples in the mean and variance.
      fused: Whether the moving variance is the sample variance (divided by n - 1); by default it is
        for inputs of rank 2 or 4 without weights.
      data_format: NHWC or NCHW.
      zero_debias_moving_mean: Whether to correct the moving mean for its start at zero; adds the
        variables `biased` and `local_step`.
      scope: Variable scope of the layer.
      renorm: Not supported.
      renorm_clipping: Unused.
      renorm_decay: Unused.
      adjustment: Not supported.

    Raises:
      ValueError: The number of channels is unknown, or data_format is wrong.
      NotImplementedError: renorm or adjustment is given.
    """
    if renorm or adjustment is not None:
        raise NotImplementedError("batch_norm does not support renorm and adjustment: remove them.")
    del renorm_clipping, renorm_decay
    inputs = tf.convert_to_tensor(inputs)
    rank = inputs.shape.rank
    axis, size = _find_channels(inputs, data_format)
    beta_first = (rank == 2 and fused is None) or batch_weights is not None
    beta_first |= updates_collections is None or zero_debias_moving_mean
    if fused is None:
        fused = rank in (2, 4) and batch_weights is None
    with layer_scope(scope, "BatchNorm", inputs, reuse) as variable_scope:
        given = param_initializers or {}, param_regularizers or {}, variables_collections
        variable = functools.partial(_create_variable, size, _get_dtype(inputs), *given)
        beta, gamma = _create_trained(variable, center, scale, trainable, beta_first)
        moving = variable("moving_mean", False), variable("moving_variance", False)
        compute = functools.partial(_normalize_fused, inputs, beta, gamma, epsilon)
        if not fused or data_format != "NHWC":
            compute = functools.partial(
                _normalize_by_moments, inputs, beta, gamma, epsilon, axis, fused, batch_weights
            )
        outputs, *moments = smart_cond(is_training, compute, lambda: compute(moving))
        if constant_value(is_training) in (None, True):
            updates = _create_updates(is_training, moving, moments, decay, zero_debias_moving_mean)
            outputs = _attach_updates(updates, updates_collections, outputs)
        return activate_and_collect(outputs, activation_fn, outputs_collections, variable_scope)


def _get_dtype(inputs: tf.Tensor) -> tf.DType:
    """Returns the dtype of the variables: at least float32."""
    return tf.float32 if inputs.dtype in (tf.float16, tf.bfloat16) else inputs.dtype


def _create_trained(
    variable: Callable[[str, bool], tf.Variable],
    center: bool,
    scale: bool,
    trainable: bool,
    beta_first: bool,
) -> tuple[tf.Variable | None, tf.Variable | None]:
    """Creates beta and gamma, or None for those that are not used.

    tf.contrib usually creates gamma before beta; gradients have the same order.
    """
    is_used = {"gamma": scale, "beta": center}
    names = [name for name in sorted(is_used, reverse=not beta_first) if is_used[name]]
    created = {name: variable(name, trainable) for name in names}
    return created.get("beta"), created.get("gamma")


def _find_channels(inputs: tf.Tensor, data_format: str) -> tuple[int, int]:
    """Returns the axis of the channels and their number."""
    axis = 1 if check_data_format(data_format) == "NCHW" else inputs.shape.rank - 1
    size = inputs.shape.as_list()[axis]
    if size is None:
        raise ValueError("`C` dimension must be known but is None")
    return axis, size


def _create_updates(
    is_training: Condition,
    moving: Sequence[tf.Variable],
    values: Sequence[tf.Tensor],
    decay: float,
    debias: bool,
) -> list[tf.Operation]:
    """Returns the updates of the moving mean and variance."""
    factor = smart_cond(is_training, lambda: tf.constant(1.0), lambda: tf.constant(0.0))
    update_mean = _update_debiased_average if debias else _update_average
    return [
        update_mean(moving[0], values[0], decay, factor),
        _update_average(moving[1], values[1], decay, factor),
    ]


def _create_variable(
    size: int,
    dtype: tf.DType,
    initializers: Mapping[str, Initializer],
    regularizers: Mapping[str, Regularizer],
    collections: VariableCollections | None,
    name: str,
    trainable: bool,
) -> tf.Variable:
    ones, zeros = _v1.ones_initializer(), _v1.zeros_initializer()
    default = ones if name in ("gamma", "moving_variance") else zeros
    initializer = initializers.get(name, default)
    regularizer = regularizers.get(name)
    return layer_variable(name, [size], dtype, initializer, regularizer, trainable, collections)


def _normalize_fused(
    inputs: tf.Tensor,
    beta: tf.Variable | None,
    gamma: tf.Variable | None,
    epsilon: float,
    moving: tuple[tf.Variable, tf.Variable] | None = None,
) -> tuple[tf.Tensor, Any, Any]:
    """Returns outputs, mean and variance from TensorFlow's kernel; `moving` is None in training."""
    size = inputs.shape[-1]
    gamma = tf.ones([size]) if gamma is None else gamma
    beta = tf.zeros([size]) if beta is None else beta
    mean, variance = (None, None) if moving is None else moving
    pictures = inputs if inputs.shape.rank == 4 else tf.reshape(inputs, [-1, 1, 1, size])
    outputs, mean, variance = _v1.nn.fused_batch_norm(
        pictures, gamma, beta, mean, variance, epsilon, is_training=moving is None
    )
    if inputs.shape.rank != 4:
        outputs = tf.reshape(outputs, tf.shape(inputs))
        outputs.set_shape(inputs.shape)
    return outputs, mean, variance


def _normalize_by_moments(
    inputs: tf.Tensor,
    beta: tf.Variable | None,
    gamma: tf.Variable | None,
    epsilon: float,
    axis: int,
    fused: bool,
    weights: TensorLike | None,
    moving: tuple[tf.Variable, tf.Variable] | None = None,
) -> tuple[tf.Tensor, Any, Any]:
    """Returns outputs, mean and variance for arguments that the fused kernel does not support."""
    rank = inputs.shape.rank
    axes = [i for i in range(rank) if i != axis]
    computed = tf.cast(inputs, tf.float32) if inputs.dtype.size == 2 else inputs
    if moving is not None:
        mean, variance = tf.identity(moving[0]), tf.identity(moving[1])
    elif weights is not None:
        weights = tf.reshape(tf.cast(weights, computed.dtype), [-1] + [1] * (rank - 1))
        mean, variance = tf.nn.weighted_moments(computed, axes, weights)
    else:
        mean, variance = tf.nn.moments(computed, axes)
    shape = [-1 if i == axis else 1 for i in range(rank)]
    parts = [None if p is None else tf.reshape(p, shape) for p in (mean, variance, beta, gamma)]
    outputs = tf.nn.batch_normalization(computed, *parts, epsilon)
    if fused and moving is None:
        count = tf.cast(tf.size(inputs) // inputs.shape[axis], variance.dtype)
        variance *= count / tf.maximum(count - 1, 1)
    return tf.cast(outputs, inputs.dtype), mean, variance


def _update_average(
    old: tf.Variable, value: tf.Tensor, decay: float, factor: tf.Tensor
) -> tf.Operation:
    """Moves an average towards a value if the factor is 1; a factor of 0 leaves it unchanged."""
    moves = (old - value) * tf.cast((1.0 - decay) * factor, old.dtype)
    return _v1.assign_sub(old, moves, name="AssignMovingAvg")


def _update_debiased_average(
    old: tf.Variable, value: tf.Tensor, decay: float, factor: tf.Tensor
) -> tf.Operation:
    """Moves an average that is corrected for its start at zero, as Adam does."""
    initializers = {"initializer": _v1.zeros_initializer(), "trainable": False, "dtype": old.dtype}
    with _v1.variable_scope(old.op.name):
        biased = _v1.get_variable("biased", old.shape, **initializers)
        count = _v1.get_variable("local_step", [], **initializers)
    steps = [
        _update_average(biased, value, decay, factor),
        _v1.assign_add(count, factor),
    ]
    with tf.control_dependencies(steps):
        total_weight = 1.0 - decay ** tf.identity(count)
        mean = tf.where(total_weight > 0.0, tf.identity(biased) / total_weight, tf.identity(old))
        return _v1.assign(old, mean, name="AssignMovingAvg")


def _attach_updates(
    updates: list[Any], collections: Collections | None, outputs: tf.Tensor
) -> tf.Tensor:
    """Adds the updates to collections; without collections, makes the outputs depend on them."""
    if collections is None:
        with tf.control_dependencies(updates):
            return tf.identity(outputs)
    for update in updates:
        _v1.add_to_collections(collections, update)
    return outputs
