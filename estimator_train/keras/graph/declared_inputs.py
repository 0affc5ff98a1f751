"""Features beside what the inputs of a Keras model were declared as.

A feature is a tensor, or anything else that an input_fn may return; a symbol is the model's input.
"""

from typing import Any

import tensorflow as tf


def _is_dense(feature: Any) -> bool:
    return isinstance(feature, (tf.Tensor, tf.Variable))


def in_float_type(feature: Any, symbol: Any) -> Any:
    """A float feature in the input's float type, which layers would cast it to themselves."""
    floats = _is_dense(feature) and feature.dtype.is_floating and symbol.dtype.is_floating
    if floats and feature.dtype != symbol.dtype:
        feature = tf.cast(feature, symbol.dtype)
    if _is_dense(feature) and feature.shape.rank is None:
        return tf.ensure_shape(feature, symbol.shape)
    return feature


def is_as_declared(feature: Any, symbol: Any) -> bool:
    """Whether a feature is what the input was declared as, or of another kind altogether."""
    if not _is_dense(feature) or feature.dtype == tf.string or symbol.dtype == tf.string:
        return True
    return feature.dtype == symbol.dtype and not _is_row_of(feature, symbol)


def _is_row_of(feature: Any, symbol: Any) -> bool:
    """Whether a feature of several dimensions has the elements of an input that takes rows."""
    if symbol.shape.rank != 2 or (feature.shape.rank or 0) < 3:
        return False
    row = feature.shape[1:].num_elements()
    return row is not None and row == symbol.shape[1]


def as_declared(feature: Any, symbol: Any) -> Any:
    """A feature in the input's dtype, and as rows where the input takes rows."""
    if is_as_declared(feature, symbol):
        return feature
    if _is_row_of(feature, symbol):
        feature = tf.reshape(feature, [-1, symbol.shape[1]])
    return tf.cast(feature, symbol.dtype)


def placeholder_like(feature: Any) -> Any:
    """A placeholder of a feature's dtype and shape, for a graph of its own."""
    if isinstance(feature, tf.SparseTensor):
        return tf.compat.v1.sparse_placeholder(feature.dtype, feature.shape)
    if isinstance(feature, tf.RaggedTensor):
        values = feature.flat_values.shape[1:]
        return tf.compat.v1.ragged.placeholder(feature.dtype, feature.ragged_rank, values)
    return tf.compat.v1.placeholder(feature.dtype, feature.shape)
