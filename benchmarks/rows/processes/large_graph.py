"""A model of many variables: first step, five steps, restart and evaluation."""

import tempfile
import time
from types import ModuleType
from typing import Any

from benchmarks.apis import Apis, compare_apis
from benchmarks.benchmark import ORIGINAL, Benchmark
from benchmarks.meters import make_step_clock

_LAYERS, _QUICK_LAYERS, _UNITS = 300, 10, 32
_STEPS, _BATCH, _ROWS = 5, 8, 64


def _make_estimator(api: ModuleType, model_dir: str, layers: int) -> Any:
    """Returns an estimator with a kernel and a bias for each layer, and two slots for each."""
    import tensorflow as tf

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        v1 = tf.compat.v1
        output = features
        for number in range(layers):
            with v1.variable_scope(f"layer_{number}"):
                kernel = v1.get_variable("kernel", (_UNITS, _UNITS))
                bias = v1.get_variable("bias", (_UNITS,), initializer=v1.zeros_initializer())
                output = tf.nn.relu(output @ kernel + bias)
        loss = tf.reduce_mean(tf.square(output - labels))
        train_op = None
        if mode == "train":
            train_op = v1.train.AdamOptimizer().minimize(loss, v1.train.get_global_step())
        return api.EstimatorSpec(mode, loss=loss, train_op=train_op)

    return api.Estimator(model_fn, model_dir, config=api.RunConfig(tf_random_seed=1))


def _make_input() -> Any:
    import numpy as np
    import tensorflow as tf

    rows = np.ones((_ROWS, _UNITS), np.float32)
    return tf.data.Dataset.from_tensor_slices((rows, rows)).repeat().batch(_BATCH)


def _measure(apis: Apis, quick: bool) -> dict[str, float]:
    """Trains, trains again from the checkpoint, and evaluates; returns seconds by row."""
    layers = _QUICK_LAYERS if quick else _LAYERS
    with tempfile.TemporaryDirectory() as model_dir:

        def train() -> tuple[float, float]:
            """Returns the seconds from the call of `train` to its first step and to its end."""
            clock = make_step_clock()
            estimator = _make_estimator(apis.estimator, model_dir, layers)
            start = time.perf_counter()
            estimator.train(_make_input, hooks=[clock], steps=_STEPS)
            return clock.first - start, time.perf_counter() - start

        first_step, end = train()
        restart, _ = train()
        estimator = _make_estimator(apis.estimator, model_dir, layers)
        start = time.perf_counter()
        estimator.evaluate(_make_input, steps=_STEPS)
        evaluation = time.perf_counter() - start
    return {
        "large_graph_start": first_step,
        "large_graph_train": end,
        "large_graph_restart": restart,
        "large_graph_evaluate": evaluation,
    }


def _benchmark(name: str, description: str, goal: float) -> Benchmark:
    return Benchmark(
        name,
        f"{_LAYERS} dense layers, Adam, 1,800 variables with slots: {description}",
        "s",
        compare_apis(_measure),
        less_is_better=True,
        goals={ORIGINAL: goal},
        job="large_graph",
    )


BENCHMARKS = (
    _benchmark("large_graph_start", "from the call of train to its first step", 2.5),
    _benchmark("large_graph_train", f"train of {_STEPS} steps", 1.0),
    _benchmark("large_graph_restart", "from the call of train to its first step, restart", 5.0),
    _benchmark("large_graph_evaluate", f"evaluate of {_STEPS} batches", 4.0),
)
