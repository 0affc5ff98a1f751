"""Layers of `tf.contrib.layers` without variables."""

import tensorflow as tf

from estimator_train.legacy.contrib._types import Collections, Condition, Scope, Shape, TensorLike
from estimator_train.legacy.contrib.framework.arg_scope import add_arg_scope
from estimator_train.legacy.contrib.layers.utils import collect_named_outputs, smart_cond

_v1 = tf.compat.v1


@add_arg_scope
def dropout(
    inputs: TensorLike,
    keep_prob: TensorLike = 0.5,
    noise_shape: Shape | None = None,
    is_training: Condition = True,
    outputs_collections: Collections | None = None,
    scope: Scope | None = None,
    seed: int | None = None,
) -> tf.Tensor:
    """Sets values to zero with probability 1 - keep_prob in training, and scales the others."""
    with _v1.variable_scope(scope, "Dropout", [inputs]) as variable_scope:
        outputs = smart_cond(
            is_training,
            lambda: _v1.nn.dropout(inputs, keep_prob, noise_shape, seed),
            lambda: tf.identity(inputs),
        )
        return collect_named_outputs(outputs_collections, variable_scope.name, outputs)


@add_arg_scope
def flatten(
    inputs: TensorLike, outputs_collections: Collections | None = None, scope: Scope | None = None
) -> tf.Tensor:
    """Merges all dimensions but the first.

    Raises:
      ValueError: inputs is a scalar.
    """
    inputs = tf.convert_to_tensor(inputs)
    if inputs.shape.rank == 0:
        raise ValueError("inputs must have a rank of at least 1, got a scalar.")
    size = inputs.shape[1:].num_elements()
    with tf.name_scope(scope or "Flatten") as full_scope:
        inner_size = -1 if size is None else size
        rows = tf.shape(inputs)[0] if size is None else -1
        # Programs read frozen graphs by this name.
        outputs = tf.reshape(inputs, [rows, inner_size], name="flatten/Reshape")
        return collect_named_outputs(outputs_collections, full_scope, outputs)


@add_arg_scope
def softmax(logits: TensorLike, scope: Scope | None = None) -> tf.Tensor:
    """Computes the softmax over the last dimension; the output is named `softmax/Reshape_1`."""
    with _v1.variable_scope(scope, "softmax", [logits]):
        flat = tf.nn.softmax(tf.reshape(logits, [-1, logits.shape[-1]]))
        outputs = tf.reshape(flat, tf.shape(logits))
        outputs.set_shape(logits.shape)
        return outputs


@add_arg_scope
def one_hot_encoding(
    labels: TensorLike,
    num_classes: int,
    on_value: float = 1.0,
    off_value: float = 0.0,
    outputs_collections: Collections | None = None,
    scope: Scope | None = None,
) -> tf.Tensor:
    """Converts class numbers to one-hot vectors."""
    with tf.name_scope(scope or "OneHotEncoding") as full_scope:
        encoded = tf.one_hot(tf.cast(labels, tf.int64), num_classes, on_value, off_value)
        return collect_named_outputs(outputs_collections, full_scope, encoded)


@add_arg_scope
def unit_norm(
    inputs: TensorLike, dim: int, epsilon: float = 1e-7, scope: Scope | None = None
) -> tf.Tensor:
    """Scales vectors along a dimension to unit length.

    Raises:
      ValueError: The dimension does not exist; negative numbers are not accepted.
    """
    if not 0 <= dim < inputs.shape.rank:
        raise ValueError("dim must be positive but smaller than the input rank.")
    with tf.name_scope(scope or "UnitNorm"):
        length = tf.sqrt(tf.reduce_sum(tf.square(inputs), dim, keepdims=True) + epsilon)
        return tf.divide(inputs, length, name="div")


@add_arg_scope
def maxout(
    inputs: TensorLike, num_units: int, axis: int = -1, scope: Scope | None = None
) -> tf.Tensor:
    """Returns the maximum of each group of values (Goodfellow et al., 2013).

    Args:
      inputs: Tensor.
      num_units: Number of groups.
      axis: Axis to divide into groups.
      scope: Name of the layer.

    Raises:
      ValueError: num_units does not divide the axis.
    """
    with tf.name_scope(scope or "MaxOut"):
        inputs = tf.convert_to_tensor(inputs)
        axis %= inputs.shape.rank
        size, remainder = divmod(inputs.shape.as_list()[axis], num_units)
        if remainder:
            raise ValueError(f"{num_units} groups do not divide {inputs.shape[axis]} values.")
        shape = tf.shape(inputs)
        grouped = tf.concat([shape[:axis], [num_units, size], shape[axis + 1 :]], 0)
        return tf.reduce_max(tf.reshape(inputs, grouped), axis + 1)
