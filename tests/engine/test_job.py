"""Copies of Estimators; what makes open models stale; which functions AutoGraph converts.

On replicas it converts the functions that it did in the original, none of ours.
"""

from __future__ import annotations

import copy
import functools
import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import forked
import pytest
import tensorflow as tf
import tf_keras
from launched import ROOT
from outcomes import recorded

import estimator_train as est

FUNCTIONS_ON_THE_WAY = """
import json, traceback
import ask_autograph, ask_heads_replicas
import tensorflow as tf
import estimator_train as est

found = []

@tf.autograph.experimental.do_not_convert
def note_callers():
    stack = traceback.extract_stack()
    converted = [frame.name for frame in stack if "autograph_generated" in frame.filename]
    found.append([converted, [frame.name for frame in stack]])

def loss_fn(labels, logits):
    note_callers()
    return logits

ask_heads_replicas.two_devices()
column = ask_autograph.COLUMN
head = est.BinaryClassHead(loss_fn=loss_fn)
config = ask_autograph.config(est, "mirrored")
est.LinearEstimator(head, [column], config=config).train(ask_autograph.data, steps=1)
print(json.dumps(found))
"""


def answered(*arguments: object) -> Any:
    return forked.printed(*arguments, PYTHONPATH=f"{ROOT}:{ROOT / 'tests' / 'oracle'}")


@pytest.mark.long
def test_autograph_converts_user_functions_as_in_tf_estimator() -> None:
    assert answered(ROOT / "tests" / "oracle" / "ask_autograph.py") == recorded("autograph")


def test_autograph_converts_no_function_of_this_package(
    tmp_path: Path,
) -> None:
    program = tmp_path / "program.py"  # A file, since AutoGraph needs the source.
    program.write_text(FUNCTIONS_ON_THE_WAY)
    for converted, names in answered(program):
        assert {"call_model_fn", "create_estimator_spec", "call_loss_fn"} <= {*names}
        assert converted == ["tf__loss_fn"]


def linear_model_fn(features: Any, labels: Any, mode: str, params: dict[str, float]) -> Any:
    weight = tf.compat.v1.get_variable("weight", [], initializer=tf.ones_initializer())
    loss = tf.reduce_mean(tf.square(features * weight - labels))
    optimizer = tf.compat.v1.train.GradientDescentOptimizer(params["rate"])
    train_op = optimizer.minimize(loss, tf.compat.v1.train.get_global_step())
    return est.EstimatorSpec(mode, loss=loss, train_op=train_op)


def linear_input() -> tf.data.Dataset:
    return tf.data.Dataset.from_tensor_slices(([1.0, 2.0], [3.0, 6.0])).batch(1)


def pickle_and_unpickle(estimator: est.Estimator) -> Any:
    return pickle.loads(pickle.dumps(estimator))


@pytest.mark.parametrize("make", [copy.copy, copy.deepcopy, pickle_and_unpickle])
def test_copies_of_an_estimator_work_as_it_does(
    make: Callable[[est.Estimator], est.Estimator], tmp_path: Path
) -> None:
    estimator = est.Estimator(linear_model_fn, tmp_path, params={"rate": 0.1})
    copies = [make(estimator)]
    estimator.train(linear_input, steps=2)
    expected = estimator.evaluate(linear_input)
    copies.append(make(estimator))  # Now with a model that is open.
    for copied in copies:
        assert copied.evaluate(linear_input) == expected
        assert copied.params == {"rate": 0.1}
    copied.train(linear_input, steps=1)
    assert estimator.evaluate(linear_input)["global_step"] == 3


def cloudpickle_and_unpickle(estimator: est.Estimator) -> Any:
    import cloudpickle

    return pickle.loads(cloudpickle.dumps(estimator))


def make_keras_model() -> tf_keras.Model:
    return tf_keras.Sequential([tf_keras.layers.Dense(1, input_shape=(1,))])


_keras = tf_keras.optimizers
OPTIMIZERS: dict[str, Callable[[], Any]] = {
    "optimizer by name": lambda: "Adam",
    "optimizer": lambda: _keras.legacy.Adam(0.1),
    "new optimizer": lambda: _keras.Adam(_keras.schedules.ExponentialDecay(0.1, 10, 0.9)),
    "new optimizer without a legacy form": lambda: _keras.AdamW(0.1),
}


