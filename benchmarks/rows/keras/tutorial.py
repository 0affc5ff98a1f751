"""The tutorial at its real size: 60,000 pictures as 188 MB of float32, ConvNet, batch 128."""

import os
import resource
import tempfile
import time
from collections.abc import Callable
from typing import Any

from benchmarks.apis import Apis, both
from benchmarks.benchmark import ORIGINAL, Benchmark
from benchmarks.picture_job import CONVNET, clock

_HELD_OUT = 10_000


class _Tutorial:
    """The job in one model_dir.

    Args:
      apis: The API that runs it.
      quick: Whether a few pictures will do.
      **settings: Of its RunConfig.
    """

    def __init__(self, apis: Apis, quick: bool, **settings: Any) -> None:
        self._x, self._y = CONVNET.pictures(600 if quick else 60_000)
        self._held_out = 256 if quick else _HELD_OUT
        self._directory = tempfile.TemporaryDirectory()
        self.model_dir = self._directory.name
        self.estimator = CONVNET.estimator(apis, self.model_dir, **settings)

    def __enter__(self) -> "_Tutorial":
        return self

    def __exit__(self, *_: object) -> None:
        self._directory.cleanup()

    def train(self, steps: int) -> float:
        """Trains; returns the seconds from the call to its first step."""
        hook = clock()
        start = time.perf_counter()
        self.estimator.train(
            lambda: CONVNET.training_input(self._x, self._y), hooks=[hook], steps=steps
        )
        return hook.first - start

    def evaluate(self) -> float:
        """Evaluates the held-out pictures; returns seconds."""
        start = time.perf_counter()
        self.estimator.evaluate(self._in_order)
        return time.perf_counter() - start

    def predict(self) -> float:
        """Predicts the held-out pictures; returns seconds."""
        start = time.perf_counter()
        assert sum(1 for _ in self.estimator.predict(self._in_order)) == self._held_out
        return time.perf_counter() - start

    def _in_order(self) -> Any:
        import tensorflow as tf

        some = self._x[: self._held_out], self._y[: self._held_out]
        return tf.data.Dataset.from_tensor_slices(some).batch(CONVNET.batch)


def _first_step(apis: Apis, quick: bool) -> float:
    with _Tutorial(apis, quick) as job:
        return job.train(1)


def _second_evaluation(apis: Apis, quick: bool) -> float:
    with _Tutorial(apis, quick) as job:
        job.train(1)
        job.evaluate()
        return job.evaluate()


def _second_prediction(apis: Apis, quick: bool) -> float:
    with _Tutorial(apis, quick) as job:
        job.train(1)
        job.predict()
        return job.predict()


def _size(apis: Apis, quick: bool) -> float:
    """Megabytes after 100 steps, with a checkpoint at the start and one at the end."""
    with _Tutorial(apis, quick, save_checkpoints_steps=100) as job:
        job.train(2 if quick else 100)
        paths = [f"{where}/{name}" for where, _, names in os.walk(job.model_dir) for name in names]
        return sum(map(os.path.getsize, paths)) / 1e6


def _peak(apis: Apis, quick: bool) -> float:
    """Megabytes of the process at its largest, with its own pictures."""
    with _Tutorial(apis, quick) as job:
        job.train(2 if quick else 100)
        for _ in range(2):
            job.evaluate()
            job.predict()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _benchmark(
    name: str, what: str, unit: str, measure: Callable[[Apis, bool], float], goal: float
) -> Benchmark:
    return Benchmark(
        f"tutorial_{name}",
        f"the tutorial with 188 MB of pictures: {what}",
        unit,
        both(measure),
        less_is_better=True,
        goals={ORIGINAL: goal},
    )


BENCHMARKS = (
    _benchmark("start", "from the call of train to its first step", "s", _first_step, 15.0),
    _benchmark("evaluate", "evaluate of 10,000, second call", "s", _second_evaluation, 2.0),
    _benchmark("predict", "predict of 10,000, second call", "s", _second_prediction, 2.0),
    _benchmark("size", "model_dir after 100 steps and two checkpoints", "MB", _size, 200.0),
    _benchmark("memory", "memory at its peak: train, evaluate and predict", "MB", _peak, 2.5),
)
