"""A folder of grey JPEG pictures, each pixel decoded, beside a loop that only decodes."""

from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.input_speed import input_benchmark, our_pictures, write_jpegs


def _decode_alone(folder: Path) -> Any:
    import tensorflow as tf

    contents = [path.read_bytes() for path in sorted(folder.glob("*/*"))]
    dataset = tf.data.Dataset.from_tensor_slices(contents).repeat()
    decoded = dataset.map(
        lambda content: tf.shape(tf.io.decode_jpeg(content, channels=3)), tf.data.AUTOTUNE
    )
    return decoded.batch(64).prefetch(tf.data.AUTOTUNE)


BENCHMARK = input_benchmark(
    "input_jpeg_full",
    "input: grey JPEG 512x496 to 224x224x3, full decode, batch 64",
    "decode_jpeg alone",
    64,
    partial(write_jpegs, channels=1),
    partial(our_pictures, full_decode=True),
    _decode_alone,
    goal=0.8,
)
