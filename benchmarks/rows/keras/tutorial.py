"""TensorFlow's tutorial at full size: 60,000 pictures (188 MB of float32), ConvNet, batch 128."""

import os
import tempfile
import time
from typing import Any

from benchmarks.apis import Apis, compare_apis
from benchmarks.benchmark import ORIGINAL, Benchmark
from benchmarks.meters import make_step_clock, read_peak_memory
from benchmarks.picture_job import CONVNET

_HELD_OUT = 10_000


class _Tutorial:
    """The job of the tutorial.

    Args:
      apis: The API that runs the job.
      quick: Whether to use only a few pictures.
      model_dir: Directory of the job.
    """

    def __init__(self, apis: Apis, quick: bool, model_dir: str) -> None:
        self._x, self._y = CONVNET.pictures(600 if quick else 60_000)
        self._held_out = 256 if quick else _HELD_OUT
        self._steps = 2 if quick else 100
        # This writes a checkpoint at the start and one at the end.
        self.estimator = CONVNET.estimator(apis, model_dir, save_checkpoints_steps=self._steps)

    def train(self) -> float:
        """Trains, and returns the seconds from the call to the end of the first step."""
        hook = make_step_clock()
        start = time.perf_counter()
        self.estimator.train(
            lambda: CONVNET.training_input(self._x, self._y), hooks=[hook], steps=self._steps
        )
        return hook.first - start

    def evaluate(self) -> float:
        """Evaluates the held-out pictures, and returns the seconds."""
        start = time.perf_counter()
        self.estimator.evaluate(self._read_held_out)
        return time.perf_counter() - start

    def predict(self) -> float:
        """Predicts the held-out pictures, and returns the seconds."""
        start = time.perf_counter()
        assert sum(1 for _ in self.estimator.predict(self._read_held_out)) == self._held_out
        return time.perf_counter() - start

    def _read_held_out(self) -> Any:
        import tensorflow as tf

        rows = self._x[: self._held_out], self._y[: self._held_out]
        return tf.data.Dataset.from_tensor_slices(rows).batch(CONVNET.batch)


def _measure(apis: Apis, quick: bool) -> dict[str, float]:
    """Trains, evaluates twice and predicts twice, and returns the figures of all rows."""
    with tempfile.TemporaryDirectory() as model_dir:
        job = _Tutorial(apis, quick, model_dir)
        first_step = job.train()
        paths = [f"{where}/{name}" for where, _, names in os.walk(model_dir) for name in names]
        size = sum(map(os.path.getsize, paths)) / 1e6
        _, evaluation = job.evaluate(), job.evaluate()
        _, prediction = job.predict(), job.predict()
    return {
        "tutorial_start": first_step,
        "tutorial_evaluate": evaluation,
        "tutorial_predict": prediction,
        "tutorial_size": size,
        "tutorial_memory": read_peak_memory(),  # Including the pictures.
    }


def _benchmark(name: str, description: str, unit: str, goal: float) -> Benchmark:
    return Benchmark(
        f"tutorial_{name}",
        f"the tutorial with 188 MB of pictures: {description}",
        unit,
        compare_apis(_measure),
        less_is_better=True,
        goals={ORIGINAL: goal},
        job="tutorial",
    )


BENCHMARKS = (
    _benchmark("start", "from the call of train to its first step", "s", 15.0),
    _benchmark("evaluate", "evaluate of 10,000, second call", "s", 2.0),
    _benchmark("predict", "predict of 10,000, second call", "s", 2.0),
    _benchmark("size", "model_dir after 100 steps and two checkpoints", "MB", 200.0),
    _benchmark("memory", "memory at its peak: train, evaluate and predict", "MB", 2.5),
)
