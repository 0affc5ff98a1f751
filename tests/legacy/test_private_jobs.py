"""Private classes of tf.estimator's jobs, which libraries subclass; the original answers so too."""

import json
import os

import pytest
import tensorflow as tf

import estimator_train as est
from estimator_train.legacy.private import jobs

tf1 = tf.compat.v1


def model_fn(features, labels, mode):
    loss = tf1.get_variable("weight", []) ** 2
    optimizer = tf1.train.GradientDescentOptimizer(0.1)
    train_op = optimizer.minimize(loss, tf1.train.get_global_step())
    return est.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    return tf.data.Dataset.from_tensors(0.0).repeat()


class Listener(jobs._ContinuousEvalListener):
    def __init__(self, before, after):
        self.answers, self.calls = (before, after), []

    def before_eval(self):
        self.calls.append("before")
        return self.answers[0]

    def after_eval(self, eval_result):
        path = os.path.basename(eval_result.checkpoint_path)
        self.calls.append((eval_result.status, sorted(eval_result.metrics), path))
        return self.answers[1]


AFTER = ("evaluated", ["global_step", "loss"], "model.ckpt-10")


@pytest.mark.parametrize(
    ("before", "after", "calls"), [(False, True, ["before"]), (True, False, ["before", AFTER])]
)
def test_a_listener_stops_an_evaluator(tmp_path, monkeypatch, before, after, calls):
    est.Estimator(model_fn, str(tmp_path)).train(input_fn, steps=10)
    place = {"cluster": {"chief": ["localhost:1"]}, "task": {"type": "evaluator", "index": 0}}
    monkeypatch.setenv("TF_CONFIG", json.dumps(place))
    estimator, listener = est.Estimator(model_fn, str(tmp_path)), Listener(before, after)
    executor = jobs._TrainingExecutor(
        estimator,
        est.TrainSpec(input_fn, max_steps=100),
        est.EvalSpec(input_fn, steps=1, start_delay_secs=0, throttle_secs=0),
        continuous_eval_listener=listener,
    )
    assert executor.run_evaluator() is None
    assert listener.calls == calls
    assert estimator.evaluate.__func__ is est.Estimator.evaluate


def test_an_evaluate_method_of_the_instance_is_kept(tmp_path):
    estimator = est.Estimator(model_fn, str(tmp_path))
    original, calls = estimator.evaluate, []

    def evaluate(*arguments, **named):
        calls.append(named["steps"])
        return original(*arguments, **named)

    estimator.evaluate = evaluate
    specs = est.TrainSpec(input_fn, max_steps=2), est.EvalSpec(input_fn, steps=1)
    for listener in (None, Listener(True, True)):
        jobs._TrainingExecutor(estimator, *specs, continuous_eval_listener=listener).run()
        assert estimator.evaluate is evaluate
    assert set(calls) == {1}
