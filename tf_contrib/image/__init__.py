"""Stand-in for `tf.contrib.image`: rotation, translation and warping of images.

A projective transform is eight numbers (a0, a1, a2, b0, b1, b2, c0, c1). The output pixel (x, y) is
the input pixel ((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k), where k = c0 x + c1 y + 1.
"""

from typing import Any

import tensorflow as tf

from tf_contrib._types import DType, TensorLike
from tf_contrib.image.splines import border_points, interpolate_spline

__all__ = [
    "angles_to_projective_transforms",
    "compose_transforms",
    "dense_image_warp",
    "flat_transforms_to_matrices",
    "interpolate_spline",
    "matrices_to_flat_transforms",
    "rotate",
    "sparse_image_warp",
    "transform",
    "translate",
    "translations_to_projective_transforms",
]
_DTYPES = frozenset({tf.uint8, tf.int32, tf.int64, tf.float16, tf.float32, tf.float64, tf.bfloat16})


def transform(
    images: TensorLike,
    transforms: TensorLike,
    interpolation: str = "NEAREST",
    output_shape: TensorLike | None = None,
    name: str | None = None,
) -> tf.Tensor:
    """Applies projective transforms to images; pixels outside an image are zeros.

    Args:
      images: Shape (height, width), (height, width, channels) or (n, height, width, channels).
      transforms: Eight numbers, or eight numbers for each image.
      interpolation: "NEAREST" or "BILINEAR".
      output_shape: Height and width of the output; by default those of the input.
      name: Name scope of the operations.

    Raises:
      TypeError: The images have another rank or dtype.
    """
    with tf.name_scope(name or "transform"):
        images = tf.convert_to_tensor(images)
        batch = _to_batch(images)
        if output_shape is None:
            output_shape = tf.shape(batch)[1:3]
        flat = tf.convert_to_tensor(transforms, tf.float32)
        flat = flat[None] if flat.shape.rank == 1 else flat
        outputs = tf.raw_ops.ImageProjectiveTransformV2(
            images=batch,
            transforms=flat,
            output_shape=output_shape,
            interpolation=interpolation.upper(),
        )
        if images.shape.rank == 2:
            return outputs[0, :, :, 0]
        return outputs[0] if images.shape.rank == 3 else outputs


def _to_batch(images: tf.Tensor) -> tf.Tensor:
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
    images: TensorLike, angles: TensorLike, interpolation: str = "NEAREST", name: str | None = None
) -> tf.Tensor:
    """Rotates images counterclockwise about their centers.

    Args:
      images: Images, as for `transform`.
      angles: Angles in radians, one for all images or one for each.
      interpolation: "NEAREST" or "BILINEAR".
      name: Name scope of the operations.
    """
    with tf.name_scope(name or "rotate"):
        images = tf.convert_to_tensor(images)
        shape = tf.cast(tf.shape(_to_batch(images)), tf.float32)
        flat = angles_to_projective_transforms(angles, shape[1], shape[2])
        return transform(images, flat, interpolation)


def translate(
    images: TensorLike,
    translations: TensorLike,
    interpolation: str = "NEAREST",
    name: str | None = None,
) -> tf.Tensor:
    """Moves images to the right and down.

    Args:
      images: Images, as for `transform`.
      translations: Pixels to the right and down, one pair for all images or one for each.
      interpolation: "NEAREST" or "BILINEAR".
      name: Name scope of the operations.
    """
    with tf.name_scope(name or "translate"):
        return transform(images, translations_to_projective_transforms(translations), interpolation)


def angles_to_projective_transforms(
    angles: TensorLike, image_height: TensorLike, image_width: TensorLike, name: str | None = None
) -> tf.Tensor:
    """Returns the transforms that rotate images counterclockwise, shape (angles, 8).

    Args:
      angles: Angles in radians, one or several.
      image_height: Height of the images.
      image_width: Width of the images.
      name: Name scope of the operations.
    """
    with tf.name_scope(name or "angles_to_projective_transforms"):
        angles = tf.reshape(tf.convert_to_tensor(angles, tf.float32), [-1])
        right, bottom = (tf.cast(size, tf.float32) - 1 for size in (image_width, image_height))
        cos, sin, zeros = tf.cos(angles), tf.sin(angles), tf.zeros_like(angles)
        x = (right - (cos * right - sin * bottom)) / 2
        y = (bottom - (sin * right + cos * bottom)) / 2
        return tf.stack([cos, -sin, x, sin, cos, y, zeros, zeros], 1)


def translations_to_projective_transforms(
    translations: TensorLike, name: str | None = None
) -> tf.Tensor:
    """Returns the transforms that move images, shape (pairs, 8); see `translate`."""
    with tf.name_scope(name or "translations_to_projective_transforms"):
        moves = tf.reshape(tf.convert_to_tensor(translations, tf.float32), [-1, 2])
        ones, zeros = tf.ones_like(moves[:, 0]), tf.zeros_like(moves[:, 0])
        x, y = -moves[:, 0], -moves[:, 1]
        return tf.stack([ones, zeros, x, zeros, ones, y, zeros, zeros], 1)


