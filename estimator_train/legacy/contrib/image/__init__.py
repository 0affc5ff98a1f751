"""`tf.contrib.image`: pictures that are turned, moved and bent.

A projective transform is eight numbers, a0 to c1: the pixel (x, y) of the output is that of the
input at ((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k) with k = c0 x + c1 y + 1.
"""

from typing import Any

import tensorflow as tf

__all__ = [
    "angles_to_projective_transforms",
    "compose_transforms",
    "dense_image_warp",
    "flat_transforms_to_matrices",
    "matrices_to_flat_transforms",
    "rotate",
    "transform",
    "translate",
    "translations_to_projective_transforms",
]
_DTYPES = frozenset({tf.uint8, tf.int32, tf.int64, tf.float16, tf.float32, tf.float64, tf.bfloat16})


def transform(
    images: Any,
    transforms: Any,
    interpolation: str = "NEAREST",
    output_shape: Any = None,
    name: str | None = None,
) -> tf.Tensor:
    """Pictures by projective transforms; pixels from outside are zeros.

    Args:
      images: Shape (height, width), (height, width, channels) or (n, height, width, channels).
      transforms: Eight numbers, or eight for each picture.
      interpolation: "NEAREST" or "BILINEAR".
      output_shape: Height and width of the output; by default those of the input.
      name: The scope of the operations.

    Raises:
      TypeError: The pictures have another rank or dtype.
    """
    with tf.name_scope(name or "transform"):
        images = tf.convert_to_tensor(images)
        pictures = _as_batch(images)
        if output_shape is None:
            output_shape = tf.shape(pictures)[1:3]
        flat = tf.convert_to_tensor(transforms, tf.float32)
        flat = flat[None] if flat.shape.rank == 1 else flat
        found = tf.raw_ops.ImageProjectiveTransformV2(
            images=pictures,
            transforms=flat,
            output_shape=output_shape,
            interpolation=interpolation.upper(),
        )
        if images.shape.rank == 2:
            return found[0, :, :, 0]
        return found[0] if images.shape.rank == 3 else found


def _as_batch(images: tf.Tensor) -> tf.Tensor:
    if images.dtype.base_dtype not in _DTYPES:
        raise TypeError(f"Invalid dtype {images.dtype}.")
    if images.shape.rank is None:
        raise TypeError("Images must have a known rank.")
    if not 2 <= images.shape.rank <= 4:
        raise TypeError("Images should have rank between 2 and 4.")
    if images.shape.rank == 2:
        return images[None, :, :, None]
    return images[None] if images.shape.rank == 3 else images


def rotate(
    images: Any, angles: Any, interpolation: str = "NEAREST", name: str | None = None
) -> tf.Tensor:
    """Pictures turned counterclockwise about their centres.

    angles are in radians, one or one for each picture; the other arguments are those of
    `transform`.
    """
    with tf.name_scope(name or "rotate"):
        images = tf.convert_to_tensor(images)
        shape = tf.cast(tf.shape(_as_batch(images)), tf.float32)
        flat = angles_to_projective_transforms(angles, shape[1], shape[2])
        return transform(images, flat, interpolation)


def translate(
    images: Any, translations: Any, interpolation: str = "NEAREST", name: str | None = None
) -> tf.Tensor:
    """Pictures moved to the right and down.

    translations are pixels to the right and down, or such a pair for each picture; the other
    arguments are those of `transform`.
    """
    with tf.name_scope(name or "translate"):
        return transform(images, translations_to_projective_transforms(translations), interpolation)


