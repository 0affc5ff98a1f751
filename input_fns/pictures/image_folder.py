"""Pictures in folders, one folder a class."""

import math
import os
import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import tensorflow as tf

from input_fns.pictures.decoding import RANDOM, Look, fault, is_grey
from input_fns.pipeline import checks
from input_fns.pipeline.batching import batches
from input_fns.pipeline.guard import BadRecords, full_batches, guarded, told
from input_fns.pipeline.options import MEMORY, PipelineOptions
from input_fns.pipeline.row_cache import FileCache, RowCache, cached, to_bytes
from input_fns.pipeline.transformations import map_and_batch


def image_folder(
    file_pattern: str | os.PathLike[str],
    labels: Sequence[str],
    image_size: tuple[int, int] = (224, 224),
    shuffle: bool = False,
    batch_size: int = 64,
    num_epochs: int | None = None,
    buffer_size: int | None = 4096,
    prefetch_buffer_size: int | None = None,
    *,
    full_decode: bool = False,
    exact_dct: bool = False,
    crop: str | None = None,
    crop_area: float = 0.3,
    mixed_channels: bool = False,
    options: PipelineOptions | None = None,
    **more: Any,
) -> tf.data.Dataset:
    """Gives the pictures of folders in batches; the folder's name is the picture's label.

    The files are listed, and their folders looked up, once and before anything is read.

    Args:
      file_pattern: Pattern of the files, such as 'train/*/*.jpeg'. They may be JPEG, PNG, GIF
        (first frame) or BMP (without a palette), grey or coloured.
      labels: Names of the folders, in the order of the classes.
      image_size: Height and width, in pixels, that pictures are resized to (bilinear).
      shuffle: Whether each epoch has a random order of its own.
      batch_size: Pictures in a batch.
      num_epochs: Passes over the files; None repeats indefinitely.
      buffer_size: The shuffle moves a file by fewer places than this; None means anywhere.
        A small number still mixes the classes: the list gets one random order beforehand.
      prefetch_buffer_size: Batches made ahead of their use; None lets tf.data choose.
      full_decode: Whether every pixel of a JPEG file is decoded before resizing. If not, files at
        least twice as large as `image_size` are decoded at 1/2, 1/4 or 1/8 of their size, which
        is faster; of photographs, values differ by 0.02 on average.
      exact_dct: Whether JPEG files are decoded with the more exact, slower integer transform.
      crop: 'center' takes the largest part of the proportions of `image_size` from the middle,
        'random' another part of them each time; only that part is decoded. None takes it all,
        whatever its proportions.
      crop_area: Area of the smallest random part, as a share of the largest there is room for.
      mixed_channels: Whether grey pictures may lie among coloured ones. If not, one that is unlike
        the first (by name) is a bad record. Grey ones become three equal colours either way.
      options: All settings at once, in place of `shuffle` to `prefetch_buffer_size`.
      **more: The other settings of `PipelineOptions`, such as `seed`, `drop_remainder`, `cache`
        (of resized pictures, rounded to bytes) and `on_bad_record`.

    Returns:
      A `tf.data.Dataset` of (pictures, labels): tf.float32 of shape (batch_size, height,
      width, 3) from 0.0 to 1.0, and one-hot tf.float32 of shape (batch_size, classes). A file
      that is not a picture, is damaged, or cannot be read ends the iteration with a
      `tf.errors.InvalidArgumentError` that names it.

    Raises:
      FileNotFoundError: No file matches the pattern.
      ValueError: A file lies in a folder that is not among the labels, or an argument is
        out of its range.
      TypeError: An argument is of the wrong type.
    """
    settings = PipelineOptions.of(
        {"options": options, **more},
        shuffle=shuffle,
        batch_size=batch_size,
        num_epochs=num_epochs,
        buffer_size=buffer_size,
        prefetch_buffer_size=prefetch_buffer_size,
    )
    size, table = _checked_size(image_size), _checked_labels(labels)
    files, classes = _list_files(checks.path("file_pattern", file_pattern), table)
    grey = None if mixed_channels else _first_kind(files)
    look = Look(size, full_decode, exact_dct, crop, crop_area, grey)
    numbers = np.arange(len(files))
    if settings.shuffle and settings.buffer_size is not None and settings.buffer_size < len(files):
        numbers = _mixed(numbers, settings.seed)
    bad = BadRecords(settings)
    load_batch = _loader(look, len(labels), settings, bad, _cache(files, look, settings))
    # A batch for every processor, and one more so that none is idle at the end of another.
    batches_at_a_time = 1 + math.ceil(settings.parallel_calls / settings.batch_size)
    rows = batches((numbers, np.array(files)[numbers]), classes[numbers], settings)
    seeds = tf.data.Dataset.random(settings.seed, rerandomize_each_iteration=True)
    loaded = tf.data.Dataset.zip((rows, seeds)).interleave(
        load_batch,
        cycle_length=batches_at_a_time,
        num_parallel_calls=batches_at_a_time,
        deterministic=settings.deterministic,
    )
    if not bad.are_skipped:
        cardinality = settings.cardinality(settings.share_of(len(files)))
        loaded = loaded.apply(tf.data.experimental.assert_cardinality(cardinality))
    return settings.finish(full_batches(loaded, settings, bad))


def _checked_size(image_size: tuple[int, int]) -> tuple[int, int]:
    if not isinstance(image_size, Sequence) or len(image_size) != 2:
        raise TypeError(f"image_size must be (height, width), but got {image_size!r}.")
    height, width = (
        checks.integer(f"image_size[{i}]", size, minimum=1) for i, size in enumerate(image_size)
    )
    return height, width


