"""Synchronous workers, one of which is slow on purpose: launcher and report name it."""

from __future__ import annotations

import re
from pathlib import Path

import forked
import pytest
import tiers
from launched import launched

from estimator_train.engine.run.history import read_straggler

PROGRAM = """
import sys, time
import tensorflow as tf
sys.path.insert(0, sys.argv[1])
import estimator_train as est
import linear_job

def wait(values):
    time.sleep(0.1)  # Longer than a busy machine keeps the other worker from its part.
    return values

def slow_down(features):
    is_slow = est.RunConfig().task_type == sys.argv[3]
    return tf.numpy_function(wait, [features], features.dtype) if is_slow else features

def model_fn(features, labels, mode):
    shape = features.shape
    if sys.argv[4] == "model":
        features = tf.ensure_shape(slow_down(features), shape)
    return linear_job.model_fn(features, labels, mode)

def input_fn():
    data = linear_job.input_fn()
    shape = data.element_spec[0].shape
    if sys.argv[4] == "input":
        data = data.map(lambda x, y: (tf.ensure_shape(slow_down(x), shape), y))
    return data

strategy = tf.distribute.MultiWorkerMirroredStrategy()
config = est.RunConfig(sys.argv[2], train_distribute=strategy, steps_per_loop=3)
est.Estimator(model_fn, config=config).train(input_fn, max_steps=60)
"""


@pytest.mark.parametrize(
    ("slow", "part"), tiers.every(2, [("worker", "model"), ("chief", "input")])
)
def test_the_slow_worker_is_named_with_its_time(tmp_path: Path, slow: str, part: str) -> None:
    here, model_dir = str(Path(__file__).parent), str(tmp_path / "run")
    program = forked.python("-c", PROGRAM, here, model_dir, slow, part)
    done = launched(["--workers=1", "--max_restarts=0"], program)
    assert done.code == 0, done.text[-3000:]
    sentence = re.compile(rf"{slow}(:0)? is a straggler: ([\d.]+) ms for its part of a step, .*")
    named = [found for line in done.lines("launch") if (found := sentence.match(line))]
    assert len(named) == 1, done.lines("launch")
    # Batches are prepared while the step before runs: part of the wait for them is hidden.
    assert float(named[0][2]) >= (100 if part == "model" else 25)
    assert sentence.match(read_straggler(model_dir))
