"""Batches of pictures in folders, with one folder for each class."""

import math
import os
import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import tensorflow as tf

from input_fns.pictures.decoding import RANDOM, DecodeOptions, describe_fault, is_grey
from input_fns.pipeline import checks
from input_fns.pipeline.batching import batch_arrays
from input_fns.pipeline.guard import BadRecords, describe_in_python, guard_batch, refill_batches
from input_fns.pipeline.options import MEMORY, PipelineOptions
from input_fns.pipeline.row_cache import FileCache, RowCache, cache_batch, round_to_bytes
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
    """Returns batches of the pictures in folders; the name of the folder is the label.

    The call lists all files and checks their folders before any picture is read.

    Args:
      file_pattern: Pattern of the files, such as 'train/*/*.jpeg'. They may be JPEG, PNG, GIF
        (first frame) or BMP (without a palette), grey or coloured.
      labels: Names of the folders, in the order of the classes.
      image_size: Height and width of the resized pictures, in pixels (bilinear).
      shuffle: Whether each epoch is in a new random order.
      batch_size: Pictures in a batch.
      num_epochs: Passes over the files; None repeats indefinitely.
      buffer_size: A file moves by fewer places than this when shuffled; None means anywhere. A
        small number still mixes the classes: the list of files is shuffled once at the start.
      prefetch_buffer_size: Number of batches prepared in advance; None lets tf.data choose.
      full_decode: Whether every pixel of a JPEG file is decoded before resizing. Otherwise files
        at least twice as large as `image_size` are decoded at 1/2, 1/4 or 1/8 of their size,
        which is faster; the values of photographs differ by 0.02 on average.
      exact_dct: Whether JPEG files are decoded with the more exact, slower integer transform.
      crop: 'center' crops the largest part with the proportions of `image_size` from the middle;
        'random' crops a different part with these proportions each time. Only the cropped part is
        decoded. None resizes the complete picture, even if this changes its proportions.
      crop_area: Area of the smallest random crop, as a fraction of the largest possible crop.
      mixed_channels: Whether the folders may contain both grey and coloured pictures. If False,
        a picture of another kind than the first (by name) is a bad record. Grey pictures always
        become three equal colours.
      options: All settings in one object; it replaces `shuffle` to `prefetch_buffer_size`.
      **more: Other settings of `PipelineOptions`, such as `seed`, `drop_remainder`, `cache`
        (of resized pictures, rounded to bytes) and `on_bad_record`.

    Returns:
      A `tf.data.Dataset` of (pictures, labels): tf.float32 of shape (batch_size, height,
      width, 3) from 0.0 to 1.0, and one-hot tf.float32 of shape (batch_size, classes). The
      iteration raises a `tf.errors.InvalidArgumentError` that names the file if a file is not a
      picture, is damaged, or cannot be read.

    Raises:
      FileNotFoundError: No file matches the pattern.
      ValueError: The folder of a file is not among the labels, or an argument is out of range.
      TypeError: An argument is of the wrong type.
    """
    settings = PipelineOptions.from_arguments(
        {"options": options, **more},
        shuffle=shuffle,
        batch_size=batch_size,
        num_epochs=num_epochs,
        buffer_size=buffer_size,
        prefetch_buffer_size=prefetch_buffer_size,
    )
    size, table = _check_size(image_size), _number_labels(labels)
    files, classes = _list_files(checks.tensorflow_path("file_pattern", file_pattern), table)
    grey = None if mixed_channels else _is_first_picture_grey(files)
    decode_options = DecodeOptions(size, full_decode, exact_dct, crop, crop_area, grey)
    numbers = np.arange(len(files))
    if settings.shuffle and settings.buffer_size is not None and settings.buffer_size < len(files):
        numbers = _shuffle_once(numbers, settings.seed)
    bad = BadRecords(settings)
    load_batch = _make_batch_loader(
        decode_options, len(labels), settings, bad, _make_cache(files, decode_options, settings)
    )
    # One batch more than the processors need, so that none is idle when a batch ends.
    batches_at_a_time = 1 + math.ceil(settings.parallel_calls / settings.batch_size)
    rows = batch_arrays((numbers, np.array(files)[numbers]), classes[numbers], settings)
    seeds = tf.data.Dataset.random(settings.seed, rerandomize_each_iteration=True)
    loaded = tf.data.Dataset.zip((rows, seeds)).interleave(
        load_batch,
        cycle_length=batches_at_a_time,
        num_parallel_calls=batches_at_a_time,
        deterministic=settings.deterministic,
    )
    if not bad.are_skipped:
        cardinality = settings.cardinality(settings.count_own_rows(len(files)))
        loaded = loaded.apply(tf.data.experimental.assert_cardinality(cardinality))
    return settings.finish(refill_batches(loaded, bad))


def _check_size(image_size: tuple[int, int]) -> tuple[int, int]:
    if not isinstance(image_size, Sequence) or len(image_size) != 2:
        raise TypeError(f"image_size must be (height, width), but got {image_size!r}.")
    height, width = (
        checks.integer(f"image_size[{i}]", size, minimum=1) for i, size in enumerate(image_size)
    )
    return height, width


def _number_labels(labels: Sequence[str]) -> dict[str, int]:
    """Returns the class number of each folder name."""
    if isinstance(labels, str) or not all(isinstance(label, str) for label in labels):
        raise TypeError(f"labels must be a list of folder names, but got {labels!r}.")
    table = {label: number for number, label in enumerate(labels)}
    if not table:
        raise ValueError("labels must name at least one folder, but it is empty.")
    duplicates = [label for label, times in Counter(labels).items() if times > 1]
    if duplicates:
        raise ValueError(f"labels must be unique, but it has {duplicates} more than once.")
    return table


