"""Pictures in folders, one folder a class."""

import math
import os
import re
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import tensorflow as tf

from input_fns import _checks
from input_fns._batching import Batching, batches
from input_fns.transformations import map_and_batch


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
    seed: int | None = None,
    drop_remainder: bool = False,
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
      num_epochs: Passes over the files; None repeats for ever.
      buffer_size: The shuffle moves a file by fewer places than this; None means anywhere.
        A small number still mixes the classes: the list gets one random order beforehand.
      prefetch_buffer_size: Batches made ahead of their use; None lets tf.data choose.
      seed: Seed of the shuffle; None draws one, or follows TensorFlow's global seed.
      drop_remainder: Whether a last batch with fewer than `batch_size` pictures is left out.

    Returns:
      A `tf.data.Dataset` of (pictures, labels): tf.float32 of shape (batch_size, height,
      width, 3) from 0.0 to 1.0, and one-hot tf.float32 of shape (batch_size, classes). A file
      that is not a picture, or a damaged one, ends the iteration with a
      `tf.errors.InvalidArgumentError` that names it.

    Raises:
      FileNotFoundError: If no file matches the pattern.
      ValueError: If a file lies in a folder that is not among the labels, or an argument is
        out of its range.
      TypeError: If an argument is of the wrong type.
    """
    settings = Batching(
        batch_size=batch_size,
        shuffle=shuffle,
        num_epochs=num_epochs,
        seed=seed,
        buffer_size=buffer_size,
        prefetch_buffer_size=prefetch_buffer_size,
        drop_remainder=drop_remainder,
    )
    size = _checked_size(image_size)
    files, classes = _list_files(
        _checks.path("file_pattern", file_pattern), _checked_labels(labels)
    )
    if shuffle and buffer_size is not None and buffer_size < len(files):
        files, classes = _mixed(files, classes, seed)
    processors = os.cpu_count() or 1
    # Enough batches at a time for every processor, and one that bridges the end of another.
    batches_at_a_time = 1 + math.ceil(processors / batch_size)
    return (
        batches(files, classes, settings)
        .interleave(
            _loader(size, len(labels), settings, processors),
            cycle_length=batches_at_a_time,
            num_parallel_calls=batches_at_a_time,
            deterministic=True,
        )
        .apply(tf.data.experimental.assert_cardinality(settings.cardinality(len(files))))
        .prefetch(settings.prefetch)
    )


def _checked_size(image_size: tuple[int, int]) -> tuple[int, int]:
    if not isinstance(image_size, Sequence) or len(image_size) != 2:
        raise TypeError(f"image_size must be (height, width), but got {image_size!r}.")
    height, width = image_size
    return (
        _checks.integer("image_size[0]", height, minimum=1),
        _checks.integer("image_size[1]", width, minimum=1),
    )


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
        some = list(strange.items())[:5]
        found = ", ".join(f"{name!r} (with {file})" for name, file in some)
        more = f" and {len(strange) - len(some)} more" if len(strange) > len(some) else ""
        raise ValueError(
            f"file_pattern {pattern!r} matches files in folders that are not in labels: "
            f"{found}{more}. Allowed are {', '.join(map(repr, table))}. Add them to labels, or "
            "let the pattern leave them out."
        )
    return files, np.array([table[name] for name in folders], np.int32)


def _what_is_there(pattern: str) -> str:
    folder = os.path.dirname(re.split(r"[*?[{]", pattern, maxsplit=1)[0])
    if folder and not tf.io.gfile.isdir(folder):
        return f"there is no folder {folder!r}."
    return f"the folder {folder or os.curdir!r} is there, but holds nothing of that form."


def _mixed(files: list[str], classes: np.ndarray, seed: int | None) -> tuple[list[str], np.ndarray]:
    """Returns the files in a random order.

    They come sorted by class, and a small buffer does not reach from one to the next.
    """
    seeds = [abs(part) for part in tf.compat.v1.get_seed(seed) if part is not None]
    order = np.random.default_rng(seeds or None).permutation(len(files))
    return [files[place] for place in order], classes[order]


def _loader(
    size: tuple[int, int], num_classes: int, settings: Batching, processors: int
) -> Callable[[tf.Tensor, tf.Tensor], tf.data.Dataset]:
    """Returns the function from a batch of file names and classes to one batch of pictures.

    TensorFlow's error for a picture that it cannot decode does not know the file, and a guard
    around every file would cost as much as decoding a small one. So a batch is loaded without
    guards. If that fails, `ignore_errors` takes the batch out, and what is concatenated takes
    its place: the same files once more, each with a guard that names it.
    """

    def load(file: tf.Tensor, label: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        picture = tf.io.decode_image(tf.io.read_file(file), channels=3, expand_animations=False)
        picture = tf.ensure_shape(picture, [None, None, 3])
        # Resizing before scaling: there are fewer numbers to scale.
        return tf.image.resize(picture, size) / 255.0, tf.one_hot(label, num_classes)

    def fail(file: tf.Tensor, label: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        with tf.control_dependencies([tf.debugging.Assert(False, [_fault(file)])]):
            return load(tf.identity(file), label)

    def load_or_name(file: tf.Tensor, label: tf.Tensor) -> tf.data.Dataset:
        row = tf.data.Dataset.from_tensors((file, label))
        return row.map(load).ignore_errors().concatenate(row.map(fail)).take(1)

    def load_batch(files: tf.Tensor, classes: tf.Tensor) -> tf.data.Dataset:
        batch_size, drop_remainder = settings.batch_size, settings.drop_remainder
        rows = tf.data.Dataset.from_tensor_slices((files, classes))
        quick = rows.apply(map_and_batch(load, batch_size, processors, drop_remainder))
        careful = rows.flat_map(load_or_name).batch(batch_size, drop_remainder)
        return quick.ignore_errors().concatenate(careful).take(1)

    return load_batch


def _fault(file: tf.Tensor) -> tf.Tensor:
    """Returns what is wrong with a file that cannot be decoded."""
    contents = tf.io.read_file(file)
    kind = tf.where(
        tf.io.is_jpeg(contents),
        "it begins like a JPEG file, but is cut short or damaged",
        "it is not a JPEG, PNG, BMP or GIF file, or is damaged",
    )
    length = tf.strings.as_string(tf.strings.length(contents))
    return tf.strings.join(
        [
            file,
            " cannot be read as a picture: ",
            kind,
            " (",
            length,
            " bytes); replace or remove it",
        ]
    )
