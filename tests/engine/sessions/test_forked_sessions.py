"""Forked processes: they raise an error where a session would wait for ever.

These tests cover `engine/tf_internals/sessions.py`.
"""

import ast
import sys
from pathlib import Path
from typing import Any

import pytest
from processes import run_process

_PROGRAM = """
import os, signal, sys
import numpy as np
import tensorflow as tf
import estimator_train as est

def model_fn(features, labels, mode):
    w = tf.compat.v1.get_variable("w", [], initializer=tf.compat.v1.ones_initializer())
    outputs = {"y": features["x"] * w}
    loss = tf.reduce_mean((outputs["y"] - 2.0) ** 2)
    step = tf.compat.v1.train.get_global_step()
    train_op = tf.compat.v1.train.GradientDescentOptimizer(0.1).minimize(loss, step)
    exported = {"serving_default": est.export.PredictOutput(outputs)}
    return est.EstimatorSpec(mode, outputs, loss, train_op, export_outputs=exported)

def input_fn():
    return tf.data.Dataset.from_tensors({"x": np.float32([1, 2])})

model_dir, threads, *names = sys.argv[1:]
config = tf.compat.v1.ConfigProto(use_per_session_threads=threads == "own")
estimator = est.Estimator(model_fn, model_dir, config=est.RunConfig(session_config=config))
receiver_fn = est.export.build_raw_serving_input_receiver_fn({"x": np.float32([1])})
cold = estimator.predictor()
export = lambda: estimator.export_saved_model(model_dir + "/export", receiver_fn)
calls = {
    "train": lambda: estimator.train(input_fn),
    "evaluate": lambda: estimator.evaluate(input_fn)["loss"].item(),
    "predict": lambda: [row["y"].item() for row in estimator.predict(input_fn)],
    "export": lambda: os.path.isdir(export()),
    "new": lambda: estimator.predictor().predict({"x": [3.0]})["y"].item(),
    "cold": lambda: cold.predict({"x": [3.0]})["y"].item(),
}

def call_in_forks(name):
    sys.stdout.flush()
    if process := os.fork():
        assert os.waitpid(process, 0)[1] == 0, name
        return
    signal.alarm(100)
    try:
        answer = calls[name]()
    except RuntimeError as error:
        answer = type(error).__name__ + ": " + str(error)
    print(repr((name, answer)), flush=True)
    os._exit(0)
"""
_BEFORE = """
call_in_forks("new")
call_in_forks("cold")
"""
_AFTER = """
with tf.Graph().as_default():
    estimator.train(input_fn)
estimator.evaluate(input_fn)
list(estimator.predict(input_fn))
live = estimator.predictor()
saved = est.predictor.from_saved_model(export())
calls["live"] = lambda: live.predict({"x": [3.0]})
calls["saved"] = lambda: saved.predict({"x": [3.0]})
calls["close"] = lambda: saved.close()
live.predict({"x": [3.0]})
for name in names:
    call_in_forks(name)
print(repr(("parent", saved.predict({"x": [0.0]})["y"].item())))
"""


def _run(program: str, model_dir: Path, threads: str, *names: str) -> dict[str, Any]:
    command = [sys.executable, "-c", _PROGRAM + program, model_dir, threads, *names]
    output = run_process(command).stdout
    return dict(ast.literal_eval(line) for line in output.splitlines())


def test_a_predictor_may_open_after_the_fork(tmp_path: Path) -> None:
    assert _run(_BEFORE, tmp_path, "shared") == {"new": 3.0, "cold": 3.0}


def test_a_session_after_that_of_the_parent_is_an_error(tmp_path: Path) -> None:
    names = ["train", "evaluate", "predict", "export", "new", "live", "saved"]
    found = _run(_AFTER, tmp_path, "shared", *names, "close")
    assert found.pop("parent") == 0.0
    assert found.pop("close") is None
    assert sorted(found) == sorted(names)
    for name, answer in found.items():
        assert answer.startswith("ForkedSessionError: Process "), name
        assert "without --preload" in answer, name


@pytest.mark.long
def test_sessions_with_threads_of_their_own_compute_after_a_fork(tmp_path: Path) -> None:
    found = _run(_AFTER, tmp_path, "own", "predict", "export", "new", "live")
    assert found["live"].startswith("ForkedSessionError: Process ")
    assert found["export"] is True
    assert found["predict"] == pytest.approx([found["new"] / 3, found["new"] / 1.5])
