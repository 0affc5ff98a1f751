"""One example through a predictor that stays."""

import tempfile
import time
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any

from benchmarks.apis import APIS
from benchmarks.benchmark import ORIGINAL, OURS, Benchmark
from benchmarks.linear_model import FEATURES, linear_model_fn, rows, trained
from benchmarks.rows.calls.predict_one import call_time

_BARE = "bare session.run"


def _predictor(quick: bool) -> float:
    with tempfile.TemporaryDirectory() as model_dir:
        batch = {"x": rows(1)}
        with trained(APIS[OURS].estimator, model_dir).predictor() as predictor:
            return _milliseconds(lambda: predictor.predict(batch), quick)


def _session_run(quick: bool) -> float:
    """The same graph, asked by a bare session."""
    import tensorflow as tf

    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.compat.v1.placeholder(tf.float32, [None, FEATURES])
        api = APIS[OURS].estimator
        spec = linear_model_fn(api)({"x": x}, None, api.ModeKeys.PREDICT)
        session.run(tf.compat.v1.global_variables_initializer())
        batch = rows(1)
        return _milliseconds(lambda: session.run(spec.predictions, {x: batch}), quick)


def _milliseconds(call: Callable[[], Any], quick: bool) -> float:
    secs = []
    for _ in range(10 if quick else 5000):
        start = time.perf_counter()
        call()
        secs.append(time.perf_counter() - start)
    return 1e3 * median(secs[len(secs) // 10 :])


BENCHMARK = Benchmark(
    "predictor",
    "predictor: one example, linear model",
    "ms",
    {
        OURS: _predictor,
        _BARE: _session_run,
        ORIGINAL: partial(call_time, APIS[ORIGINAL]),
    },
    less_is_better=True,
    goals={_BARE: 0.8, ORIGINAL: 200.0},
)
