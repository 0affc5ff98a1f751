"""Batches of predictions of a hundred trees."""

import tempfile
import time
from typing import Any

from benchmarks.apis import Apis
from benchmarks.benchmark import OLDER_ORIGINAL, Benchmark
from benchmarks.tree_model import compare_tree_apis, make_classifier, make_events


def _measure_rows_per_second(apis: Apis, quick: bool) -> float:
    import tensorflow as tf

    count = 2_000 if quick else 100_000
    features, labels = make_events(count)
    training_data = {name: value[:1_000] for name, value in features.items()}, labels[:1_000]

    def train_input() -> Any:
        return tf.data.Dataset.from_tensors(training_data).repeat()

    def input_fn() -> Any:
        return tf.data.Dataset.from_tensor_slices(features).batch(1_000)

    with tempfile.TemporaryDirectory() as model_dir:
        estimator = make_classifier(apis.estimator, model_dir, 2 if quick else 100)
        estimator.train(train_input)
        next(estimator.predict(input_fn))
        start = time.perf_counter()
        predictions = sum(1 for _ in estimator.predict(input_fn))
        assert predictions == count
        return predictions / (time.perf_counter() - start)


BENCHMARK = Benchmark(
    "boosted_trees_predict",
    "predict: 100,000 rows by 100 boosted trees, batch 1000",
    "rows/s",
    compare_tree_apis(_measure_rows_per_second),
    goals={OLDER_ORIGINAL: 2.0},
)
