"""Fixtures that run commands in the process of the test, which has already loaded TensorFlow."""

import contextlib
import dataclasses
import io
import logging
import os
import shutil
import sys

import pytest
import tensorflow as tf

from estimator_train.cli.main import main


@dataclasses.dataclass
class Outcome:
    code: int
    out: str
    err: str

    @property
    def rows(self):
        """Returns the results: each line has a name and a value."""
        return dict(line.split(maxsplit=1) for line in self.out.splitlines())


@pytest.fixture
def command(tmp_path, monkeypatch):
    """Returns a function that runs `estimator-train` with arguments in an empty directory."""
    monkeypatch.chdir(tmp_path)
    # It keeps writers by path, and `run` is another directory now.
    tf.compat.v1.summary.FileWriterCache.clear()
    monkeypatch.setattr(sys, "path", [*sys.path])
    for name in [name for name in sys.modules if name.split(".")[0] == "flags"]:
        monkeypatch.delitem(sys.modules, name)  # Other tests import ours.
    loggers = [logging.getLogger(name) for name in (None, "tensorflow")]
    before = [(logger, logger.level, logger.handlers[:]) for logger in loggers]
    environment, modules = dict(os.environ), set(sys.modules)

    def run(*arguments):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(arguments)
        return Outcome(code, out.getvalue(), err.getvalue())

    yield run
    logging.captureWarnings(False)
    for logger, level, handlers in before:
        logger.setLevel(level)
        logger.handlers[:] = handlers
    # Not all: C++ threads that read a variable meanwhile would crash.
    for name in os.environ.keys() - environment.keys():
        del os.environ[name]
    for name, value in environment.items():
        if os.environ.get(name) != value:
            os.environ[name] = value
    for name in set(sys.modules) - modules:
        if os.path.dirname(getattr(sys.modules[name], "__file__", None) or "") == str(tmp_path):
            del sys.modules[name]


LINEAR = """
import numpy as np
import tensorflow as tf
import estimator_train as est
import flags  # the project's own, not the package of estimator-train

tf1 = tf.compat.v1


def model(features, labels, mode, params):
    weights = tf1.get_variable("w", [4, flags.CLASSES], initializer=tf1.zeros_initializer())
    logits = tf.matmul(features, weights)
    predictions = {"probabilities": tf.nn.softmax(logits), "label": tf.argmax(logits, 1)}
    if mode == est.ModeKeys.PREDICT:
        return est.EstimatorSpec(
            mode,
            predictions=predictions,
            export_outputs={"serving_default": est.export.PredictOutput(predictions)},
        )
    loss = tf1.losses.sparse_softmax_cross_entropy(labels, logits)
    optimizer = tf1.train.GradientDescentOptimizer(params["learning_rate"])
    return est.EstimatorSpec(
        mode,
        loss=loss,
        train_op=optimizer.minimize(loss, tf1.train.get_global_step()),
        eval_metric_ops={"accuracy": tf1.metrics.accuracy(labels, predictions["label"])},
    )


def data(mode, batch_size, num_epochs):
    features = np.eye(4, dtype="float32")[np.arange(64) % 4]
    dataset = tf.data.Dataset.from_tensor_slices((features, np.arange(64) % 2))
    return dataset.repeat(num_epochs).batch(batch_size)
"""


@pytest.fixture(scope="module")
def train_once(tmp_path_factory):
    """Returns a function that trains in the directory `run`, which later tests of the file copy."""
    kept = tmp_path_factory.mktemp("trained") / "run"

    def train(command, *job):
        if kept.exists():
            shutil.copytree(kept, "run")
            return
        outcome = command("train", *job)
        assert outcome.code == 0, outcome.err
        shutil.copytree("run", kept)

    return train


@pytest.fixture
def linear(tmp_path):
    """Returns flags to train a user's model_fn, whose code has a module `flags`."""
    (tmp_path / "linear.py").write_text(LINEAR)
    (tmp_path / "flags.py").write_text("CLASSES = 2\n")
    return [
        "--model=linear:model",
        "--input_fn=linear:data",
        "--model_dir=run",
        "--learning_rate=1",
        "--batch_size=8",
    ]
