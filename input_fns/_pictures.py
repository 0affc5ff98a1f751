"""Decoding pictures, JPEG ones at a reduced scale where that is enough."""

from collections.abc import Callable

import tensorflow as tf

_RATIOS = (1, 2, 4, 8)


def decoder(
    size: tuple[int, int], full_decode: bool, exact_dct: bool
) -> Callable[[tf.Tensor], tf.Tensor]:
    """Returns a function from a file's contents to a picture of a size.

    Args:
      size: Height and width.
      full_decode: Whether every pixel is decoded, whatever the size.
      exact_dct: Whether JPEG files are decoded with the more exact, slower integer transform.

    Returns:
      A function to tf.float32 of shape (height, width, 3), from 0.0 to 255.0.
    """
    method = "INTEGER_ACCURATE" if exact_dct else "INTEGER_FAST"

    def scaled(contents: tf.Tensor, channels: int, ratio: int) -> tf.Tensor:
        picture = tf.io.decode_jpeg(contents, channels, ratio=ratio, dct_method=method)
        picture = tf.image.resize(picture, size)
        # A grey picture is resized once, not once for each colour.
        return tf.tile(picture, [1, 1, 3]) if channels == 1 else picture

    def jpeg(contents: tf.Tensor) -> tf.Tensor:
        shape = tf.image.extract_jpeg_shape(contents)
        ratios = _RATIOS[:1] if full_decode else _RATIOS
        branches = [
            lambda channels=channels, ratio=ratio: scaled(contents, channels, ratio)
            for channels in (3, 1)
            for ratio in ratios
        ]
        step = tf.reduce_sum([tf.cast(_covers(shape, ratio, size), tf.int32) for ratio in ratios])
        is_grey = tf.cast(tf.equal(shape[2], 1), tf.int32)
        return tf.switch_case(is_grey * len(ratios) + step - 1, branches)

    def other(contents: tf.Tensor) -> tf.Tensor:
        picture = tf.io.decode_image(contents, channels=3, expand_animations=False)
        return tf.image.resize(tf.ensure_shape(picture, [None, None, 3]), size)

    # Traced once, wherever it is called.
    @tf.function(autograph=False)
    def decode(contents: tf.Tensor) -> tf.Tensor:
        picture = tf.cond(tf.io.is_jpeg(contents), lambda: jpeg(contents), lambda: other(contents))
        return tf.ensure_shape(picture, [*size, 3])

    return decode


def _covers(shape: tf.Tensor, ratio: int, size: tuple[int, int]) -> tf.Tensor:
    """Whether a JPEG picture decoded at 1/ratio is still as large as the size."""
    if ratio == 1:
        return tf.constant(True)
    return tf.reduce_all((shape[:2] + ratio - 1) // ratio >= size)


def fault(file: bytes) -> bytes:
    """Returns what is wrong with a file that cannot be decoded."""
    path = file.decode()
    try:
        with tf.io.gfile.GFile(path, "rb") as opened:
            contents = opened.read()
    except tf.errors.OpError as error:
        return f"{path} cannot be read: {error.message}".encode()
    kind = "it is not a JPEG, PNG, BMP or GIF file, or is damaged"
    if contents.startswith(b"\xff\xd8\xff"):
        kind = "it begins like a JPEG file, but is cut short or damaged"
    return (
        f"{path} cannot be read as a picture: {kind} ({len(contents)} bytes); replace or remove it"
    ).encode()
