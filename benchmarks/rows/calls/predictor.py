"""Predictions of one example by a predictor that stays open."""

import tempfile
from functools import partial

from benchmarks.apis import APIS
from benchmarks.benchmark import ORIGINAL, OURS, Benchmark
from benchmarks.linear_model import FEATURES, linear_model_fn, make_rows, train_linear
from benchmarks.meters import measure_milliseconds
from benchmarks.rows.calls.predict_one import measure_call

_BARE = "bare session.run"


def _time_predictor(quick: bool) -> float:
    with tempfile.TemporaryDirectory() as model_dir:
        batch = {"x": make_rows(1)}
        with train_linear(APIS[OURS].estimator, model_dir).predictor() as predictor:
            return measure_milliseconds(lambda: predictor.predict(batch), 10 if quick else 5000)


def _time_session_run(quick: bool) -> float:
    """Measures the same graph in a plain session."""
    import tensorflow as tf

    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.compat.v1.placeholder(tf.float32, [None, FEATURES])
        api = APIS[OURS].estimator
        spec = linear_model_fn(api)({"x": x}, None, api.ModeKeys.PREDICT)
        session.run(tf.compat.v1.global_variables_initializer())
        batch = make_rows(1)
        return measure_milliseconds(
            lambda: session.run(spec.predictions, {x: batch}), 10 if quick else 5000
        )


BENCHMARK = Benchmark(
    "predictor",
    "predictor: one example, linear model",
    "ms",
    {
        OURS: _time_predictor,
        _BARE: _time_session_run,
        ORIGINAL: partial(measure_call, APIS[ORIGINAL]),
    },
    less_is_better=True,
    goals={_BARE: 0.8, ORIGINAL: 200.0},
)