def angles_to_projective_transforms(
    angles: Any, image_height: Any, image_width: Any, name: str | None = None
) -> tf.Tensor:
    """The transforms that turn pictures counterclockwise.

    Args:
      angles: In radians, one or several.
      image_height: The height of the pictures.
      image_width: Their width.
      name: The scope of the operations.

    Returns:
      A tensor of shape (angles, 8).
    """
    with tf.name_scope(name or "angles_to_projective_transforms"):
        angles = tf.reshape(tf.convert_to_tensor(angles, tf.float32), [-1])
        right, bottom = (tf.cast(size, tf.float32) - 1 for size in (image_width, image_height))
        cos, sin, zeros = tf.cos(angles), tf.sin(angles), tf.zeros_like(angles)
        x = (right - (cos * right - sin * bottom)) / 2
        y = (bottom - (sin * right + cos * bottom)) / 2
        return tf.stack([cos, -sin, x, sin, cos, y, zeros, zeros], 1)


def translations_to_projective_transforms(translations: Any, name: str | None = None) -> tf.Tensor:
    """The transforms that move pictures; see `translate`.

    Returns:
      A tensor of shape (pairs, 8).
    """
    with tf.name_scope(name or "translations_to_projective_transforms"):
        moves = tf.reshape(tf.convert_to_tensor(translations, tf.float32), [-1, 2])
        ones, zeros = tf.ones_like(moves[:, 0]), tf.zeros_like(moves[:, 0])
        x, y = -moves[:, 0], -moves[:, 1]
        return tf.stack([ones, zeros, x, zeros, ones, y, zeros, zeros], 1)


def flat_transforms_to_matrices(transforms: Any) -> tf.Tensor:
    """Transforms as matrices, of shape (transforms, 3, 3)."""
    flat = tf.reshape(tf.convert_to_tensor(transforms, tf.float32), [-1, 8])
    return tf.reshape(tf.concat([flat, tf.ones_like(flat[:, :1])], 1), [-1, 3, 3])


def matrices_to_flat_transforms(transform_matrices: Any) -> tf.Tensor:
    """Matrices as transforms, of shape (matrices, 8): divided by their last numbers."""
    flat = tf.reshape(tf.convert_to_tensor(transform_matrices, tf.float32), [-1, 9])
    return flat[:, :8] / flat[:, 8:]


def compose_transforms(*transforms: Any) -> tf.Tensor:
    """The transform that does others, one after the other.

    Raises:
      AssertionError: There are none.
    """
    assert transforms, "transforms cannot be empty"
    first, *others = (flat_transforms_to_matrices(one) for one in transforms)
    for other in others:
        first = tf.matmul(first, other)
    return matrices_to_flat_transforms(first)


def dense_image_warp(image: Any, flow: Any, name: str = "dense_image_warp") -> tf.Tensor:
    """Pictures of which each pixel comes from a place of its own, between four pixels.

    Args:
      image: Floats of shape (n, height, width, channels), with both sizes at least two.
      flow: Shape (n, height, width, 2): how far above and left of it a pixel comes from.
      name: The scope of the operations.
    """
    with tf.name_scope(name):
        image = tf.convert_to_tensor(image)
        flow = tf.convert_to_tensor(flow)
        height, width = tf.shape(image)[1], tf.shape(image)[2]
        rows, columns = tf.meshgrid(tf.range(height), tf.range(width), indexing="ij")
        y, down = _between(tf.cast(rows, flow.dtype) - flow[..., 0], height, image.dtype)
        x, right = _between(tf.cast(columns, flow.dtype) - flow[..., 1], width, image.dtype)

        def pixels(row: Any, column: Any) -> Any:
            return tf.gather_nd(image, tf.stack([row, column], -1), batch_dims=1)

        above = pixels(y, x) * (1 - right) + pixels(y, x + 1) * right
        below = pixels(y + 1, x) * (1 - right) + pixels(y + 1, x + 1) * right
        return above * (1 - down) + below * down


def _between(position: Any, size: Any, dtype: Any) -> tuple[Any, Any]:
    """The pixel before each position, and the share that the next one has."""
    last = tf.cast(size - 2, position.dtype)
    before = tf.clip_by_value(tf.floor(position), 0, last)
    # Not clip_by_value, which has a gradient at both ends.
    share = tf.minimum(tf.maximum(tf.zeros([], position.dtype), position - before), 1)
    return tf.cast(before, tf.int32), tf.cast(share, dtype)[..., None]
