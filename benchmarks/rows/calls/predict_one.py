"""Predictions of one example by `Estimator.predict`, with a new lambda in each call."""

import tempfile
import time
from statistics import median

from benchmarks.apis import Apis, compare_apis
from benchmarks.benchmark import ORIGINAL, Benchmark
from benchmarks.linear_model import make_rows, train_linear


def measure_call(apis: Apis, quick: bool) -> float:
    """Returns the median milliseconds of a call, without the first calls."""
    import tensorflow as tf

    with tempfile.TemporaryDirectory() as model_dir:
        estimator = train_linear(apis.estimator, model_dir)
        example = make_rows(1)
        secs = []
        for _ in range(3 if quick else 60):
            start = time.perf_counter()
            predictions = estimator.predict(
                lambda: tf.data.Dataset.from_tensors({"x": example})  # noqa: B023
            )
            next(predictions)
            predictions.close()
            secs.append(time.perf_counter() - start)
    return 1e3 * median(secs[len(secs) // 6 :])


BENCHMARK = Benchmark(
    "predict_one",
    "predict: one example, called again with a new lambda, linear model",
    "ms",
    compare_apis(measure_call),
    less_is_better=True,
    goals={ORIGINAL: 8.0},
)