def _checked_labels(labels: Sequence[str]) -> dict[str, int]:
    """Returns the table from a folder's name to its class."""
    if isinstance(labels, str) or not all(isinstance(label, str) for label in labels):
        raise TypeError(f"labels must be a list of folder names, but got {labels!r}.")
    table = {label: number for number, label in enumerate(labels)}
    if not table:
        raise ValueError("labels must name at least one folder, but it is empty.")
    twice = [label for label, times in Counter(labels).items() if times > 1]
    if twice:
        raise ValueError(f"labels must not name a folder twice, but {twice} are.")
    return table


def _list_files(pattern: str, table: dict[str, int]) -> tuple[list[str], np.ndarray]:
    """Returns the files that match, sorted by name, and the class of each."""
    files = sorted(tf.io.gfile.glob(pattern))
    if not files:
        raise FileNotFoundError(
            f"No file matches file_pattern {pattern!r}: {_what_is_there(pattern)}"
        )
    folders = [os.path.basename(os.path.dirname(file)) for file in files]
    strange = {name: file for name, file in zip(folders, files, strict=True) if name not in table}
    if strange:
        if tf.io.gfile.isdir(next(iter(strange.values()))):
            raise ValueError(
                f"file_pattern {pattern!r} matches a folder: it must match pictures, as "
                "'pictures/*/*.jpeg' does."
            )
        some = list(strange.items())[:5]
        found = ", ".join(f"{name!r} (with {file})" for name, file in some)
        more = f" and {len(strange) - len(some)} more" if len(strange) > len(some) else ""
        raise ValueError(
            f"file_pattern {pattern!r} matches files in folders that are not in labels: "
            f"{found}{more}. Allowed are {', '.join(map(repr, table))}. Add them to labels, or "
            "let the pattern leave them out."
        )
    return files, np.array([table[name] for name in folders], np.int32)


def _first_kind(files: list[str]) -> bool | None:
    """Whether the first file that is a picture is grey; None if no file is one."""
    for file in files:
        try:
            with tf.io.gfile.GFile(file, "rb") as opened:
                grey = is_grey(opened.read())
        except tf.errors.OpError:
            continue
        if grey is not None:
            return grey
    return None


def _what_is_there(pattern: str) -> str:
    folder = os.path.dirname(re.split(r"[*?[{]", pattern, maxsplit=1)[0])
    if folder and not tf.io.gfile.isdir(folder):
        return f"there is no folder {folder!r}."
    return f"the folder {folder or os.curdir!r} is there, but holds nothing of that form."


def _mixed(numbers: np.ndarray, seed: int | None) -> np.ndarray:
    """Returns the numbers of files in a random order.

    The files come sorted by class, and a small buffer does not reach from one to the next.
    """
    seeds = [abs(part) for part in tf.compat.v1.get_seed(seed) if part is not None]
    return np.random.default_rng(seeds or None).permutation(numbers)


def _cache(files: list[str], look: Look, options: PipelineOptions) -> RowCache | FileCache | None:
    if options.cache is None:
        return None
    if look.crop == RANDOM:
        raise ValueError(
            "crop='random' takes another part of a picture each time, and a cache keeps the first: "
            "cache whole pictures of a larger image_size, and crop the batches with `map`."
        )
    shape = (*look.size, 3)
    if options.cache == MEMORY:
        return RowCache(len(files), shape)
    stats = [tf.io.gfile.stat(file) for file in files]
    contents = [[f, s.length, s.mtime_nsec] for f, s in zip(files, stats, strict=True)]
    how = [look.full_decode, look.exact_dct, look.crop]
    return FileCache(str(options.cache), len(files), shape, [how, contents])


def _loader(
    look: Look,
    num_classes: int,
    options: PipelineOptions,
    bad: BadRecords,
    cache: RowCache | FileCache | None,
) -> Callable[..., tf.data.Dataset]:
    """Returns the function from a batch of row numbers, files and classes to one of pictures."""
    # A cache keeps bytes, so that its rows are the same whether they were just decoded or cached.
    decode = look.decoder(1.0 if cache is None else 255.0)

    def finish(_: tf.Tensor, pictures: tf.Tensor, classes: tf.Tensor) -> tuple[Any, Any]:
        if cache is not None:
            # Casts and scales in one pass.
            pictures = tf.bitcast(pictures, tf.quint8)
            pictures = tf.quantization.dequantize(pictures, 0.0, 1.0)
        return pictures, tf.one_hot(classes, num_classes)

    def load_batch(batch: Any, seed: tf.Tensor) -> tf.data.Dataset:
        (numbers, names), classes = batch
        each = tf.data.Dataset.from_tensor_slices((numbers, names, classes))

        def fault_of(number: tf.Tensor, file: tf.Tensor, label: tf.Tensor) -> tf.Tensor:
            return told(partial(fault, grey=look.grey), file)

        def picture_of(number: tf.Tensor, file: tf.Tensor, label: tf.Tensor) -> tf.Tensor:
            return decode(tf.io.read_file(file), tf.stack([seed, number]))

        def load(number: tf.Tensor, file: tf.Tensor, label: tf.Tensor) -> tuple[tf.Tensor, ...]:
            picture = picture_of(number, file, label)
            return number, picture if cache is None else to_bytes(picture), label

        drop_remainder = options.drop_remainder and not bad.are_skipped
        load_all = map_and_batch(load, options.batch_size, options.parallel_calls, drop_remainder)
        loaded = guarded(load_all(each), each, picture_of, fault_of, load_all, bad)
        if cache is not None:
            loaded = cached(cache, loaded, numbers, classes)
        return loaded.map(finish)

    return load_batch
