"""Predictions of a hundred trees, in batches."""

import tempfile
import time
from typing import Any

from benchmarks.apis import Apis
from benchmarks.benchmark import OLDER_ORIGINAL, Benchmark
from benchmarks.tree_model import classifier, events, tree_peers


def _rows_per_second(apis: Apis, quick: bool) -> float:
    import tensorflow as tf

    count = 2_000 if quick else 100_000
    features, labels = events(count)
    few = {name: value[:1_000] for name, value in features.items()}, labels[:1_000]

    def train_input() -> Any:
        return tf.data.Dataset.from_tensors(few).repeat()

    def input_fn() -> Any:
        return tf.data.Dataset.from_tensor_slices(features).batch(1_000)

    with tempfile.TemporaryDirectory() as model_dir:
        estimator = classifier(apis.estimator, model_dir, 2 if quick else 100)
        estimator.train(train_input)
        next(estimator.predict(input_fn))
        start = time.perf_counter()
        seen = sum(1 for _ in estimator.predict(input_fn))
        assert seen == count
        return seen / (time.perf_counter() - start)


BENCHMARK = Benchmark(
    "boosted_trees_predict",
    "predict: 100,000 rows by 100 boosted trees, batch 1000",
    "rows/s",
    tree_peers(_rows_per_second),
    goals={OLDER_ORIGINAL: 2.0},
)
