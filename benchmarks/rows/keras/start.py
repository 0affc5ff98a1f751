"""From `import tensorflow` to the first step of a small Keras model."""

import tempfile
import time

from benchmarks.apis import Apis, both
from benchmarks.benchmark import ORIGINAL, Benchmark
from benchmarks.picture_job import MLP, clock


def _milliseconds(apis: Apis, quick: bool) -> float:
    """From after `import tensorflow` to the end of the first step."""
    del quick
    import tensorflow  # noqa: F401

    data = MLP.pictures(512)
    # tf.estimator is loaded with its Keras as soon as a name of it is used.
    start = time.perf_counter()
    hook = clock()
    with tempfile.TemporaryDirectory() as model_dir:
        estimator = MLP.estimator(apis, model_dir)
        estimator.train(lambda: MLP.training_input(*data), hooks=[hook], steps=1)
    return 1e3 * (hook.first - start)


BENCHMARK = Benchmark(
    "keras_start",
    "start: from `import tensorflow` to the first step, MLP by model_to_estimator",
    "ms",
    both(_milliseconds),
    less_is_better=True,
    goals={ORIGINAL: 2.0},
)
