"""Inputs of an open model that TensorFlow cannot serialize."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from processes import run_process

SCRIPT = """
import sys
import estimator_train as est
import tensorflow as tf

def add_random(number):
    return tf.random.uniform([]), 1.0

def generate():
    yield from [(0.5, 1.0)] * 8

INPUTS = {
    "random": lambda: tf.data.Dataset.range(8).map(add_random).batch(4),
    "generator": lambda: tf.data.Dataset.from_generator(
        generate, (tf.float32, tf.float32), ((), ())
    ).batch(4),
    "constant": lambda: tf.data.Dataset.range(8).map(lambda n: (tf.cast(n, tf.float32), 1.0)),
}

def model_fn(features, labels, mode):
    w = tf.compat.v1.get_variable("w", [], initializer=tf.zeros_initializer())
    loss = tf.reduce_mean(tf.square(features * w - labels))
    optimizer = tf.compat.v1.train.GradientDescentOptimizer(0.0)
    step = optimizer.minimize(loss, tf.compat.v1.train.get_global_step())
    return est.EstimatorSpec(mode, loss=loss, train_op=step)

job = est.Estimator(model_fn, sys.argv[1])
for _ in range(4):
    job.train(INPUTS[sys.argv[2]], steps=1)
    print(job.evaluate(INPUTS[sys.argv[2]])["loss"])
"""


@pytest.mark.parametrize("kind", ["random", "generator", "constant"])
def test_the_log_has_no_failure_of_an_input_that_is_replaced(tmp_path: Path, kind: str) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    command = [sys.executable, script, tmp_path / "model", kind]
    done = run_process(command, TF_CPP_MIN_LOG_LEVEL="0")
    assert done.stdout.split() == ["1.0"] * 4
    assert "Failed to serialize" not in done.stderr
