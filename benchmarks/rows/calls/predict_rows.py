"""Many examples of a linear model through `Estimator.predict`, one by one."""

import tempfile
import time
from typing import Any

from benchmarks.apis import Apis, both
from benchmarks.benchmark import ORIGINAL, Benchmark
from benchmarks.linear_model import rows, trained


def _examples_per_second(apis: Apis, quick: bool) -> float:
    import tensorflow as tf

    count = 100 if quick else 100_000
    with tempfile.TemporaryDirectory() as model_dir:
        estimator = trained(apis.estimator, model_dir)
        some = rows(1000)

        def input_fn() -> Any:
            return tf.data.Dataset.from_tensors({"x": some[:100]}).repeat(count // 100)

        next(estimator.predict(input_fn))
        start = time.perf_counter()
        seen = sum(1 for _ in estimator.predict(input_fn))
        return seen / (time.perf_counter() - start)


BENCHMARK = Benchmark(
    "predict_rows",
    "predict: 100,000 rows of a linear model, one by one",
    "rows/s",
    both(_examples_per_second),
    goals={ORIGINAL: 3.0},
)