@pytest.mark.parametrize("kind", [*OPTIMIZERS, "keras"])
@pytest.mark.parametrize(
    "make", [copy.deepcopy, pytest.param(cloudpickle_and_unpickle, marks=pytest.mark.long)]
)
def test_estimators_of_this_package_are_copied_before_and_after_training(
    make: Callable[[est.Estimator], est.Estimator], kind: str, tmp_path: Path
) -> None:
    """Dask, Ray and joblib pickle functions and the Estimators that they use by cloudpickle."""
    estimator: est.Estimator
    if kind == "keras":
        model_fn = est.keras.model_fn(make_keras_model, optimizer="sgd", loss="mse")
        estimator = est.Estimator(model_fn, tmp_path)
    else:
        optimizer = OPTIMIZERS[kind]()
        columns = [tf.feature_column.numeric_column("x")]
        estimator = est.DNNRegressor([2], columns, tmp_path, optimizer=optimizer)

    def input_fn() -> tf.data.Dataset:
        x = tf.constant([[1.0]])
        return tf.data.Dataset.from_tensors((x if kind == "keras" else {"x": x}, x)).repeat()

    make(estimator).train(input_fn, steps=1)
    estimator.train(input_fn, steps=1)
    copied = make(estimator).train(input_fn, steps=1)
    make(copied).train(input_fn, steps=1)
    assert estimator.get_variable_value("global_step") == 4


factor = 1.0


def read_factor() -> float:
    return factor


class Models:
    """Model_fns that read numbers outside of their arguments; `calls` counts the graphs."""

    def __init__(self) -> None:
        self.factor, self.mode, self.inputs, self.calls = 1.0, "", 0, []

    def build(self, features: Any, mode: str, value: float) -> est.EstimatorSpec:
        self.calls.append(mode)
        self.mode = mode
        weight = tf.compat.v1.get_variable("weight", [], initializer=tf.ones_initializer())
        step = tf.compat.v1.assign_add(tf.compat.v1.train.get_global_step(), 1)
        values = weight * value + 0.0 * features
        loss = tf.reduce_mean(values)
        return est.EstimatorSpec(mode, loss=loss, train_op=step, predictions=values)

    def method(self, features: Any, labels: Any, mode: str) -> est.EstimatorSpec:
        return self.build(features, mode, self.factor)

    def of_global(self, features: Any, labels: Any, mode: str) -> est.EstimatorSpec:
        return self.build(features, mode, read_factor())

    def __call__(self, features: Any, labels: Any, mode: str) -> est.EstimatorSpec:
        return self.build(features, mode, self.factor)

    def input(self) -> tf.data.Dataset:
        self.inputs += 1
        return linear_input()


@pytest.mark.parametrize("kind", ["attribute", "callable", "global", "closure", "partial"])
def test_a_model_is_built_anew_if_a_number_that_model_fn_reads_has_changed(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models, of_closure = Models(), 1.0

    def closure(features: Any, labels: Any, mode: str) -> est.EstimatorSpec:
        return models.build(features, mode, of_closure)

    partial = functools.partial(models.method)
    functions = {"attribute": models.method, "callable": models, "global": models.of_global}
    estimator = est.Estimator({**functions, "closure": closure, "partial": partial}[kind], tmp_path)
    estimator.train(models.input, steps=1)
    assert estimator.evaluate(models.input)["loss"] == 1.0
    for _ in range(2):
        assert [*estimator.predict(models.input)] == [1.0, 1.0]
        assert estimator.evaluate(models.input)["loss"] == 1.0
    # What the functions write themselves makes no model stale.
    assert models.calls == ["train", "eval", "infer"]
    models.factor = of_closure = 2.0
    monkeypatch.setattr(sys.modules[__name__], "factor", 2.0)
    assert estimator.evaluate(models.input)["loss"] == 2.0
    assert [*estimator.predict(models.input)] == [2.0, 2.0]
    assert models.calls == ["train", "eval", "infer", "eval", "infer"]
