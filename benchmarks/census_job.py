"""A wide-and-deep job on generated census data: 40,000 rows of CSV with 14 columns.

`python -m benchmarks.census_job [original]` prints the AUC and the examples per second.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import tensorflow as tf

from benchmarks.training.estimators import read_marks

ROWS, EVAL_ROWS, BATCH = 40_000, 8_000, 128
NUMBERS = ("age", "years", "gain", "loss", "hours", "score")
WORDS = {
    "work": 9, "school": 16, "status": 7, "job": 15, "relation": 6, "race": 5, "sex": 2,
    "country": 40,
}  # fmt: skip
COLUMNS = (*NUMBERS, *WORDS, "income")
_WINDOW = 100
_DEFAULTS = [[0.0]] * len(NUMBERS) + [[""]] * len(WORDS) + [[0]]


def write_csv(path: Path, count: int, seed: int) -> None:
    """Writes rows of numbers, words, and an income that depends on some columns."""
    random = np.random.RandomState(seed)
    numbers = {name: random.gamma(2.0, 10.0, count).round(2) for name in NUMBERS}
    words = {name: random.zipf(1.3, count) % size for name, size in WORDS.items()}
    logit = (numbers["age"] - 20) / 12 + (numbers["years"] - 20) / 20 - 1.0
    logit += np.sin(words["job"] * 2.1) + np.cos(words["school"] * 1.7)
    logit += 1.5 * ((words["job"] + words["school"]) % 3 == 0)
    label = (logit + random.logistic(size=count) > 0).astype(int)
    rows = zip(
        *numbers.values(),
        *([f"{name}-{i}" for i in indices] for name, indices in words.items()),
        label,
        strict=True,
    )
    path.write_text("\n".join(",".join(map(str, row)) for row in rows) + "\n")


def make_input_fn(path: Path, repeat: bool) -> Callable[[], tf.data.Dataset]:
    """Returns an input_fn that reads and parses batches of a file's rows."""

    def parse(lines: tf.Tensor) -> tuple[dict[str, tf.Tensor], tf.Tensor]:
        features = dict(zip(COLUMNS, tf.io.decode_csv(lines, _DEFAULTS), strict=True))
        return features, features.pop("income")

    def input_fn() -> tf.data.Dataset:
        lines = tf.data.TextLineDataset(str(path))
        return (lines.repeat() if repeat else lines).batch(BATCH).map(parse).prefetch(2)

    return input_fn


def make_estimator(api: ModuleType, legacy: ModuleType, model_dir: str) -> Any:
    """Returns a wide-and-deep classifier of either API."""
    fc = tf.feature_column
    numbers = [fc.numeric_column(name, normalizer_fn=lambda x: x / 20.0) for name in NUMBERS]
    words = {
        name: fc.categorical_column_with_vocabulary_list(name, [f"{name}-{i}" for i in range(n)])
        if n < 20
        else fc.categorical_column_with_hash_bucket(name, 100)
        for name, n in WORDS.items()
    }
    ages = fc.bucketized_column(fc.numeric_column("age"), [5.0, 10.0, 15, 20, 25, 30, 40, 50, 60])
    crosses = [
        fc.crossed_column(["job", "school"], 1000),
        fc.crossed_column([ages, "job", "country"], 10_000),
    ]
    return api.DNNLinearCombinedClassifier(
        model_dir,
        linear_feature_columns=[*words.values(), ages, *crosses],
        dnn_feature_columns=[*numbers, *(fc.embedding_column(w, 8) for w in words.values())],
        dnn_hidden_units=[64, 32],
        linear_optimizer="Ftrl",
        dnn_optimizer=lambda: legacy.Adagrad(0.05),
        config=api.RunConfig(tf_random_seed=1, log_step_count_steps=_WINDOW),
    )


def run(
    api: ModuleType,
    legacy: ModuleType,
    epochs: int = 3,
    rows: int = ROWS,
    eval_rows: int = EVAL_ROWS,
) -> dict[str, float]:
    """Trains and evaluates; measures the time from the first to the last event with the speed.

    Args:
      api: estimator_train or tf.estimator.
      legacy: Module of legacy optimizers of the Keras for this API.
      epochs: Passes over all rows.
      rows: Number of rows to train on.
      eval_rows: Number of rows to evaluate on.

    Returns:
      The AUC, the average loss, and the examples per second of training.
    """
    with tempfile.TemporaryDirectory() as base:
        data, held_out = Path(base, "train.csv"), Path(base, "eval.csv")
        write_csv(data, rows, 1)
        write_csv(held_out, eval_rows, 2)
        estimator = make_estimator(api, legacy, f"{base}/model")
        estimator.train(make_input_fn(data, True), steps=rows // BATCH * epochs)
        (first, start), *_, (last, end) = read_marks(f"{base}/model")
        result = estimator.evaluate(make_input_fn(held_out, False))
        return {
            "auc": float(result["auc"]),
            "average_loss": float(result["average_loss"]),
            "examples_per_sec": (last - first) * BATCH / (end - start),
        }


if __name__ == "__main__":
    if sys.argv[1:] == ["original"]:
        print(run(tf.estimator, tf.keras.optimizers.legacy))
    else:
        import tf_keras

        import estimator_train

        print(run(estimator_train, tf_keras.optimizers.legacy))
