"""Time from the start of a process to the first training step, without importing TensorFlow."""

from benchmarks.apis import Apis, compare_apis
from benchmarks.benchmark import ORIGINAL, Benchmark
from benchmarks.linear_model import train_linear
from benchmarks.meters import measure_start


def _measure_start(apis: Apis, quick: bool) -> float:
    return measure_start(lambda path, hook: train_linear(apis.estimator, path, [hook]))


BENCHMARK = Benchmark(
    "start",
    "start: from `import tensorflow` to the first step, linear model",
    "ms",
    compare_apis(_measure_start),
    less_is_better=True,
    goals={ORIGINAL: 1.0},
)
