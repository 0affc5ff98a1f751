"""What the rows about input share: made data, and how fast a dataset delivers it.

Datasets are read within a graph, as training in loops reads them, without work of Python between
batches.
"""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.benchmark import OURS, Benchmark

LABELS = ("CNV", "DME", "DRUSEN", "NORMAL")
_PICTURES = 256


def input_benchmark(
    name: str,
    title: str,
    peer: str,
    batch_size: int,
    write: Callable[[Path], None],
    ours: Callable[[Path], Any],
    theirs: Callable[[Path], Any],
    goal: float,
    skipped: int = 0,
) -> Benchmark:
    """A row of examples a second.

    Args:
      name: As of `Benchmark`.
      title: As of `Benchmark`.
      peer: Whom ours is compared with.
      batch_size: Examples in an element of both datasets.
      write: Writes the data into a folder.
      ours: Makes our dataset of the folder.
      theirs: Makes the peer's.
      goal: How many times as fast as the peer ours is to be at least.
      skipped: Elements to read before the measurement of ours begins.
    """

    def measured(make: Callable[[Path], Any], skipped: int) -> Callable[[bool], float]:
        def figure(quick: bool) -> float:
            with tempfile.TemporaryDirectory() as folder:
                write(Path(folder))
                return batch_size * elements_per_second(make(Path(folder)), quick, skipped)

        return figure

    peers = {OURS: measured(ours, skipped), peer: measured(theirs, 0)}
    return Benchmark(name, title, "examples/s", peers, goals={peer: goal})


def elements_per_second(dataset: Any, quick: bool, skipped: int = 0) -> float:
    """How many elements a second come out of an endless dataset, warmed up."""
    import tensorflow as tf

    @tf.function
    def read(iterator: Any, count: Any) -> None:
        for _ in tf.range(count):
            next(iterator)

    iterator = iter(dataset)
    read(iterator, tf.constant(skipped + (1 if quick else 3)))
    seconds, count, start = (0.05 if quick else 4.0), 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        # A few at a time where they are slow, more where the call would count.
        several = 1 if count < 10 else max(1, count // 10)
        read(iterator, tf.constant(several))
        count += several
    return count / (time.perf_counter() - start)


def write_jpegs(folder: Path, channels: int) -> None:
    """Writes pictures of 512x496 in a folder for each label, smooth ones with some grain.

    A file has about 55 KB, as photographs of that size do.
    """
    import tensorflow as tf

    random = np.random.default_rng(0)
    for number in range(_PICTURES):
        coarse = random.uniform(0, 255, [16, 16, channels])
        picture = tf.image.resize(coarse, [512, 496], "bicubic")
        picture += random.normal(0, 4, [512, 496, channels])
        pixels = tf.cast(tf.clip_by_value(picture, 0, 255), tf.uint8)
        contents = tf.io.encode_jpeg(pixels, quality=90)
        path = folder / LABELS[number % len(LABELS)] / f"{number}.jpeg"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(contents.numpy())


def tutorial_pictures(folder: Path) -> Any:
    """The tutorial's pipeline, as it was written."""
    import tensorflow as tf

    keys = tf.constant(LABELS)
    table = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(keys, tf.range(len(LABELS), dtype=tf.int64)), -1
    )

    def parse(filename: Any) -> Any:
        label = table.lookup(tf.strings.split(filename, "/")[-2])
        image = tf.image.decode_jpeg(tf.io.read_file(filename), channels=3)
        image = tf.image.convert_image_dtype(image, dtype=tf.float32)
        return tf.image.resize(image, (224, 224)), tf.one_hot(label, len(LABELS))

    dataset = tf.data.Dataset.list_files(f"{folder}/*/*.jpeg")
    dataset = dataset.apply(tf.data.experimental.shuffle_and_repeat(4096))
    dataset = dataset.apply(
        tf.data.experimental.map_and_batch(parse, batch_size=64, num_parallel_calls=2)
    )
    return dataset.prefetch(tf.data.AUTOTUNE)


def our_pictures(folder: Path, **settings: Any) -> Any:
    """The same with input_fns."""
    import input_fns

    return input_fns.image_folder(
        f"{folder}/*/*.jpeg", LABELS, (224, 224), shuffle=True, batch_size=64, **settings
    )


def sliced(features: Any, labels: Any) -> Any:
    """Arrays as one would write it with tf.data."""
    import tensorflow as tf

    dataset = tf.data.Dataset.from_tensor_slices((features, labels)).shuffle(len(labels))
    return dataset.repeat().batch(128).prefetch(tf.data.AUTOTUNE)


def arrays_benchmark(name: str, title: str, rows: int, shape: list[int], goal: float) -> Benchmark:
    """A row about arrays of floats of a shape, shuffled, in batches of 128."""

    def data() -> tuple[Any, Any]:
        return np.zeros([rows, *shape], np.float32), np.arange(rows)

    def ours(_: Path) -> Any:
        import input_fns

        return input_fns.arrays(*data(), batch_size=128, shuffle=True)

    return input_benchmark(
        name, title, "tf.data", 128, lambda _: None, ours, lambda _: sliced(*data()), goal
    )
