"""An evaluation to the end of its input in `train_and_evaluate`, with its checkpoint."""

import tempfile
import time
from statistics import median
from typing import Any

from benchmarks.apis import Apis, compare_apis
from benchmarks.benchmark import ORIGINAL, Benchmark
from benchmarks.picture_job import LINEAR

_EXAMPLES, _HELD_OUT, _EVERY = 8192, 1000, 100


def _measure_milliseconds(apis: Apis, quick: bool) -> float:
    """Returns the time between checkpoints: an evaluation and a hundred steps of 0.2 ms."""
    import tensorflow as tf

    class SaveTimes(tf.compat.v1.train.CheckpointSaverListener):
        def __init__(self) -> None:
            self.times: list[float] = []

        def before_save(self, session: tf.compat.v1.Session, global_step_value: int) -> None:
            self.times.append(time.perf_counter())

    api, saves = apis.estimator, SaveTimes()
    x, y = LINEAR.pictures(_EXAMPLES)

    def eval_input() -> Any:
        rows = x[:_HELD_OUT], y[:_HELD_OUT]
        return tf.data.Dataset.from_tensor_slices(rows).batch(LINEAR.batch)

    with tempfile.TemporaryDirectory() as model_dir:
        estimator = LINEAR.estimator(
            apis, model_dir, save_checkpoints_steps=_EVERY, keep_checkpoint_max=2
        )
        steps = _EVERY * (4 if quick else 20)
        train = api.TrainSpec(lambda: LINEAR.training_input(x, y), steps, saving_listeners=[saves])
        evaluation = api.EvalSpec(eval_input, steps=None, throttle_secs=0)
        api.train_and_evaluate(estimator, train, evaluation)
    spans = [b - a for a, b in zip(saves.times, saves.times[1:], strict=False)]
    return 1e3 * median(spans[2:])  # The first evaluation builds the graph in both APIs.


BENCHMARK = Benchmark(
    "keras_evaluation",
    "train_and_evaluate: 100 steps, checkpoint and evaluation to the end, 25 MB in memory",
    "ms",
    compare_apis(_measure_milliseconds),
    less_is_better=True,
    goals={ORIGINAL: 5.0},
)
