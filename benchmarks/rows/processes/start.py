"""Time from the start of a process to the first training step, without importing TensorFlow."""

import tempfile
import time
from typing import Any

from benchmarks.apis import Apis, compare_apis
from benchmarks.benchmark import ORIGINAL, Benchmark
from benchmarks.linear_model import FEATURES, linear_model_fn


def _measure_start(apis: Apis, quick: bool) -> float:
    """Returns the milliseconds from the end of `import tensorflow` to the end of the first step."""
    del quick
    import numpy as np
    import tensorflow as tf

    # The time includes loading tf.estimator and Keras, which TensorFlow does at their first use.
    start = time.perf_counter()
    api = apis.estimator

    def input_fn() -> Any:
        x = np.zeros([32, FEATURES], np.float32)
        return tf.data.Dataset.from_tensors(({"x": x}, np.zeros([32], np.int64))).repeat()

    marks: list[float] = []

    class Clock(tf.compat.v1.train.SessionRunHook):
        def after_run(self, run_context: Any, run_values: Any) -> None:
            marks.append(time.perf_counter())

    with tempfile.TemporaryDirectory() as model_dir:
        estimator = api.Estimator(linear_model_fn(api), model_dir)
        estimator.train(input_fn, [Clock()], steps=1)
    return 1e3 * (marks[0] - start)


BENCHMARK = Benchmark(
    "start",
    "start: from `import tensorflow` to the first step, linear model",
    "ms",
    compare_apis(_measure_start),
    less_is_better=True,
    goals={ORIGINAL: 1.0},
)