def flat_transforms_to_matrices(transforms: TensorLike) -> tf.Tensor:
    """Converts transforms to matrices of shape (transforms, 3, 3)."""
    flat = tf.reshape(tf.convert_to_tensor(transforms, tf.float32), [-1, 8])
    return tf.reshape(tf.concat([flat, tf.ones_like(flat[:, :1])], 1), [-1, 3, 3])


def matrices_to_flat_transforms(transform_matrices: TensorLike) -> tf.Tensor:
    """Converts matrices to transforms of shape (matrices, 8); the last element becomes 1."""
    flat = tf.reshape(tf.convert_to_tensor(transform_matrices, tf.float32), [-1, 9])
    return flat[:, :8] / flat[:, 8:]


def compose_transforms(*transforms: Any) -> tf.Tensor:
    """Returns the composition of several transforms.

    Raises:
      AssertionError: There are no transforms.
    """
    assert transforms, "transforms cannot be empty"
    first, *others = (flat_transforms_to_matrices(one) for one in transforms)
    for other in others:
        first = tf.matmul(first, other)
    return matrices_to_flat_transforms(first)


def dense_image_warp(
    image: TensorLike, flow: TensorLike, name: str = "dense_image_warp"
) -> tf.Tensor:
    """Moves each pixel of images by its own flow vector, with bilinear interpolation.

    Args:
      image: Floats of shape (n, height, width, channels); height and width are at least 2.
      flow: Shape (n, height, width, 2); the output pixel (y, x) is the input pixel
        (y - flow[0], x - flow[1]).
      name: Name scope of the operations.
    """
    with tf.name_scope(name):
        image = tf.convert_to_tensor(image)
        flow = tf.convert_to_tensor(flow)
        height, width = tf.shape(image)[1], tf.shape(image)[2]
        rows, columns = tf.meshgrid(tf.range(height), tf.range(width), indexing="ij")
        y, down = _split_position(tf.cast(rows, flow.dtype) - flow[..., 0], height, image.dtype)
        x, right = _split_position(tf.cast(columns, flow.dtype) - flow[..., 1], width, image.dtype)

        def pixels(row: tf.Tensor, column: tf.Tensor) -> tf.Tensor:
            return tf.gather_nd(image, tf.stack([row, column], -1), batch_dims=1)

        above = pixels(y, x) * (1 - right) + pixels(y, x + 1) * right
        below = pixels(y + 1, x) * (1 - right) + pixels(y + 1, x + 1) * right
        return above * (1 - down) + below * down


def sparse_image_warp(
    image: TensorLike,
    source_control_point_locations: TensorLike,
    dest_control_point_locations: TensorLike,
    interpolation_order: int = 2,
    regularization_weight: float = 0.0,
    num_boundary_points: int = 0,
    name: str = "sparse_image_warp",
) -> tuple[tf.Tensor, tf.Tensor]:
    """Moves some points of images, and the pixels between them by a spline.

    Args:
      image: Images of known size, shape (batch, height, width, channels).
      source_control_point_locations: The points as pairs (y, x), shape (batch, points, 2).
      dest_control_point_locations: Where the points are moved to.
      interpolation_order: Order of the spline; see `interpolate_spline`.
      regularization_weight: Regularization of the spline.
      num_boundary_points: Number of points of each edge that stay where they are.
      name: Name scope of the operations.

    Returns:
      The images, and the flow of each pixel, shape (batch, height, width, 2).
    """
    with tf.name_scope(name or "sparse_image_warp"):
        image = tf.convert_to_tensor(image)
        source = tf.convert_to_tensor(source_control_point_locations)
        targets = tf.convert_to_tensor(dest_control_point_locations)
        flows = targets - source
        batch, height, width, _ = image.shape.as_list()
        count = tf.shape(image)[0] if batch is None else batch
        border = border_points(height, width, num_boundary_points)
        if border:
            kept = tf.tile(tf.constant(border, targets.dtype)[None], [count, 1, 1])
            targets = tf.concat([targets, kept], 1)
            flows = tf.concat([flows, tf.zeros_like(kept)], 1)
        rows, columns = tf.meshgrid(tf.range(height), tf.range(width), indexing="ij")
        pixels = tf.cast(tf.reshape(tf.stack([rows, columns], -1), [1, -1, 2]), targets.dtype)
        found = interpolate_spline(
            targets,
            flows,
            tf.tile(pixels, [count, 1, 1]),
            interpolation_order,
            regularization_weight,
        )
        flow = tf.reshape(found, [-1 if batch is None else batch, height, width, 2])
        return dense_image_warp(image, flow), flow


def _split_position(position: tf.Tensor, size: tf.Tensor, dtype: DType) -> tuple[Any, Any]:
    """Returns the index of the pixel before each position, and the weight of the next pixel."""
    last = tf.cast(size - 2, position.dtype)
    pixel = tf.clip_by_value(tf.floor(position), 0, last)
    # Unlike clip_by_value, this has no gradient at the bounds.
    weight = tf.minimum(tf.maximum(tf.zeros([], position.dtype), position - pixel), 1)
    return tf.cast(pixel, tf.int32), tf.cast(weight, dtype)[..., None]
