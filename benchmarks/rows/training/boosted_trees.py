"""A hundred trees in memory: 100,000 events of 28 numbers."""

import tempfile
import time
from typing import Any

from benchmarks.apis import Apis
from benchmarks.benchmark import OLDER_ORIGINAL, Benchmark
from benchmarks.tree_model import compare_tree_apis, make_classifier, make_events


def _seconds(apis: Apis, quick: bool) -> float:
    import tensorflow as tf

    features, labels = make_events(1_000 if quick else 100_000)

    def input_fn() -> Any:
        return tf.data.Dataset.from_tensors((features, labels)).repeat()

    with tempfile.TemporaryDirectory() as model_dir:
        estimator = make_classifier(apis.estimator, model_dir, 2 if quick else 100)
        start = time.perf_counter()
        estimator.train(input_fn)
        return time.perf_counter() - start


BENCHMARK = Benchmark(
    "boosted_trees",
    "train: 100 boosted trees of depth 6, 100,000 rows of 28 features in memory",
    "s",
    compare_tree_apis(_seconds),
    less_is_better=True,
    goals={OLDER_ORIGINAL: 1.0},
)
