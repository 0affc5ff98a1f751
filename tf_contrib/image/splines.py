"""Polyharmonic splines."""

import tensorflow as tf

from tf_contrib._types import TensorLike

# Keeps roots and logarithms of squared distances, and their gradients, finite.
_EPSILON = 1e-10


def interpolate_spline(
    train_points: TensorLike,
    train_values: TensorLike,
    query_points: TensorLike,
    order: int,
    regularization_weight: float = 0.0,
    name: str = "interpolate_spline",
) -> tf.Tensor:
    """Interpolates values by a polyharmonic spline with a linear term.

    Args:
      train_points: The points whose values are known, shape (batch, n, d).
      train_values: Their values, shape (batch, n, k).
      query_points: The points whose values are computed, shape (batch, m, d).
      order: Order of the spline: 1 interpolates linearly, 2 is a thin plate.
      regularization_weight: Number that is added to the diagonal, for which the values are only
        approximated.
      name: Name scope of the operations.

    Returns:
      The values, shape (batch, m, k). Formulas: https://en.wikipedia.org/wiki/Polyharmonic_spline
    """
    with tf.name_scope(name or "interpolate_spline"):
        points, values = tf.convert_to_tensor(train_points), tf.convert_to_tensor(train_values)
        queries = tf.convert_to_tensor(query_points)
        kernel = _bend(_compute_distances(points, points), order)
        kernel += regularization_weight * tf.eye(tf.shape(points)[1], dtype=points.dtype)
        linear = _append_ones(points)
        shape = tf.shape(linear)
        corner = tf.zeros([shape[0], shape[2], shape[2]], points.dtype)
        upper = tf.concat([kernel, linear], 2)
        lower = tf.concat([tf.transpose(linear, [0, 2, 1]), corner], 2)
        zeros = tf.zeros([shape[0], shape[2], tf.shape(values)[2]], values.dtype)
        weights = tf.linalg.solve(tf.concat([upper, lower], 1), tf.concat([values, zeros], 1))
        terms = tf.concat(
            [_bend(_compute_distances(queries, points), order), _append_ones(queries)], 2
        )
        return tf.matmul(terms, weights)


def _append_ones(points: tf.Tensor) -> tf.Tensor:
    return tf.concat([points, tf.ones_like(points[..., :1])], 2)


def _compute_distances(one: tf.Tensor, other: tf.Tensor) -> tf.Tensor:
    """Returns the squared distances of all pairs, shape (batch, points, other points)."""
    return tf.reduce_sum((one[:, :, None] - other[:, None]) ** 2, -1)


def _bend(squares: tf.Tensor, order: int) -> tf.Tensor:
    """Returns the radial function of squared distances."""
    safe = tf.maximum(squares, _EPSILON)
    power = safe ** (0.5 * order)
    return power if order % 2 else 0.5 * power * tf.math.log(safe)


def border_points(height: int, width: int, per_edge: int) -> list[tuple[float, float]]:
    """Returns points of a picture's border: the corners, and others at equal distances.

    Args:
      height: Height of the picture.
      width: Its width.
      per_edge: Number of points of each edge, without the corner at its end.
    """
    shares = [i / per_edge for i in range(per_edge)]
    bottom, right = float(height - 1), float(width - 1)
    return [
        point
        for share in shares
        for point in (
            (0.0, share * right),
            (share * bottom, right),
            (bottom, right - share * right),
            (bottom - share * bottom, 0.0),
        )
    ]
