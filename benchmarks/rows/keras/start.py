"""From `import tensorflow` to the first step of a small Keras model."""

from typing import Any

from benchmarks.apis import Apis, compare_apis
from benchmarks.benchmark import ORIGINAL, Benchmark
from benchmarks.meters import measure_start
from benchmarks.picture_job import MLP


def _measure_milliseconds(apis: Apis, quick: bool) -> float:
    data = MLP.pictures(512)

    def train(model_dir: str, hook: Any) -> None:
        estimator = MLP.estimator(apis, model_dir)
        estimator.train(lambda: MLP.training_input(*data), hooks=[hook], steps=1)

    return measure_start(train)


BENCHMARK = Benchmark(
    "keras_start",
    "start: from `import tensorflow` to the first step, MLP by model_to_estimator",
    "ms",
    compare_apis(_measure_milliseconds),
    less_is_better=True,
    goals={ORIGINAL: 1.1},
)
