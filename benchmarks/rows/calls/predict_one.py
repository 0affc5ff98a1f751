"""One example through `Estimator.predict`, a new lambda each time, as people write it."""

import tempfile
import time
from statistics import median

from benchmarks.apis import Apis, both
from benchmarks.benchmark import ORIGINAL, Benchmark
from benchmarks.linear_model import rows, trained


def call_time(apis: Apis, quick: bool) -> float:
    """Milliseconds of a call, the median after the first few."""
    import tensorflow as tf

    with tempfile.TemporaryDirectory() as model_dir:
        estimator = trained(apis.estimator, model_dir)
        example = rows(1)
        secs = []
        for _ in range(3 if quick else 60):
            start = time.perf_counter()
            found = estimator.predict(
                lambda: tf.data.Dataset.from_tensors({"x": example})  # noqa: B023
            )
            next(found)
            found.close()
            secs.append(time.perf_counter() - start)
    return 1e3 * median(secs[len(secs) // 6 :])


BENCHMARK = Benchmark(
    "predict_one",
    "predict: one example, called again with a new lambda, linear model",
    "ms",
    both(call_time),
    less_is_better=True,
    goals={ORIGINAL: 8.0},
)
