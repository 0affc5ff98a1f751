"""Layers of `tf.contrib.layers` without variables."""

from typing import Any

import tensorflow as tf

from estimator_train.legacy.contrib.framework.arg_scope import add_arg_scope
from estimator_train.legacy.contrib.layers.utils import collect_named_outputs, smart_cond

_v1 = tf.compat.v1


@add_arg_scope
def dropout(
    inputs: Any,
    keep_prob: Any = 0.5,
    noise_shape: Any = None,
    is_training: Any = True,
    outputs_collections: Any = None,
    scope: Any = None,
    seed: int | None = None,
) -> tf.Tensor:
    """Sets a share of 1 - keep_prob of the values to zero in training, and scales the rest."""
    with _v1.variable_scope(scope, "Dropout", [inputs]) as entered:
        outputs = smart_cond(
            is_training,
            lambda: _v1.nn.dropout(inputs, keep_prob, noise_shape, seed),
            lambda: tf.identity(inputs),
        )
        return collect_named_outputs(outputs_collections, entered.name, outputs)


@add_arg_scope
def flatten(inputs: Any, outputs_collections: Any = None, scope: Any = None) -> tf.Tensor:
    """All dimensions but the first as one.

    Raises:
      ValueError: inputs is one number.
    """
    inputs = tf.convert_to_tensor(inputs)
    if inputs.shape.rank == 0:
        raise ValueError("A number cannot be flattened.")
    size = inputs.shape[1:].num_elements()
    with tf.name_scope(scope or "Flatten") as entered:
        known = -1 if size is None else size
        rows = tf.shape(inputs)[0] if size is None else -1
        # Frozen graphs are asked by this name.
        outputs = tf.reshape(inputs, [rows, known], name="flatten/Reshape")
        return collect_named_outputs(outputs_collections, entered, outputs)


@add_arg_scope
def softmax(logits: Any, scope: Any = None) -> tf.Tensor:
    """Softmax over the last dimension; the output is `softmax/Reshape_1`."""
    with _v1.variable_scope(scope, "softmax", [logits]):
        flat = tf.nn.softmax(tf.reshape(logits, [-1, logits.shape[-1]]))
        outputs = tf.reshape(flat, tf.shape(logits))
        outputs.set_shape(logits.shape)
        return outputs


@add_arg_scope
def one_hot_encoding(
    labels: Any,
    num_classes: int,
    on_value: float = 1.0,
    off_value: float = 0.0,
    outputs_collections: Any = None,
    scope: Any = None,
) -> tf.Tensor:
    """Class numbers as vectors with a one."""
    with tf.name_scope(scope or "OneHotEncoding") as entered:
        encoded = tf.one_hot(tf.cast(labels, tf.int64), num_classes, on_value, off_value)
        return collect_named_outputs(outputs_collections, entered, encoded)


@add_arg_scope
def unit_norm(inputs: Any, dim: int, epsilon: float = 1e-7, scope: Any = None) -> tf.Tensor:
    """Scales along a dimension to length one.

    Raises:
      ValueError: There is no such dimension; they are counted from the first.
    """
    if not 0 <= dim < inputs.shape.rank:
        raise ValueError("dim must be positive but smaller than the input rank.")
    with tf.name_scope(scope or "UnitNorm"):
        length = tf.sqrt(tf.reduce_sum(tf.square(inputs), dim, keepdims=True) + epsilon)
        return tf.divide(inputs, length, name="div")


@add_arg_scope
def maxout(inputs: Any, num_units: int, axis: int = -1, scope: Any = None) -> tf.Tensor:
    """The largest of each group of values (Goodfellow and others, 2013).

    Args:
      inputs: A tensor.
      num_units: How many groups.
      axis: The dimension that is grouped.
      scope: The layer's name.

    Raises:
      ValueError: They cannot be of equal size.
    """
    with tf.name_scope(scope or "MaxOut"):
        inputs = tf.convert_to_tensor(inputs)
        axis %= inputs.shape.rank
        size, rest = divmod(inputs.shape.as_list()[axis], num_units)
        if rest:
            raise ValueError(f"{num_units} groups do not divide {inputs.shape[axis]} values.")
        shape = tf.shape(inputs)
        grouped = tf.concat([shape[:axis], [num_units, size], shape[axis + 1 :]], 0)
        return tf.reduce_max(tf.reshape(inputs, grouped), axis + 1)
