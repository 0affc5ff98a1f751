"""Functions for pictures that `scipy.misc` had before SciPy 1.3, on Pillow."""

from collections.abc import Sequence
from os import PathLike
from typing import IO

import numpy as np
import PIL.Image
from numpy.typing import ArrayLike, NDArray
from scipy.special import comb, factorial, factorial2, factorialk, logsumexp

__all__ = [
    "bytescale",
    "comb",
    "factorial",
    "factorial2",
    "factorialk",
    "fromimage",
    "imread",
    "imresize",
    "imrotate",
    "imsave",
    "logsumexp",
    "toimage",
]

_File = str | PathLike[str] | IO[bytes]
_RESAMPLING = {
    "nearest": PIL.Image.Resampling.NEAREST,
    "lanczos": PIL.Image.Resampling.LANCZOS,
    "bilinear": PIL.Image.Resampling.BILINEAR,
    "bicubic": PIL.Image.Resampling.BICUBIC,
    "cubic": PIL.Image.Resampling.BICUBIC,
}


def imread(name: _File, flatten: bool = False, mode: str | None = None) -> NDArray[np.generic]:
    """Returns the picture of a file as an array."""
    with PIL.Image.open(name) as image:
        return fromimage(image, flatten, mode)


def imsave(name: _File, arr: ArrayLike, format: str | None = None) -> None:
    """Writes an array to a picture file, scaled to 0 to 255 unless it has 8 bits."""
    toimage(arr, channel_axis=2).save(name, format)


def imresize(
    arr: ArrayLike,
    size: int | float | Sequence[int],
    interp: str = "bilinear",
    mode: str | None = None,
) -> NDArray[np.generic]:
    """Returns a picture in another size.

    Args:
      arr: The picture.
      size: The height and width, a factor (float), or a percentage (int).
      interp: The method: nearest, lanczos, bilinear, bicubic or cubic.
      mode: The mode of Pillow in which the size changes.
    """
    image = toimage(arr, mode=mode)
    if isinstance(size, (int, float, np.number)):
        factor = float(size) if isinstance(size, (float, np.floating)) else size / 100
        width, height = (int(length * factor) for length in image.size)
    else:
        height, width = (int(length) for length in size[:2])
    return fromimage(image.resize((width, height), resample=_RESAMPLING[interp]))


def imrotate(arr: ArrayLike, angle: float, interp: str = "bilinear") -> NDArray[np.generic]:
    """Returns a picture rotated by degrees, in its size."""
    return fromimage(toimage(arr).rotate(angle, resample=_RESAMPLING[interp]))


def fromimage(
    im: PIL.Image.Image, flatten: bool = False, mode: str | None = None
) -> NDArray[np.generic]:
    """Returns the array of a picture of Pillow.

    Args:
      im: The picture.
      flatten: Whether to return one channel of floats.
      mode: The mode of Pillow to which the picture is converted first.
    """
    if mode is None and im.mode == "P":
        mode = "RGBA" if "transparency" in im.info else "RGB"
    if mode is not None and mode != im.mode:
        im = im.convert(mode)
    if flatten:
        im = im.convert("F")
    elif im.mode == "1":
        im = im.convert("L")
    return np.array(im)


def toimage(
    arr: ArrayLike,
    high: float = 255,
    low: float = 0,
    cmin: float | None = None,
    cmax: float | None = None,
    pal: ArrayLike | None = None,
    mode: str | None = None,
    channel_axis: int | None = None,
) -> PIL.Image.Image:
    """Returns an array of 2 or 3 dimensions as a picture of Pillow.

    Args:
      arr: The array. Of three dimensions one is the channels, 3 or 4.
      high: The value that `cmax` becomes.
      low: The value that `cmin` becomes.
      cmin: The smallest value; None: of the array.
      cmax: The largest value; None: of the array.
      pal: The palette of mode P; None: gray.
      mode: The mode of Pillow; None: L, RGB or RGBA.
      channel_axis: The axis of the channels; None: the first one of length 3 or 4.

    Raises:
      ValueError: The array has not the shape of a picture.
    """
    data = np.asarray(arr)
    if np.iscomplexobj(data):
        raise ValueError("Cannot convert a complex-valued array.")
    if data.ndim == 2:
        return _to_gray(data, high, low, cmin, cmax, pal, mode)
    if data.ndim != 3 or not {3, 4} & set(data.shape):
        raise ValueError("'arr' does not have a suitable array shape for any mode.")
    if channel_axis is None:
        channel_axis = data.shape.index(3 if 3 in data.shape else 4)
    channels = data.shape[channel_axis]
    if channels not in (3, 4):
        raise ValueError("Channel axis dimension is not valid.")
    pixels = np.moveaxis(bytescale(data, cmin, cmax, high, low), channel_axis, 2)
    mode = mode or ("RGB" if channels == 3 else "RGBA")
    if PIL.Image.getmodebands(mode) != channels:
        raise ValueError("Invalid array shape for mode.")
    height, width = pixels.shape[:2]
    return PIL.Image.frombytes(mode, (width, height), np.ascontiguousarray(pixels).tobytes())


def _to_gray(
    data: NDArray[np.generic],
    high: float,
    low: float,
    cmin: float | None,
    cmax: float | None,
    pal: ArrayLike | None,
    mode: str | None,
) -> PIL.Image.Image:
    """Returns a picture of one channel; see `toimage`."""
    size = (data.shape[1], data.shape[0])
    if mode == "F":
        return PIL.Image.frombytes("F", size, data.astype(np.float32).tobytes())
    if mode == "I":
        smallest = np.amin(data) if cmin is None else cmin
        largest = np.amax(data) if cmax is None else cmax
        scaled = (data.astype(np.float64) - smallest) * (high - low) / (largest - smallest) + low
        return PIL.Image.frombytes("I", size, scaled.astype(np.uint32).tobytes())
    pixels = bytescale(data, cmin, cmax, high, low)
    if mode == "1":
        # Only pixels of 8 bits can exceed `high`.
        return PIL.Image.fromarray(pixels > high)
    if mode not in (None, "L", "P"):
        raise ValueError(f"Mode {mode} is not one of L, P, 1, I and F.")
    image = PIL.Image.frombytes("L", size, pixels.tobytes())
    if mode == "P" or pal is not None:
        gray = np.repeat(np.arange(256, dtype=np.uint8), 3)
        image.putpalette((gray if pal is None else np.asarray(pal, np.uint8)).tobytes())
    return image


def bytescale(
    data: ArrayLike,
    cmin: float | None = None,
    cmax: float | None = None,
    high: float = 255,
    low: float = 0,
) -> NDArray[np.uint8]:
    """Returns an array scaled to 8 bits; an array of 8 bits unchanged.

    Args:
      data: The array.
      cmin: The value that becomes `low`; None: the smallest.
      cmax: The value that becomes `high`; None: the largest.
      high: At most 255.
      low: At least 0.
    """
    values = np.asarray(data)
    if values.dtype == np.uint8:
        return values
    if not 0 <= low <= high <= 255:
        raise ValueError(f"`low` and `high` must be in 0 to 255, got {low} and {high}.")
    smallest = values.min() if cmin is None else cmin
    largest = values.max() if cmax is None else cmax
    span = float(largest) - float(smallest)
    if span < 0:
        raise ValueError("`cmax` should be larger than `cmin`.")
    scaled = (values.astype(np.float64) - smallest) * ((high - low) / (span or 1.0)) + low
    return (np.clip(scaled, low, high) + 0.5).astype(np.uint8)
