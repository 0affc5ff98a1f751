"""From `import tensorflow` to the first step of a small Keras model."""

import tempfile
import time

from benchmarks.apis import Apis, compare_apis
from benchmarks.benchmark import ORIGINAL, Benchmark
from benchmarks.meters import make_step_clock
from benchmarks.picture_job import MLP


def _measure_milliseconds(apis: Apis, quick: bool) -> float:
    """Returns the time from the end of `import tensorflow` to the end of the first step."""
    import tensorflow  # noqa: F401

    data = MLP.pictures(512)
    # The time includes loading tf.estimator and Keras, which TensorFlow does at their first use.
    start = time.perf_counter()
    hook = make_step_clock()
    with tempfile.TemporaryDirectory() as model_dir:
        estimator = MLP.estimator(apis, model_dir)
        estimator.train(lambda: MLP.training_input(*data), hooks=[hook], steps=1)
    return 1e3 * (hook.first - start)


BENCHMARK = Benchmark(
    "keras_start",
    "start: from `import tensorflow` to the first step, MLP by model_to_estimator",
    "ms",
    compare_apis(_measure_milliseconds),
    less_is_better=True,
    goals={ORIGINAL: 1.1},
)
