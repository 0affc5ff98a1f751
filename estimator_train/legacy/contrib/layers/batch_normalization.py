"""batch_norm of `tf.contrib.layers` (Ioffe and Szegedy, 2015)."""

import functools
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_train.legacy.contrib.framework.arg_scope import add_arg_scope
from estimator_train.legacy.contrib.layers.building import activated, layer_scope, layer_variable
from estimator_train.legacy.contrib.layers.convolution import checked_form
from estimator_train.legacy.contrib.layers.utils import constant_value, smart_cond

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
    fused: bool | None = None,
    data_format: str = "NHWC",
    zero_debias_moving_mean: bool = False,
    scope: Any = None,
    renorm: bool = False,
    renorm_clipping: Any = None,
    renorm_decay: float = 0.99,
    adjustment: Any = None,
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
      batch_weights: A weight for each example in the means.
      fused: Whether the moving variance is that of a sample (divided by n - 1); by default it is
        for inputs of two and four dimensions without weights.
      data_format: NHWC or NCHW.
      zero_debias_moving_mean: Whether the moving mean is as if it had not begun with zeros; its
        variables are `biased` and `local_step`.
      scope: The layer's name.
      renorm: Not supported.
      renorm_clipping: The same.
      renorm_decay: The same.
      adjustment: The same.

    Raises:
      ValueError: The size of the channels is not known, or data_format is none.
      NotImplementedError: An argument is not supported.
    """
    if renorm or adjustment is not None:
        raise NotImplementedError("batch_norm's renorm and adjustment have no stand-in.")
    del renorm_clipping, renorm_decay
    inputs = tf.convert_to_tensor(inputs)
    rank = inputs.shape.rank
    axis = 1 if checked_form(data_format) == "NCHW" else rank - 1
    size = inputs.shape.as_list()[axis]
    if size is None:
        raise ValueError("`C` dimension must be known but is None")
    made = {"gamma": _v1.ones_initializer(), "moving_variance": _v1.ones_initializer()}
    made |= param_initializers or {}
    dtype = tf.float32 if inputs.dtype in (tf.float16, tf.bfloat16) else inputs.dtype

    def variable(name: str, is_trained: bool) -> Any:
        return layer_variable(
            name,
            [size],
            dtype,
            made.get(name, _v1.zeros_initializer()),
            (param_regularizers or {}).get(name),
            is_trained and trainable,
            variables_collections,
        )

    # gamma comes before beta in a graph, but for these: so do their gradients.
    alone = updates_collections is None or zero_debias_moving_mean or batch_weights is not None
    beta_first = alone or (rank == 2 and fused is None)
    if fused is None:
        fused = rank in (2, 4) and batch_weights is None
    with layer_scope(scope, "BatchNorm", inputs, reuse) as entered:
        wanted = {"gamma": scale, "beta": center}
        trained = {
            name: variable(name, True)
            for name in sorted(wanted, reverse=not beta_first)
            if wanted[name]
        }
        beta, gamma = trained.get("beta"), trained.get("gamma")
        moving = variable("moving_mean", False), variable("moving_variance", False)
        compute = functools.partial(_fused, inputs, beta, gamma, epsilon)
        if not fused or data_format != "NHWC":
            compute = functools.partial(
                _by_moments, inputs, beta, gamma, epsilon, axis, fused, batch_weights
            )
        outputs, mean, variance = smart_cond(is_training, compute, lambda: compute(moving))
        if constant_value(is_training) in (None, True):
            mean_moves = _debiased if zero_debias_moving_mean else _moved
            share = smart_cond(is_training, lambda: tf.constant(1.0), lambda: tf.constant(0.0))
            updates = [
                mean_moves(moving[0], mean, decay, share),
                _moved(moving[1], variance, decay, share),
            ]
            outputs = _noted(updates, updates_collections, outputs)
        return activated(outputs, activation_fn, outputs_collections, entered)


def _fused(
    inputs: tf.Tensor, beta: Any, gamma: Any, epsilon: float, moving: Any = None
) -> tuple[tf.Tensor, Any, Any]:
    """Outputs, mean and variance by TensorFlow's own kernel; `moving` is None in training."""
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


def _by_moments(
    inputs: tf.Tensor,
    beta: Any,
    gamma: Any,
    epsilon: float,
    axis: int,
    fused: bool,
    weights: Any,
    moving: Any = None,
) -> tuple[tf.Tensor, Any, Any]:
    """As `_fused`, for all that the kernel does not have."""
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


def _moved(old: Any, value: Any, decay: float, share: tf.Tensor) -> Any:
    """The operation that moves a mean; a share of 0 leaves it as it is."""
    moves = (old - value) * tf.cast((1.0 - decay) * share, old.dtype)
    return _v1.assign_sub(old, moves, name="AssignMovingAvg")


def _debiased(old: Any, value: Any, decay: float, share: tf.Tensor) -> Any:
    """As `_moved`, of a mean that is divided by the weights that it has come to (Adam's way)."""
    made = {"initializer": _v1.zeros_initializer(), "trainable": False, "dtype": old.dtype}
    with _v1.variable_scope(old.op.name):
        biased = _v1.get_variable("biased", old.shape, **made)
        count = _v1.get_variable("local_step", [], **made)
    steps = [_moved(biased, value, decay, share), _v1.assign_add(count, share)]
    with tf.control_dependencies(steps):
        seen = 1.0 - decay ** tf.identity(count)
        mean = tf.where(seen > 0.0, tf.identity(biased) / seen, tf.identity(old))
        return _v1.assign(old, mean, name="AssignMovingAvg")


def _noted(updates: list[Any], collections: Any, outputs: tf.Tensor) -> tf.Tensor:
    """The outputs, after the updates if these are in no collection."""
    if collections is None:
        with tf.control_dependencies(updates):
            return tf.identity(outputs)
    for update in updates:
        _v1.add_to_collections(collections, update)
    return outputs
