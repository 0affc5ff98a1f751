"""Decoding pictures, JPEG ones at a reduced scale and no more of them than is needed."""

import dataclasses
import io
from collections.abc import Callable

import tensorflow as tf

from input_fns.pipeline import checks

_RATIOS = (1, 2, 4, 8)
CENTER, RANDOM = "center", "random"
_GREY_MODES = ("1", "L", "LA", "La", "I", "I;16", "I;16B", "F")


@dataclasses.dataclass(frozen=True)
class Look:
    """How a picture of a file becomes one of a size; the arguments of `input_fns.image_folder`.

    Attributes:
      size: Height and width.
      full_decode: Whether every pixel is decoded, whatever the size.
      exact_dct: Whether JPEG files are decoded with the more exact, slower integer transform.
      crop: Which part of the size's proportions is taken: 'center', 'random', or None for all.
      crop_area: Smallest random part, as a share of the largest that there is room for.
      grey: Whether all pictures are grey (True) or coloured (False); None: there may be both.
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

    def decoder(self, max_value: float) -> Callable[[tf.Tensor, tf.Tensor], tf.Tensor]:
        """Returns a function from a file's contents, and a seed of shape (2,), to a picture.

        Args:
          max_value: What white becomes in the pictures, tf.float32 of shape (height, width, 3).
        """
        scale = max_value / 255.0

        # Traced once, wherever it is called.
        @tf.function(autograph=False)
        def decode(contents: tf.Tensor, seed: tf.Tensor) -> tf.Tensor:
            picture = tf.cond(
                tf.io.is_jpeg(contents),
                lambda: self._jpeg(contents, seed, scale),
                lambda: self._other(contents, seed, scale),
            )
            return tf.ensure_shape(picture, [*self.size, 3])

        return decode

    def _jpeg(self, contents: tf.Tensor, seed: tf.Tensor, scale: float) -> tf.Tensor:
        shape = tf.image.extract_jpeg_shape(contents)
        window = self._window(shape, seed)
        ratios = _RATIOS[:1] if self.full_decode else _RATIOS

        def scaled(channels: int, ratio: int) -> tf.Tensor:
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
            # A grey picture is resized once, not once for each colour, and becomes three equal
            # colours by a product, which is faster than tiling and scales it too.
            colours = tf.matmul(tf.reshape(picture, [-1, 1]), tf.fill([1, 3], scale))
            return tf.reshape(colours, [*self.size, 3])

        covers = [self._covers(window[2:], ratio) for ratio in ratios]
        branch = tf.reduce_sum(tf.cast(covers, tf.int32)) - 1
        is_grey = tf.equal(shape[2], 1)
        if self.grey is None:
            kinds = [3, 1]
            branch += tf.cast(is_grey, tf.int32) * len(ratios)
        else:
            kinds = [1 if self.grey else 3]
            branch = _if(tf.equal(is_grey, self.grey), branch)
        branches = [
            lambda channels=channels, ratio=ratio: scaled(channels, ratio)
            for channels in kinds
            for ratio in ratios
        ]
        return tf.switch_case(branch, branches)

    def _other(self, contents: tf.Tensor, seed: tf.Tensor, scale: float) -> tf.Tensor:
        channels = 3 if self.grey is None else 0
        picture = tf.io.decode_image(contents, channels, expand_animations=False)
        if self.grey is not None:
            # Of one or two channels, or of three or four: the last may be opacity.
            picture = _if(tf.equal(tf.shape(picture)[2] < 3, self.grey), picture)
            picture = tf.repeat(picture[..., :1], 3, 2) if self.grey else picture[..., :3]
        picture = tf.ensure_shape(picture, [None, None, 3])
        if self.crop is not None:
            top, left, height, width = tf.unstack(self._window(tf.shape(picture), seed))
            picture = picture[top : top + height, left : left + width]
        return tf.image.resize(picture, self.size) * scale

    def _window(self, shape: tf.Tensor, seed: tf.Tensor) -> tf.Tensor:
        """Top, left, height and width of the part of a picture that is taken."""
        if self.crop is None:
            return tf.concat([[0, 0], shape[:2]], 0)
        room, size = tf.cast(shape[:2], tf.float32), tf.constant(self.size, tf.float32)
        largest = size * tf.reduce_min(room / size)
        place, side = tf.constant([0.5, 0.5]), tf.constant(1.0)
        if self.crop == RANDOM:
            place = tf.random.stateless_uniform([2], seed)
            side = tf.sqrt(tf.random.stateless_uniform([], seed + 1, self.crop_area, 1.0))
        extent = tf.clip_by_value(tf.cast(tf.round(largest * side), tf.int32), 1, shape[:2])
        corner = tf.cast(tf.cast(shape[:2] - extent, tf.float32) * place, tf.int32)
        return tf.concat([corner, extent], 0)

    def _covers(self, extent: tf.Tensor, ratio: int) -> tf.Tensor:
        """Whether a part decoded at 1/ratio is still as large as the size."""
        if ratio == 1:
            return tf.constant(True)
        # The whole of a picture is rounded up, a part of it down.
        rounding = ratio - 1 if self.crop is None else 0
        return tf.reduce_all((extent + rounding) // ratio >= self.size)


def _if(condition: tf.Tensor, value: tf.Tensor) -> tf.Tensor:
    """Returns a value if a condition holds, and fails if not.

    An assertion has a state, and an input with a state cannot save its position.
    """
    one = tf.cast(condition, tf.int32)
    return tf.reshape(value, tf.concat([[one], tf.shape(value)], 0))[0]


def is_grey(contents: bytes) -> bool | None:
    """Whether a picture is grey, as its header says; None if it is not a picture."""
    from PIL import Image  # Here, so that other sources do without it.

    try:
        with Image.open(io.BytesIO(contents)) as picture:
            return picture.mode in _GREY_MODES
    # A SyntaxError is what Pillow says of some broken headers; the last is of very large pictures.
    except (OSError, SyntaxError, Image.DecompressionBombError):
        return None


def fault(file: bytes, grey: bool | None) -> bytes:
    """Returns what is wrong with a file that cannot be decoded.

    Args:
      file: Its path.
      grey: As in `Look`.
    """
    path = file.decode()
    try:
        with tf.io.gfile.GFile(path, "rb") as opened:
            contents = opened.read()
    except tf.errors.OpError as error:
        return f"{path} cannot be read: {error.message}".encode()
    if is_grey(contents) == (not grey) and grey is not None:
        kinds = ("grey", "coloured") if grey else ("coloured", "grey")
        return (
            f"{path} is a {kinds[1]} picture, and the first of its folders is {kinds[0]}: "
            "remove it, or give mixed_channels=True"
        ).encode()
    kind = "it is not a JPEG, PNG, BMP or GIF file, or is damaged"
    if contents.startswith(b"\xff\xd8\xff"):
        kind = "it begins like a JPEG file, but is cut short or damaged"
    return (
        f"{path} cannot be read as a picture: {kind} ({len(contents)} bytes); replace or remove it"
    ).encode()
