"""Generated data and speed measurements for the benchmarks of input.

Datasets are read in a graph, as training loops read them, without Python code between batches.
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


def make_input_benchmark(
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
    """Returns a benchmark of examples per second.

    Args:
      name: See `Benchmark`.
      title: See `Benchmark`.
      peer: Name of the other implementation.
      batch_size: Examples in an element of both datasets.
      write: Function that writes the data to a folder.
      ours: Function that returns our dataset of the folder.
      theirs: Function that returns the dataset of the peer.
      goal: Minimum ratio of our speed to the speed of the peer.
      skipped: Number of elements to read before measuring our dataset.
    """

    def make_peer(make: Callable[[Path], Any], skipped: int) -> Callable[[bool], float]:
        def measure(quick: bool) -> float:
            with tempfile.TemporaryDirectory() as folder:
                write(Path(folder))
                return batch_size * measure_elements_per_second(make(Path(folder)), quick, skipped)

        return measure

    peers = {OURS: make_peer(ours, skipped), peer: make_peer(theirs, 0)}
    return Benchmark(name, title, "examples/s", peers, goals={peer: goal})


def measure_elements_per_second(dataset: Any, quick: bool, skipped: int = 0) -> float:
    """Returns the elements per second of an infinite dataset, after a warm-up."""
    import tensorflow as tf

    @tf.function
    def read(iterator: Any, count: Any) -> None:
        for _ in tf.range(count):
            next(iterator)

    iterator = iter(dataset)
    read(iterator, tf.constant(skipped + (1 if quick else 3)))
    seconds, count, start = (0.05 if quick else 4.0), 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        # Fast datasets read more elements in each call, so that the call itself does not matter.
        several = 1 if count < 10 else max(1, count // 10)
        read(iterator, tf.constant(several))
        count += several
    return count / (time.perf_counter() - start)


def write_jpegs(folder: Path, channels: int) -> None:
    """Writes smooth, slightly noisy pictures of 512x496 pixels to a folder for each label.

    A file has about 55 KB, like a photograph of that size.
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


def read_pictures_by_tutorial(folder: Path) -> Any:
    """Returns the pipeline of TensorFlow's tutorial."""
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


def read_pictures(folder: Path, **settings: Any) -> Any:
    """Returns the same batches with input_fns."""
    import input_fns

    return input_fns.image_folder(
        f"{folder}/*/*.jpeg", LABELS, (224, 224), shuffle=True, batch_size=64, **settings
    )


def slice_arrays(features: np.ndarray, labels: np.ndarray) -> Any:
    """Returns batches of arrays with plain tf.data."""
    import tensorflow as tf

    dataset = tf.data.Dataset.from_tensor_slices((features, labels)).shuffle(len(labels))
    return dataset.repeat().batch(128).prefetch(tf.data.AUTOTUNE)


def make_arrays_benchmark(
    name: str, title: str, rows: int, shape: list[int], goal: float
) -> Benchmark:
    """Returns a benchmark of shuffled arrays of floats, in batches of 128."""

    def data() -> tuple[np.ndarray, np.ndarray]:
        return np.zeros([rows, *shape], np.float32), np.arange(rows)

    def ours(_: Path) -> Any:
        import input_fns

        return input_fns.arrays(*data(), batch_size=128, shuffle=True)

    return make_input_benchmark(
        name, title, "tf.data", 128, lambda _: None, ours, lambda _: slice_arrays(*data()), goal
    )
