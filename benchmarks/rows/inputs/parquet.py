"""A Parquet file of Criteo's shape, compared with TFRecords of the same rows."""

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.input_speed import make_input_benchmark

_ROWS, _BATCH = 40_000, 512
_FLOATS = [f"i{number}" for number in range(13)]
_IDS = [f"c{number}" for number in range(26)]


def _write(folder: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq
    import tensorflow as tf

    random = np.random.default_rng(0)
    floats = {name: random.random(_ROWS, np.float32) for name in _FLOATS}
    ids = {name: random.integers(0, 100_000, _ROWS) for name in [*_IDS, "label"]}
    pq.write_table(pa.table({**floats, **ids}), folder / "rows.parquet")
    with tf.io.TFRecordWriter(f"{folder}/rows.tfrecord") as writer:
        for row in range(_ROWS):
            example = tf.train.Example()
            for name, values in floats.items():
                example.features.feature[name].float_list.value.append(values[row])
            for name, values in ids.items():
                example.features.feature[name].int64_list.value.append(values[row])
            writer.write(example.SerializeToString())


def _ours(folder: Path) -> Any:
    import input_fns

    return input_fns.parquet(folder, "label", batch_size=_BATCH)


def _theirs(folder: Path) -> Any:
    import tensorflow as tf

    spec = {name: tf.io.FixedLenFeature([], tf.float32) for name in _FLOATS}
    spec |= {name: tf.io.FixedLenFeature([], tf.int64) for name in [*_IDS, "label"]}
    records = tf.data.TFRecordDataset(f"{folder}/rows.tfrecord", buffer_size=1 << 20).repeat()
    batches = records.batch(_BATCH)
    return batches.map(lambda batch: tf.io.parse_example(batch, spec), 2).prefetch(2)


BENCHMARK = make_input_benchmark(
    "input_parquet",
    "input: Parquet of 40 columns, batch 512",
    "TFRecords, parse_example",
    _BATCH,
    _write,
    _ours,
    _theirs,
    goal=3.0,
)
