"""Measures memory growth: `python -m benchmarks.input_memory [--batches 100000] [SOURCE ...]`.

Each source is read in a separate process, in a graph, as in training. The output is the memory
after a tenth of the batches, when all buffers are full, and the growth until the last batch.
"""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import tensorflow as tf

import input_fns

_ROWS, _BATCH = 200, 4
MARK = "kilobytes:"


def _arrays(_: Path) -> Any:
    return input_fns.arrays(np.zeros([_ROWS, 8]), shuffle=True, batch_size=_BATCH)


def _pandas_frame(_: Path) -> Any:
    frame = pd.DataFrame({"x": np.arange(_ROWS), "s": ["a", "b"] * (_ROWS // 2)})
    return input_fns.pandas_frame(frame, shuffle=True, batch_size=_BATCH)


def _idx(folder: Path) -> Any:
    input_fns.write_idx(folder / "x", np.zeros([_ROWS, 8, 8], np.uint8))
    input_fns.write_idx(folder / "y", np.zeros([_ROWS], np.uint8))
    return input_fns.idx(folder / "x", folder / "y", shuffle=True, batch_size=_BATCH)


def _image_folder(folder: Path, **settings: Any) -> Any:
    (folder / "a").mkdir()
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        contents = session.run(tf.io.encode_jpeg(np.zeros([16, 16, 3], np.uint8)))
    for number in range(40):
        (folder / "a" / f"{number}.jpeg").write_bytes(contents)
    return input_fns.image_folder(
        f"{folder}/a/*.jpeg", ["a"], (8, 8), shuffle=True, batch_size=_BATCH, **settings
    )


def _cached_image_folder(folder: Path) -> Any:
    return _image_folder(folder, cache=folder / "cache")


def _tfrecords(folder: Path) -> Any:
    example = tf.train.Example()
    example.features.feature["x"].float_list.value.append(1.0)
    with tf.io.TFRecordWriter(f"{folder}/x.tfrecord") as writer:
        for _ in range(_ROWS):
            writer.write(example.SerializeToString())
    features = {"x": tf.io.FixedLenFeature([], tf.float32)}
    return input_fns.tfrecords(f"{folder}/*", features, shuffle=True, batch_size=_BATCH)


def _csv(folder: Path) -> Any:
    (folder / "x.csv").write_text("a,b\n" + "1,x\n" * _ROWS)
    return input_fns.csv(f"{folder}/*", shuffle=True, batch_size=_BATCH)


def _text_lines(folder: Path) -> Any:
    (folder / "x.txt").write_text("a b\nc\n" * (_ROWS // 2))
    return input_fns.text_lines(
        f"{folder}/*", ["a", "b"], bucket_boundaries=[2], shuffle=True, batch_size=_BATCH
    )


def _generator(_: Path) -> Any:
    return input_fns.generator(lambda: iter(range(_ROWS)), shuffle=True, batch_size=_BATCH)


SOURCES: dict[str, Callable[[Path], Any]] = {
    function.__name__[1:]: function
    for function in (
        _arrays,
        _pandas_frame,
        _idx,
        _image_folder,
        _cached_image_folder,
        _tfrecords,
        _csv,
        _text_lines,
        _generator,
    )
}


def measure_growth(name: str, batches: int) -> tuple[int, int]:
    """Returns the memory of this process in kB after a tenth of the batches and after all."""
    sizes = []
    with (
        tempfile.TemporaryDirectory() as folder,
        tf.Graph().as_default(),
        tf.compat.v1.Session() as session,
    ):
        iterator = tf.compat.v1.data.make_initializable_iterator(SOURCES[name](Path(folder)))
        batch = tf.nest.flatten(iterator.get_next())
        session.run([iterator.initializer, tf.compat.v1.tables_initializer()])
        read = session.make_callable(batch)
        for count in (batches // 10, batches - batches // 10):
            for _ in range(count):
                read()
            sizes.append(_read_memory())
    return sizes[0], sizes[1]


def _read_memory() -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise RuntimeError("/proc/self/status has no line VmRSS with the memory of the process.")


def main() -> None:
    """Reads each source in a separate process, and prints its memory."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.input_memory", description=__doc__)
    parser.add_argument("sources", nargs="*", metavar="SOURCE", help=", ".join(SOURCES))
    parser.add_argument("--batches", type=int, default=100_000)
    parser.add_argument("--alone", choices=SOURCES, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.alone:
        print(MARK, *measure_growth(arguments.alone, arguments.batches))
        return
    for name in arguments.sources or SOURCES:
        command = [sys.executable, "-m", "benchmarks.input_memory", "--alone", name]
        command += ["--batches", str(arguments.batches)]
        output = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
        early, late = map(int, output.partition(MARK)[2].split())
        print(f"{name:20} {early:>9,} kB, then {late - early:+8,} kB", flush=True)


if __name__ == "__main__":
    main()