def _list_files(pattern: str, table: dict[str, int]) -> tuple[list[str], np.ndarray]:
    """Returns the files that match, sorted by name, and the class number of each."""
    files = sorted(tf.io.gfile.glob(pattern))
    if not files:
        raise FileNotFoundError(
            f"No file matches file_pattern {pattern!r}: {_explain_no_match(pattern)}"
        )
    folders = [os.path.basename(os.path.dirname(file)) for file in files]
    unknown = {name: file for name, file in zip(folders, files, strict=True) if name not in table}
    if unknown:
        if tf.io.gfile.isdir(next(iter(unknown.values()))):
            raise ValueError(
                f"file_pattern {pattern!r} matches a folder: it must match pictures, as "
                "'pictures/*/*.jpeg' does."
            )
        some = list(unknown.items())[:5]
        listed = ", ".join(f"{name!r} (with {file})" for name, file in some)
        more = f" and {len(unknown) - len(some)} more" if len(unknown) > len(some) else ""
        raise ValueError(
            f"file_pattern {pattern!r} matches files in folders that are not in labels: "
            f"{listed}{more}. Allowed are {', '.join(map(repr, table))}. Add these folders to "
            "labels, or change the pattern so that it does not match them."
        )
    return files, np.array([table[name] for name in folders], np.int32)


def _is_first_picture_grey(files: list[str]) -> bool | None:
    """Returns whether the first picture among the files is grey; None if there is no picture."""
    for file in files:
        try:
            with tf.io.gfile.GFile(file, "rb") as opened:
                grey = is_grey(opened.read())
        except tf.errors.OpError:
            continue
        if grey is not None:
            return grey
    return None


def _explain_no_match(pattern: str) -> str:
    folder = os.path.dirname(re.split(r"[*?[{]", pattern, maxsplit=1)[0])
    if folder and not tf.io.gfile.isdir(folder):
        return f"there is no folder {folder!r}."
    return f"the folder {folder or os.curdir!r} exists, but contains no matching file."


def _shuffle_once(numbers: np.ndarray, seed: int | None) -> np.ndarray:
    """Returns the row numbers in a random order.

    The files are sorted by class, and a small shuffle buffer holds files of only one class.
    """
    seeds = [abs(part) for part in tf.compat.v1.get_seed(seed) if part is not None]
    return np.random.default_rng(seeds or None).permutation(numbers)


def _make_cache(
    files: list[str], decode_options: DecodeOptions, options: PipelineOptions
) -> RowCache | FileCache | None:
    if options.cache is None:
        return None
    if decode_options.crop == RANDOM:
        raise ValueError(
            "crop='random' crops a different part each time, but a cache would repeat the first "
            "one: cache pictures of a larger image_size without crop, and crop them with `map`."
        )
    shape = (*decode_options.size, 3)
    if options.cache == MEMORY:
        return RowCache(len(files), shape)
    stats = [tf.io.gfile.stat(file) for file in files]
    contents = [[f, s.length, s.mtime_nsec] for f, s in zip(files, stats, strict=True)]
    settings = [decode_options.full_decode, decode_options.exact_dct, decode_options.crop]
    return FileCache(str(options.cache), len(files), shape, [settings, contents])


def _make_batch_loader(
    decode_options: DecodeOptions,
    num_classes: int,
    options: PipelineOptions,
    bad: BadRecords,
    cache: RowCache | FileCache | None,
) -> Callable[..., tf.data.Dataset]:
    """Returns a function from (row numbers, files, classes) to a dataset with one batch."""
    # A cache stores bytes; rounding the first time too gives equal pictures in every epoch.
    decode = decode_options.make_decoder(1.0 if cache is None else 255.0)

    def finish(_: tf.Tensor, pictures: tf.Tensor, classes: tf.Tensor) -> tuple[Any, Any]:
        if cache is not None:
            # Dequantizing casts and scales in one pass.
            pictures = tf.bitcast(pictures, tf.quint8)
            pictures = tf.quantization.dequantize(pictures, 0.0, 1.0)
        return pictures, tf.one_hot(classes, num_classes)

    def load_batch(batch: Any, seed: tf.Tensor) -> tf.data.Dataset:
        (numbers, names), classes = batch
        each = tf.data.Dataset.from_tensor_slices((numbers, names, classes))

        def describe(number: tf.Tensor, file: tf.Tensor, label: tf.Tensor) -> tf.Tensor:
            return describe_in_python(partial(describe_fault, grey=decode_options.grey), file)

        def load_picture(number: tf.Tensor, file: tf.Tensor, label: tf.Tensor) -> tf.Tensor:
            return decode(tf.io.read_file(file), tf.stack([seed, number]))

        def load(number: tf.Tensor, file: tf.Tensor, label: tf.Tensor) -> tuple[tf.Tensor, ...]:
            picture = load_picture(number, file, label)
            return number, picture if cache is None else round_to_bytes(picture), label

        drop_remainder = options.drop_remainder and not bad.are_skipped
        load_all = map_and_batch(load, options.batch_size, options.parallel_calls, drop_remainder)
        loaded = guard_batch(load_all(each), each, load_picture, describe, load_all, bad)
        if cache is not None:
            loaded = cache_batch(cache, loaded, numbers, classes)
        return loaded.map(finish)

    return load_batch
