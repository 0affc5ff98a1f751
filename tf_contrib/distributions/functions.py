"""Functions of `tf.contrib.distributions`: percentiles, triangles and stable logarithms."""

from typing import Any

import numpy as np
import tensorflow as tf

from tf_contrib._types import TensorLike

_ROUNDINGS: dict[str, Any] = {
    "nearest": tf.round,
    "lower": tf.math.ceil,
    "higher": tf.math.floor,
}


def percentile(
    x: TensorLike,
    q: TensorLike,
    axis: int | list[int] | None = None,
    interpolation: str | None = None,
    keep_dims: bool = False,
    validate_args: bool = False,
    name: str | None = None,
) -> tf.Tensor:
    """Computes a percentile of numbers.

    Args:
      x: The numbers, of known rank.
      q: The percentage, from 0 to 100.
      axis: The axes to reduce; all by default.
      interpolation: Which number is taken between two: "nearest" (the default), "lower", "higher".
      keep_dims: Whether the reduced axes stay, with size 1.
      validate_args: Not used.
      name: Name scope of the operations.

    Raises:
      ValueError: There is no such interpolation.
    """
    del validate_args
    kind = "nearest" if interpolation is None else interpolation
    if kind not in _ROUNDINGS:
        raise ValueError(
            f"Argument 'interpolation' must be in {set(_ROUNDINGS)}.  Found {interpolation}"
        )
    with tf.name_scope(name or "percentile"):
        x = tf.convert_to_tensor(x)
        rank = x.shape.rank
        axes = list(range(rank)) if axis is None else [a % rank for a in np.ravel(axis).tolist()]
        kept = [a for a in range(rank) if a not in axes]
        moved = tf.transpose(x, [*kept, *axes])
        shape = tf.gather(tf.shape(x), tf.constant(kept, tf.int32))
        ordered = tf.sort(tf.reshape(moved, tf.concat([shape, [-1]], 0)), direction="DESCENDING")
        last = tf.cast(tf.shape(ordered)[-1] - 1, tf.float64)
        # Counted from the greatest number, which decides between two equally near ones.
        place = _ROUNDINGS[kind](last * (1 - tf.cast(q, tf.float64) / 100))
        found = tf.gather(ordered, tf.cast(tf.clip_by_value(place, 0, last), tf.int32), axis=-1)
        for a in sorted(axes) if keep_dims else ():
            found = tf.expand_dims(found, a)
        return found


def _compute_side(count: int | None) -> int:
    """Returns the side of the triangle that a number of entries fills.

    Raises:
      ValueError: No triangle has so many entries.
    """
    side = int(np.sqrt(0.25 + 2 * (count or 0)) - 0.5)
    if not count or side * (side + 1) != 2 * count:
        raise ValueError(f"Input right-most shape ({count}) does not correspond to a triangle.")
    return side


def _list_places(side: int, upper: bool) -> np.ndarray:
    """Returns which entry stands at each place of the triangle; -1 outside.

    An upper triangle begins with its first row; each row in the second half runs backwards from
    the end. A lower one is the same, read from its last row.
    """
    entries = np.arange(side * (side + 1) // 2)
    if upper:
        square = np.concatenate([entries, entries[side:][::-1]]).reshape(side, side)
        return np.where(np.triu(np.ones_like(square)), square, -1)
    square = np.concatenate([entries[side:], entries[::-1]]).reshape(side, side)
    return np.where(np.tril(np.ones_like(square)), square, -1)


def fill_triangular(x: TensorLike, upper: bool = False, name: str | None = None) -> tf.Tensor:
    """Makes triangular matrices, shape (..., n, n), of vectors of n (n + 1) / 2 numbers.

    Args:
      x: The vectors, shape (..., n (n + 1) / 2).
      upper: Whether the triangles are above the diagonal.
      name: Name scope of the operations.

    Raises:
      ValueError: No triangle has so many entries.
    """
    with tf.name_scope(name or "fill_triangular"):
        x = tf.convert_to_tensor(x)
        places = _list_places(_compute_side(x.shape.as_list()[-1]), upper)
        found = tf.gather(x, np.maximum(places, 0), axis=-1)
        return tf.where(places >= 0, found, tf.zeros_like(found))


def fill_triangular_inverse(
    x: TensorLike, upper: bool = False, name: str | None = None
) -> tf.Tensor:
    """Returns the vectors, of which `fill_triangular` makes the triangular matrices.

    Args:
      x: The matrices, shape (..., n, n).
      upper: Whether the triangles are above the diagonal.
      name: Name scope of the operations.
    """
    with tf.name_scope(name or "fill_triangular_inverse"):
        x = tf.convert_to_tensor(x)
        side = x.shape.as_list()[-1]
        places = _list_places(side, upper).ravel()
        where = np.argsort(places)[np.sum(places < 0) :]
        flat = tf.reshape(x, tf.concat([tf.shape(x)[:-2], [side * side]], 0))
        return tf.gather(flat, where, axis=-1)


def softplus_inverse(x: TensorLike, name: str | None = None) -> tf.Tensor:
    """Returns the numbers whose softplus is x: `x + log(1 - exp(-x))`, computed stably."""
    with tf.name_scope(name or "softplus_inverse"):
        x = tf.convert_to_tensor(x)
        return x + tf.math.log(-tf.math.expm1(-x))


def reduce_weighted_logsumexp(
    logx: TensorLike,
    w: TensorLike | None = None,
    axis: int | list[int] | None = None,
    keep_dims: bool = False,
    return_sign: bool = False,
    name: str | None = None,
) -> Any:
    """Computes `log(abs(sum(w * exp(logx))))` stably.

    Args:
      logx: The logarithms.
      w: The weights, of any sign; ones by default.
      axis: The axes to reduce; all by default.
      keep_dims: Whether the reduced axes stay, with size 1.
      return_sign: Whether to return the sign of the sum as well.
      name: Name scope of the operations.

    Returns:
      The logarithms; with `return_sign` a pair of them and the signs.
    """
    with tf.name_scope(name or "reduce_weighted_logsumexp"):
        logx = tf.convert_to_tensor(logx)
        weights = tf.ones_like(logx) if w is None else tf.convert_to_tensor(w, logx.dtype)
        logs = logx + tf.math.log(tf.abs(weights))
        greatest = tf.stop_gradient(tf.reduce_max(logs, axis, keepdims=True))
        greatest = tf.where(tf.math.is_finite(greatest), greatest, tf.zeros_like(greatest))
        total = tf.reduce_sum(tf.sign(weights) * tf.exp(logs - greatest), axis, keepdims=True)
        signs, found = tf.sign(total), greatest + tf.math.log(tf.abs(total))
        if not keep_dims:
            signs, found = (
                tf.squeeze(one, axis) if axis is not None else tf.reshape(one, [])
                for one in (signs, found)
            )
        return (found, signs) if return_sign else found
