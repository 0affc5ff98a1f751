"""Features in the dtypes and shapes of a Keras model's Inputs.

A feature is a tensor or another value of an input_fn; a symbol is the model's symbolic input.
"""

from typing import Any, TypeAlias

import tensorflow as tf

Feature: TypeAlias = Any
Symbol: TypeAlias = Any  # A KerasTensor, which has no public name in tf_keras.


def _is_dense(feature: Feature) -> bool:
    return isinstance(feature, (tf.Tensor, tf.Variable))


def cast_floats(feature: Feature, symbol: Symbol) -> Feature:
    """Casts a float feature to the input's float dtype, as layers do."""
    floats = _is_dense(feature) and feature.dtype.is_floating and symbol.dtype.is_floating
    if floats and feature.dtype != symbol.dtype:
        feature = tf.cast(feature, symbol.dtype)
    if _is_dense(feature) and feature.shape.rank is None:
        return tf.ensure_shape(feature, symbol.shape)
    return feature


def is_as_declared(feature: Feature, symbol: Symbol) -> bool:
    """Returns whether a feature has the input's dtype and shape, or cannot be cast to them."""
    if not _is_dense(feature) or feature.dtype == tf.string or symbol.dtype == tf.string:
        return True
    return feature.dtype == symbol.dtype and not _is_row_of(feature, symbol)


def _is_row_of(feature: Feature, symbol: Symbol) -> bool:
    """Returns whether a feature of rank 3 or more has as many elements as the input's rows."""
    if symbol.shape.rank != 2 or (feature.shape.rank or 0) < 3:
        return False
    row = feature.shape[1:].num_elements()
    return row is not None and row == symbol.shape[1]


def cast_to_declared(feature: Feature, symbol: Symbol) -> Feature:
    """Casts a feature to the input's dtype, and flattens it to rows if the input takes rows."""
    if is_as_declared(feature, symbol):
        return feature
    if _is_row_of(feature, symbol):
        feature = tf.reshape(feature, [-1, symbol.shape[1]])
    return tf.cast(feature, symbol.dtype)


def make_placeholder_like(feature: Feature) -> Feature:
    """Makes a placeholder of a feature's dtype and shape in the default graph."""
    if isinstance(feature, tf.SparseTensor):
        return tf.compat.v1.sparse_placeholder(feature.dtype, feature.shape)
    if isinstance(feature, tf.RaggedTensor):
        values = feature.flat_values.shape[1:]
        return tf.compat.v1.ragged.placeholder(feature.dtype, feature.ragged_rank, values)
    return tf.compat.v1.placeholder(feature.dtype, feature.shape)
