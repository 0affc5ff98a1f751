"""Stand-in for `tf.contrib.gan.features`: conditioning and spectral normalization."""

import numbers
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from tf_contrib import layers
from tf_contrib._types import Regularizer

_v1 = tf.compat.v1
# Ends of the names of variables that are normalized by default.
_WEIGHTS = ("weights", "kernel")


def condition_tensor(tensor: tf.Tensor, conditioning: tf.Tensor) -> tf.Tensor:
    """Adds a linear function of a condition to a tensor.

    Args:
      tensor: Tensor of shape [batch, ...]; all but the batch size must be known.
      conditioning: Condition, shape [batch, ...].

    Raises:
      ValueError: A size of the tensor is unknown, or the condition has less than two axes.
    """
    if conditioning.shape.rank is not None and conditioning.shape.rank < 2:
        raise ValueError(f"conditioning must be at least 2D, but saw shape: {conditioning.shape}")
    tensor.shape[1:].assert_is_fully_defined()
    size = tensor.shape[1:].num_elements()
    projected = layers.linear(layers.flatten(conditioning), size)
    return tensor + tf.reshape(projected, [-1, *tensor.shape[1:]])


def condition_tensor_from_onehot(
    tensor: tf.Tensor, one_hot_labels: tf.Tensor, embedding_size: int = 256
) -> tf.Tensor:
    """Adds a linear function of an embedding of classes to a tensor.

    Args:
      tensor: Tensor of shape [batch, ...].
      one_hot_labels: Classes, shape [batch, classes].
      embedding_size: Size of the embedding.

    Raises:
      ValueError: The labels do not have two axes, or the number of classes is unknown.
    """
    one_hot_labels.shape.assert_has_rank(2)
    one_hot_labels.shape[1:].assert_is_fully_defined()
    shape = [int(one_hot_labels.shape[1]), embedding_size]
    embedding = _v1.get_variable("embedding", shape, initializer=_v1.random_normal_initializer())
    embedded = tf.nn.embedding_lookup(embedding, tf.argmax(one_hot_labels, axis=1))
    return condition_tensor(tensor, embedded)


def compute_spectral_norm(
    w_tensor: tf.Tensor, power_iteration_rounds: int = 1, name: str | None = None
) -> tf.Tensor:
    """Computes the largest singular value of a weight by power iteration.

    A variable of the scope keeps the vector with which the next call begins.

    Args:
      w_tensor: Weight; all its axes but the last become rows of a matrix.
      power_iteration_rounds: Number of iterations of each call.
      name: Scope of the variable, "spectral_norm" by default.
    """
    with _v1.variable_scope(name, "spectral_norm"):
        matrix = tf.reshape(w_tensor, [-1, w_tensor.shape[-1]])
        kept = _v1.get_variable(
            "spectral_norm_u",
            [matrix.shape[0], 1],
            initializer=_v1.truncated_normal_initializer(),
            trainable=False,
        )
        left = tf.convert_to_tensor(kept)
        for _ in range(power_iteration_rounds):
            right = tf.math.l2_normalize(tf.matmul(matrix, left, transpose_a=True))
            left = tf.math.l2_normalize(tf.matmul(matrix, right))
        with tf.control_dependencies([kept.assign(left, use_locking=True)]):
            left = tf.stop_gradient(left)
        right = tf.stop_gradient(right)
        norm = tf.matmul(tf.matmul(left, matrix, transpose_a=True), right)
        norm.shape.assert_is_fully_defined()
        return norm[0][0]


def spectral_normalize(
    w: tf.Tensor, power_iteration_rounds: int = 1, name: str | None = None
) -> tf.Tensor:
    """Divides a weight by its largest singular value; see `compute_spectral_norm`."""
    with _v1.variable_scope(name, "spectral_normalize"):
        return w / compute_spectral_norm(w, power_iteration_rounds)


def spectral_norm_regularizer(
    scale: float, power_iteration_rounds: int = 1, scope: str | None = None
) -> Regularizer:
    """Returns a regularizer: a factor times the largest singular value of a weight.

    Args:
      scale: Factor; with 0.0 the regularizer returns None.
      power_iteration_rounds: See `compute_spectral_norm`.
      scope: Name scope of the operations.

    Raises:
      ValueError: The factor is an integer or negative.
    """
    if isinstance(scale, numbers.Integral):
        raise ValueError(f"scale cannot be an integer: {scale}")
    if scale < 0.0:
        raise ValueError(f"Setting a scale less than 0 on a regularizer: {scale}")
    if scale == 0.0:
        return lambda weight: None

    def regularize(weight: tf.Tensor) -> tf.Tensor:
        with tf.name_scope(scope or "SpectralNormRegularizer") as name:
            norm = compute_spectral_norm(weight, power_iteration_rounds)
            return tf.multiply(tf.cast(scale, weight.dtype.base_dtype), norm, name=name)

    return regularize


def _is_weight(name: str) -> bool:
    """Returns whether a variable is the weight of a layer, by its name."""
    return name.rpartition("/")[2].rpartition("wise_")[2] in _WEIGHTS


def spectral_normalization_custom_getter(
    name_filter: Callable[[str], bool] = _is_weight, power_iteration_rounds: int = 1
) -> Callable[..., Any]:
    """Returns a custom getter of variable scopes that normalizes weights.

    Args:
      name_filter: Function of a variable's name: whether to normalize it.
      power_iteration_rounds: See `compute_spectral_norm`.

    Raises:
      ValueError: name_filter cannot be called.
    """
    if not callable(name_filter):
        raise ValueError("name_filter must be callable")

    def get(getter: Callable[..., Any], name: str, *arguments: Any, **named: Any) -> Any:
        weight = getter(name, *arguments, **named)
        if not name_filter(name):
            return weight
        # A variable that is used again has a normalized value already.
        scope = _v1.get_variable_scope()
        inner = f"{name}/spectral_normalize"
        with _v1.variable_scope(scope, reuse=scope.reuse, custom_getter=None):
            return spectral_normalize(weight, power_iteration_rounds, inner)

    return get
