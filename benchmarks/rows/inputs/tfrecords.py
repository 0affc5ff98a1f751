"""TFRecord files of examples with 20 features, compared with TensorFlow's reader."""

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.input_speed import make_input_benchmark

_FILES, _ROWS = 4, 10_000  # Rows in each file.


def _make_spec() -> dict[str, Any]:
    import tensorflow as tf

    dtypes = [tf.float32] * 10 + [tf.int64] * 6 + [tf.string] * 4
    return {f"f{number}": tf.io.FixedLenFeature([], d) for number, d in enumerate(dtypes)}


def _write(folder: Path) -> None:
    import tensorflow as tf

    random = np.random.default_rng(0)
    for number in range(_FILES):
        with tf.io.TFRecordWriter(f"{folder}/{number}.tfrecord") as writer:
            for _ in range(_ROWS):
                example = tf.train.Example()
                feature = example.features.feature
                for column, value in enumerate(random.random(10)):
                    feature[f"f{column}"].float_list.value.append(value)
                for column, value in enumerate(random.integers(0, 100, 10), 10):
                    if column < 16:
                        feature[f"f{column}"].int64_list.value.append(value)
                    else:
                        feature[f"f{column}"].bytes_list.value.append(b"word%d" % value)
                writer.write(example.SerializeToString())


def _ours(folder: Path) -> Any:
    import input_fns

    return input_fns.tfrecords(f"{folder}/*", _make_spec(), batch_size=128, shuffle=True)


def _theirs(folder: Path) -> Any:
    import tensorflow as tf

    return tf.data.experimental.make_batched_features_dataset(f"{folder}/*", 128, _make_spec())


BENCHMARK = make_input_benchmark(
    "input_tfrecords",
    "input: TFRecords of 20 features, shuffled, batch 128",
    "make_batched_features_dataset",
    128,
    _write,
    _ours,
    _theirs,
    goal=2.5,
)
