"""Decoding of pictures. JPEG files are decoded at a reduced scale, and only the cropped part."""

import dataclasses
import io
from collections.abc import Callable

import tensorflow as tf

from input_fns.pipeline import checks

_RATIOS = (1, 2, 4, 8)
CENTER, RANDOM = "center", "random"
_GREY_MODES = ("1", "L", "LA", "La", "I", "I;16", "I;16B", "F")


@dataclasses.dataclass(frozen=True)
class DecodeOptions:
    """Settings for decoding and resizing a picture; arguments of `input_fns.image_folder`.

    Attributes:
      size: Height and width of the result.
      full_decode: Whether every pixel is decoded, even when the result is much smaller.
      exact_dct: Whether JPEG files are decoded with the more exact, slower integer transform.
      crop: Part to crop, with the proportions of `size`: 'center', 'random', or None for all.
      crop_area: Area of the smallest random crop, as a fraction of the largest possible crop.
      grey: Whether all pictures are grey (True) or coloured (False); None allows both.
    """

    size: tuple[int, int]
    full_decode: bool = False
    exact_dct: bool = False
    crop: str | None = None
    crop_area: float = 1.0
    grey: bool | None = None

    def __post_init__(self) -> None:
        if self.crop is not None:
            checks.one_of("crop", self.crop, (CENTER, RANDOM))
        if isinstance(self.crop_area, str) or not 0 < self.crop_area <= 1:
            raise ValueError(
                f"crop_area must be above 0 and at most 1, but got {self.crop_area!r}."
            )

    def make_decoder(self, max_value: float) -> Callable[[tf.Tensor, tf.Tensor], tf.Tensor]:
        """Returns a function that decodes a picture.

        The function takes the contents of a file and a seed of shape (2,). It returns tf.float32
        of shape (height, width, 3).

        Args:
          max_value: Value of white in the pictures.
        """
        scale = max_value / 255.0

        # tf.function traces it once for all its callers.
        @tf.function(autograph=False)
        def decode(contents: tf.Tensor, seed: tf.Tensor) -> tf.Tensor:
            picture = tf.cond(
                tf.io.is_jpeg(contents),
                lambda: self._decode_jpeg(contents, seed, scale),
                lambda: self._decode_other(contents, seed, scale),
            )
            return tf.ensure_shape(picture, [*self.size, 3])

        return decode

    def _decode_jpeg(self, contents: tf.Tensor, seed: tf.Tensor, scale: float) -> tf.Tensor:
        shape = tf.image.extract_jpeg_shape(contents)
        window = self._choose_window(shape, seed)
        ratios = _RATIOS[:1] if self.full_decode else _RATIOS

        def decode_scaled(channels: int, ratio: int) -> tf.Tensor:
            method = "INTEGER_ACCURATE" if self.exact_dct else "INTEGER_FAST"
            settings = {"channels": channels, "ratio": ratio, "dct_method": method}
            if self.crop is None:
                picture = tf.io.decode_jpeg(contents, **settings)
            else:
                part = window // ratio
                picture = tf.io.decode_and_crop_jpeg(contents, part, **settings)
            picture = tf.image.resize(picture, self.size)
            if channels == 3:
                return picture * scale
            # Resizing one channel is cheaper than three. The product makes three equal colours
            # and scales them, and is faster than tiling.
            colours = tf.matmul(tf.reshape(picture, [-1, 1]), tf.fill([1, 3], scale))
            return tf.reshape(colours, [*self.size, 3])

        is_large_enough = [self._is_large_enough(window[2:], ratio) for ratio in ratios]
        branch = tf.reduce_sum(tf.cast(is_large_enough, tf.int32)) - 1
        is_grey = tf.equal(shape[2], 1)
        if self.grey is None:
            kinds = [3, 1]
            branch += tf.cast(is_grey, tf.int32) * len(ratios)
        else:
            kinds = [1 if self.grey else 3]
            branch = _require_true(tf.equal(is_grey, self.grey), branch)
        branches = [
            lambda channels=channels, ratio=ratio: decode_scaled(channels, ratio)
            for channels in kinds
            for ratio in ratios
        ]
        return tf.switch_case(branch, branches)

    def _decode_other(self, contents: tf.Tensor, seed: tf.Tensor, scale: float) -> tf.Tensor:
        channels = 3 if self.grey is None else 0
        picture = tf.io.decode_image(contents, channels, expand_animations=False)
        if self.grey is not None:
            # Grey pictures have one or two channels, coloured ones three or four: the last of two
            # or four is opacity.
            picture = _require_true(tf.equal(tf.shape(picture)[2] < 3, self.grey), picture)
            picture = tf.repeat(picture[..., :1], 3, 2) if self.grey else picture[..., :3]
        picture = tf.ensure_shape(picture, [None, None, 3])
        if self.crop is not None:
            window = self._choose_window(tf.shape(picture), seed)
            top, left, height, width = tf.unstack(window)
            picture = picture[top : top + height, left : left + width]
        return tf.image.resize(picture, self.size) * scale

    def _choose_window(self, shape: tf.Tensor, seed: tf.Tensor) -> tf.Tensor:
        """Returns top, left, height and width of the part of a picture to crop."""
        if self.crop is None:
            return tf.concat([[0, 0], shape[:2]], 0)
        available, size = tf.cast(shape[:2], tf.float32), tf.constant(self.size, tf.float32)
        largest = size * tf.reduce_min(available / size)
        position, side = tf.constant([0.5, 0.5]), tf.constant(1.0)
        if self.crop == RANDOM:
            position = tf.random.stateless_uniform([2], seed)
            side = tf.sqrt(tf.random.stateless_uniform([], seed + 1, self.crop_area, 1.0))
        extent = tf.clip_by_value(tf.cast(tf.round(largest * side), tf.int32), 1, shape[:2])
        corner = tf.cast(tf.cast(shape[:2] - extent, tf.float32) * position, tf.int32)
        return tf.concat([corner, extent], 0)

    def _is_large_enough(self, extent: tf.Tensor, ratio: int) -> tf.Tensor:
        """Returns whether a part decoded at 1/ratio is at least as large as the result."""
        if ratio == 1:
            return tf.constant(True)
        # decode_jpeg rounds the reduced size up; the cropped window was rounded down.
        rounding = ratio - 1 if self.crop is None else 0
        return tf.reduce_all((extent + rounding) // ratio >= self.size)


def _require_true(condition: tf.Tensor, value: tf.Tensor) -> tf.Tensor:
    """Returns the value if the condition is true, and fails otherwise.

    A reshape checks it: tf.data cannot save the position of an input that has an assertion,
    because assertions are stateful operations.
    """
    one = tf.cast(condition, tf.int32)
    return tf.reshape(value, tf.concat([[one], tf.shape(value)], 0))[0]


def is_grey(contents: bytes) -> bool | None:
    """Returns whether the header says that a picture is grey; None if this is not a picture."""
    from PIL import Image  # Only pictures need it.

    try:
        with Image.open(io.BytesIO(contents)) as picture:
            return picture.mode in _GREY_MODES
    # Pillow raises SyntaxError for some broken headers, DecompressionBombError for huge pictures.
    except (OSError, SyntaxError, Image.DecompressionBombError):
        return None


def describe_fault(file: bytes, grey: bool | None) -> str:
    """Returns the reason why a file cannot be decoded.

    Args:
      file: Path of the file.
      grey: See `DecodeOptions`.
    """
    path = file.decode()
    try:
        with tf.io.gfile.GFile(path, "rb") as opened:
            contents = opened.read()
    except tf.errors.OpError as error:
        return f"{path} cannot be read: {error.message}"
    if is_grey(contents) == (not grey) and grey is not None:
        kinds = ("grey", "coloured") if grey else ("coloured", "grey")
        return (
            f"{path} is a {kinds[1]} picture, but the first picture of the folders is {kinds[0]}: "
            "remove it, or set mixed_channels=True"
        )
    reason = "it is not a JPEG, PNG, BMP or GIF file, or is damaged"
    if contents.startswith(b"\xff\xd8\xff"):
        reason = "it begins like a JPEG file, but is cut short or damaged"
    return (
        f"{path} cannot be read as a picture: {reason} ({len(contents)} bytes); replace or "
        "remove it"
    )
