"""A click model: wide and deep, with ten categorical features of many ids.

`python -m benchmarks.click_job PEER IDS MODEL_DIR` trains ten steps.
"""

import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

FEATURES, BATCH, EMBEDDING = 10, 512, 16
CROSS, SHUFFLED = 100_000, 10_000
_ROWS = 100_000
HIDDEN = [128, 64]


@dataclass(frozen=True)
class ClickJob:
    """A DNNLinearCombinedClassifier, and its input.

    Attributes:
      ids: Number of ids of a feature; an embedding table has as many rows.
    """

    ids: int

    @property
    def bytes(self) -> int:
        """Bytes of the embeddings and linear weights, with the slots of their optimizers."""
        per_id = 2 * EMBEDDING + 3  # Adagrad has one slot, Ftrl two.
        return 4 * (FEATURES * self.ids * per_id + 3 * CROSS)

    def estimator(self, api: ModuleType, model_dir: str, **settings: Any) -> Any:
        """Returns the estimator of an API; `settings` are arguments of its RunConfig."""
        import tensorflow as tf

        fc = tf.feature_column
        columns = [
            fc.categorical_column_with_identity(f"c{number}", self.ids)
            for number in range(FEATURES)
        ]
        return api.DNNLinearCombinedClassifier(
            model_dir,
            linear_feature_columns=[*columns, fc.crossed_column(["c0", "c1"], CROSS)],
            dnn_feature_columns=[fc.embedding_column(column, EMBEDDING) for column in columns],
            dnn_hidden_units=HIDDEN,
            config=api.RunConfig(tf_random_seed=1, **settings),
        )

    def rows(self, count: int = _ROWS) -> tuple[dict[str, Any], Any]:
        """Returns ids, of which small ones are frequent, and clicks that depend on them."""
        import numpy as np

        random = np.random.RandomState(0)
        ids = (random.rand(FEATURES, count) ** 3 * self.ids).astype(np.int64)
        clicks = ((ids[0] + ids[1]) % 5 == 0).astype(np.int64)
        return {f"c{number}": row for number, row in enumerate(ids)}, clicks

    def training_input(self, rows: tuple[dict[str, Any], Any]) -> Any:
        """Returns shuffled batches of an infinite dataset."""
        import tensorflow as tf

        data = tf.data.Dataset.from_tensor_slices(rows).shuffle(SHUFFLED)
        return data.repeat().batch(BATCH).prefetch(2)

    def write_parquet(self, folder: Path, count: int = _ROWS) -> None:
        """Writes the rows to a Parquet file."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        features, clicks = self.rows(count)
        pq.write_table(pa.table({**features, "click": clicks}), folder / "rows.parquet")

    def write_records(self, folder: Path) -> None:
        """Writes the rows to a TFRecord file."""
        import tensorflow as tf

        features, clicks = self.rows()
        columns = {**features, "click": clicks}
        with tf.io.TFRecordWriter(f"{folder}/rows.tfrecord") as writer:
            for row in range(len(clicks)):
                example = tf.train.Example()
                for name, values in columns.items():
                    example.features.feature[name].int64_list.value.append(values[row])
                writer.write(example.SerializeToString())

    def parquet_input(self, folder: Path) -> Any:
        """Returns shuffled batches of the Parquet file, an infinite dataset."""
        import input_fns

        return input_fns.parquet(
            folder, "click", batch_size=BATCH, shuffle=True, buffer_size=SHUFFLED
        )

    def records_input(self, folder: Path) -> Any:
        """Returns shuffled batches of the TFRecord file, with the usual code of tf.data."""
        import tensorflow as tf

        names = [*(f"c{number}" for number in range(FEATURES)), "click"]
        spec = {name: tf.io.FixedLenFeature([], tf.int64) for name in names}

        def parse(batch: Any) -> tuple[dict[str, Any], Any]:
            features = tf.io.parse_example(batch, spec)
            return features, features.pop("click")

        records = tf.data.TFRecordDataset(f"{folder}/rows.tfrecord").shuffle(SHUFFLED).repeat()
        return records.batch(BATCH).map(parse, tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)


def main() -> None:
    """Trains ten steps, for a restart by another process."""
    from benchmarks.apis import APIS

    peer, ids, model_dir = sys.argv[1:]
    job = ClickJob(int(ids))
    rows = job.rows()
    estimator = job.estimator(APIS[peer].estimator, model_dir)
    estimator.train(lambda: job.training_input(rows), steps=10)


if __name__ == "__main__":
    main()
