"""Functions for gradients that may be None, dense or IndexedSlices."""

from collections.abc import Callable

import tensorflow as tf

from tf_contrib._types import Gradient


def get_values(gradient: Gradient) -> tf.Tensor:
    """Returns the values of a gradient, for IndexedSlices those of the rows."""
    return gradient.values if isinstance(gradient, tf.IndexedSlices) else gradient


def map_values(
    function: Callable[[tf.Tensor], tf.Tensor], gradient: Gradient | None
) -> Gradient | None:
    """Applies a function to the values of a gradient; None stays None."""
    if gradient is None:
        return None
    values = function(get_values(gradient))
    if isinstance(gradient, tf.IndexedSlices):
        return tf.IndexedSlices(values, gradient.indices, gradient.dense_shape)
    return values
