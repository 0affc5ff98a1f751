"""Training time lost to one save of 400 MB of variables."""

import tempfile
import time
from statistics import median
from typing import Any

from benchmarks.apis import Apis, compare_apis
from benchmarks.benchmark import ORIGINAL, Benchmark
from benchmarks.linear_model import linear_model_fn, repeat_one_batch

_WINDOW = 20_000
_WINDOWS = 9
_VARIABLES = 8


def _measure_lost_time(apis: Apis, quick: bool) -> float:
    """Returns the milliseconds that a save adds to a window of steps.

    Windows with a save and windows without a save alternate.
    """
    import tensorflow as tf

    api = apis.estimator
    window, side = (20, 8) if quick else (_WINDOW, 3536)

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        for index in range(_VARIABLES):
            tf.compat.v1.get_variable(f"large_{index}", [side, side], trainable=False)
        return linear_model_fn(api)(features, labels, mode)

    clock = _make_clock(window)
    with tempfile.TemporaryDirectory() as model_dir:
        config = api.RunConfig(
            model_dir, save_checkpoints_steps=2 * window, log_step_count_steps=window // 2
        )
        estimator = api.Estimator(model_fn, config=config)
        estimator.train(repeat_one_batch, [clock], steps=window * _WINDOWS + 1)
    spans = [b - a for a, b in zip(clock.marks, clock.marks[1:], strict=False)]
    return 1e3 * max(1e-6, median(spans[1::2]) - median(spans[2::2]))


def _make_clock(window: int) -> Any:
    """Returns a hook that records the time in the middle of each window of steps."""
    import tensorflow as tf

    class Clock(tf.compat.v1.train.SessionRunHook):
        def begin(self) -> None:
            self.marks: list[float] = []
            self._seen = 0

        def steps_until_due(self, global_step: int) -> int:
            return self._due() - self._seen

        def after_loop(self, steps: int, loss: float) -> None:
            self._seen += steps

        def after_run(self, run_context: Any, run_values: Any) -> None:
            self._seen += 1
            if self._seen % window == window // 2:
                self.marks.append(time.perf_counter())

        def _due(self) -> int:
            past = (self._seen - window // 2) // window
            return (past + 1) * window + window // 2

    return Clock()


BENCHMARK = Benchmark(
    "saving",
    "save: training time lost to one checkpoint of 400 MB",
    "ms",
    compare_apis(_measure_lost_time),
    less_is_better=True,
    goals={ORIGINAL: 10.0},
)
