"""Predictions of many examples by `Estimator.predict` of a linear model, one by one."""

import tempfile
import time
from typing import Any

from benchmarks.apis import Apis, compare_apis
from benchmarks.benchmark import ORIGINAL, Benchmark
from benchmarks.linear_model import make_rows, train_linear


def _measure_examples_per_second(apis: Apis, quick: bool) -> float:
    import tensorflow as tf

    count = 100 if quick else 100_000
    with tempfile.TemporaryDirectory() as model_dir:
        estimator = train_linear(apis.estimator, model_dir)
        batch = make_rows(1000)[:100]

        def input_fn() -> Any:
            return tf.data.Dataset.from_tensors({"x": batch}).repeat(count // 100)

        next(estimator.predict(input_fn))
        start = time.perf_counter()
        predictions = sum(1 for _ in estimator.predict(input_fn))
        return predictions / (time.perf_counter() - start)


BENCHMARK = Benchmark(
    "predict_rows",
    "predict: 100,000 rows of a linear model, one by one",
    "rows/s",
    compare_apis(_measure_examples_per_second),
    goals={ORIGINAL: 3.0},
)
