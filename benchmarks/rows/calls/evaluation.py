"""The fixed cost of an evaluation and its checkpoint inside train_and_evaluate."""

import tempfile
import time
from statistics import median
from typing import Any

from benchmarks.apis import Apis, compare_apis
from benchmarks.benchmark import ORIGINAL, Benchmark
from benchmarks.rows.training.convnet import MODEL

_EVERY = 10


def _measure_fixed_cost(apis: Apis, quick: bool) -> float:
    """Returns the milliseconds that an evaluation of one batch adds between two steps."""
    api, keras = apis.estimator, apis.keras
    evaluations = 3 if quick else 12
    clock = _make_clock()
    with tempfile.TemporaryDirectory() as model_dir:
        config = api.RunConfig(model_dir, save_checkpoints_steps=_EVERY, keep_checkpoint_max=2)
        estimator = keras.estimator.model_to_estimator(MODEL.keras_model(keras), config=config)
        api.train_and_evaluate(
            estimator,
            api.TrainSpec(MODEL.dataset, _EVERY * evaluations + 2, hooks=[clock]),
            api.EvalSpec(lambda: MODEL.dataset().take(1), steps=1, throttle_secs=0),
        )
    spans = [b - a for a, b in zip(clock.marks, clock.marks[1:], strict=False)]
    # Each of these ranges contains one evaluation. The first evaluation is skipped, because it
    # builds the graph in both APIs.
    starts = range(_EVERY + _EVERY // 2, len(spans), _EVERY)
    return 1e3 * (median(max(spans[i : i + _EVERY]) for i in starts) - median(spans))


def _make_clock() -> Any:
    import tensorflow as tf

    class Clock(tf.compat.v1.train.SessionRunHook):
        """Hook that records the time before each step."""

        def __init__(self) -> None:
            self.marks: list[float] = []

        def before_run(self, run_context: tf.compat.v1.train.SessionRunContext) -> None:
            self.marks.append(time.perf_counter())

    return Clock()


BENCHMARK = Benchmark(
    "evaluation",
    "evaluate: fixed cost of an evaluation and its checkpoint in train_and_evaluate, ConvNet",
    "ms",
    compare_apis(_measure_fixed_cost),
    less_is_better=True,
    goals={ORIGINAL: 5.0},
)
