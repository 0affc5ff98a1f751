"""Time from the start of a process to the first training step, without importing TensorFlow."""

import tempfile
import time

from benchmarks.apis import Apis, compare_apis
from benchmarks.benchmark import ORIGINAL, Benchmark
from benchmarks.linear_model import train_linear
from benchmarks.meters import make_step_clock


def _measure_start(apis: Apis, quick: bool) -> float:
    """Returns the milliseconds from the end of `import tensorflow` to the end of the first step."""
    import tensorflow  # noqa: F401

    # The time includes loading tf.estimator and Keras, which TensorFlow does at their first use.
    start = time.perf_counter()
    clock = make_step_clock()
    with tempfile.TemporaryDirectory() as model_dir:
        train_linear(apis.estimator, model_dir, [clock])
    return 1e3 * (clock.first - start)


BENCHMARK = Benchmark(
    "start",
    "start: from `import tensorflow` to the first step, linear model",
    "ms",
    compare_apis(_measure_start),
    less_is_better=True,
    goals={ORIGINAL: 1.0},
)
