"""Slots that are copies of the first of their shape, against those that TensorFlow makes."""

import contextlib
import gc
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from graph_descriptions import describe

import estimator_train as est
from estimator_train.engine.tf_internals import zero_slots

tf1 = tf.compat.v1
_LAYERS = 3


def _make_loss(units: int = 40) -> tf.Tensor:
    output = tf.ones([2, units])
    for number in range(_LAYERS):
        with tf1.variable_scope(f"layer_{number}"):
            kernel = tf1.get_variable("kernel", [units, units])
            bias = tf1.get_variable("bias", [units], initializer=tf1.zeros_initializer())
            output = tf.nn.relu(output @ kernel + bias)
    return tf.reduce_mean(output)


def _train_by(*factories: Callable[[], tf1.train.Optimizer]) -> Callable[[], None]:
    def build() -> None:
        loss = _make_loss()
        for factory in factories:
            optimizer = factory()
            optimizer.minimize(loss)
            for variable in tf1.trainable_variables():
                for name in optimizer.get_slot_names():
                    assert optimizer.get_slot(variable, name) in tf1.global_variables()

    return build


_MODELS = {
    "adam": _train_by(tf1.train.AdamOptimizer),
    "momentum": _train_by(lambda: tf1.train.MomentumOptimizer(0.1, 0.9)),
    "rmsprop": _train_by(lambda: tf1.train.RMSPropOptimizer(0.1, centered=True)),
    "adadelta": _train_by(tf1.train.AdadeltaOptimizer),
    "two_of_one_name": _train_by(tf1.train.AdamOptimizer, tf1.train.AdamOptimizer),
}


def _build(model: Callable[[], None], copying: bool) -> dict[str, Any]:
    with tf.Graph().as_default() as graph:
        tf1.set_random_seed(1)
        if copying:
            zero_slots.copy_zero_slots(graph)
        model()
        tf.random.uniform([])  # Its seed is the number of operations.
        return describe(graph)


@pytest.mark.parametrize("name", _MODELS)
def test_a_graph_with_copies_is_the_graph_of_tensorflow(copies: list[str], name: str) -> None:
    expected = _build(_MODELS[name], copying=False)
    assert not copies
    actual = _build(_MODELS[name], copying=True)
    assert copies
    for key, value in expected.items():
        assert actual[key] == value, key


def test_shapes_of_old_programs_have_templates(copies: list[str]) -> None:
    tf1.disable_v2_tensorshape()
    try:
        expected = _build(_MODELS["adam"], copying=False)
        actual = _build(_MODELS["adam"], copying=True)
    finally:
        tf1.enable_v2_tensorshape()
    assert copies
    for key, value in expected.items():
        assert actual[key] == value, key


def test_errors_of_copies_name_the_line_of_the_program(copies: list[str]) -> None:
    with tf.Graph().as_default() as graph:
        zero_slots.copy_zero_slots(graph)
        _MODELS["momentum"]()
        slot = graph.get_operation_by_name(copies[0])
        assert any(frame.filename == __file__ for frame in slot.traceback)


def test_templates_do_not_hold_their_graph() -> None:
    with tf.Graph().as_default() as graph:
        zero_slots.copy_zero_slots(graph)
        _MODELS["momentum"]()
    reference = weakref.ref(graph)
    del graph
    gc.collect()
    assert reference() is None


@contextlib.contextmanager
def _scope(**settings: Any) -> Iterator[None]:
    with tf1.variable_scope(tf1.get_variable_scope(), **settings):
        yield


_UNUSUAL: dict[str, Callable[[], Any]] = {
    "creator": lambda: tf.variable_creator_scope(lambda create, **way: create(**way)),
    "getter": lambda: _scope(custom_getter=lambda getter, *args, **way: getter(*args, **way)),
    "device": lambda: tf.device("/cpu:0"),
    "device_function": lambda: tf1.device(lambda operation: "/cpu:0"),
    "container": lambda: tf1.get_default_graph().container("own"),
    "reference_variables": lambda: _scope(use_resource=False),
    "caching_device": lambda: _scope(caching_device="/cpu:0"),
}


@pytest.mark.parametrize("name", _UNUSUAL)
def test_tensorflow_makes_slots_in_unusual_surroundings(copies: list[str], name: str) -> None:
    def model() -> None:
        with _UNUSUAL[name]():
            loss = _make_loss()
            tf1.train.MomentumOptimizer(0.1, 0.9).minimize(loss)
            average = tf1.train.ExponentialMovingAverage(0.9)
            average.apply([variable * 2 for variable in tf1.trainable_variables()])

    expected, actual = _build(model, copying=False), _build(model, copying=True)
    assert not copies
    for key, value in expected.items():
        assert actual[key] == value, key


def test_tensorflow_makes_a_slot_whose_names_are_in_use(copies: list[str]) -> None:
    def model() -> None:
        loss = _make_loss()
        tf.constant(1, name="layer_1/kernel/Momentum/Read")
        tf1.train.MomentumOptimizer(0.1, 0.9).minimize(loss)

    expected, actual = _build(model, copying=False), _build(model, copying=True)
    assert "layer_1/kernel/Momentum" not in copies
    assert "layer_2/kernel/Momentum" in copies
    assert actual["graph"] == expected["graph"]


def test_training_restores_and_updates_copies(
    tmp_path: Path, copies: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def model_fn(features: tf.Tensor, labels: None, mode: str) -> est.EstimatorSpec:
        loss = _make_loss() + tf.reduce_sum(features)
        train_op = tf1.train.AdamOptimizer().minimize(loss, tf1.train.get_global_step())
        return est.EstimatorSpec(mode, loss=loss, train_op=train_op)

    def train(directory: Path) -> dict[str, np.ndarray]:
        config = est.RunConfig(tf_random_seed=1)
        for steps in (2, 3):
            estimator = est.Estimator(model_fn, directory, config=config)
            estimator.train(lambda: tf.data.Dataset.from_tensors([1.0]).repeat(), steps=steps)
        return {name: estimator.get_variable_value(name) for name in estimator.get_variable_names()}

    actual = train(tmp_path / "copies")
    assert "layer_1/kernel/Adam" in copies
    monkeypatch.setattr(zero_slots, "_is_usual", lambda *_: False)
    copies.clear()
    expected = train(tmp_path / "tensorflow")
    assert not any("/Adam" in name for name in copies)
    assert actual.keys() == expected.keys()
    assert "layer_1/kernel/Adam_1" in actual
    for name, value in expected.items():
        np.testing.assert_array_equal(actual[name], value, name)
