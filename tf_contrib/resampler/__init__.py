"""Stand-in for `tf.contrib.resampler`."""

import tensorflow as tf

from tf_contrib._types import TensorLike

__all__ = ["resampler"]


def resampler(data: TensorLike, warp: TensorLike, name: str = "resampler") -> tf.Tensor:
    """Reads pictures at any places, with bilinear interpolation; it is zero outside.

    Args:
      data: The pictures, shape (batch, height, width, channels).
      warp: The places as pairs (x, y), shape (batch, ..., 2).
      name: Name scope of the operations.

    Returns:
      The pixels, shape (batch, ..., channels).

    Raises:
      ValueError: The data have another rank.
    """
    with tf.name_scope(name or "resampler"):
        data, warp = tf.convert_to_tensor(data), tf.convert_to_tensor(warp)
        if data.shape.rank != 4:
            raise ValueError(f"Expected data of shape (batch, height, width, channels): {data}.")
        # A border of zeros: a place between it and a pixel has a share of the pixel.
        padded = tf.pad(data, [[0, 0], [1, 1], [1, 1], [0, 0]])
        shape = tf.shape(data)
        limits = tf.cast(tf.stack([shape[2], shape[1]]), warp.dtype)
        is_in = tf.reduce_all((warp > -1) & (warp < limits), -1, keepdims=True)
        places = tf.where(is_in, warp, tf.zeros_like(warp))
        before = tf.floor(places)
        right, down = tf.split(places - before, 2, -1)
        column, row = tf.unstack(tf.cast(before, tf.int32) + 1, axis=-1)

        def read(rows: int, columns: int) -> tf.Tensor:
            where = tf.stack([row + rows, column + columns], -1)
            return tf.gather_nd(padded, where, batch_dims=1)

        upper = (1 - right) * read(0, 0) + right * read(0, 1)
        lower = (1 - right) * read(1, 0) + right * read(1, 1)
        found = (1 - down) * upper + down * lower
        return tf.where(is_in, found, tf.zeros_like(found))
