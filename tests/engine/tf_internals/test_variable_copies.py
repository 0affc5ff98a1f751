"""Variables that are copies of the second of their kind, against those that TensorFlow makes.

These tests cover `tf_internals/operation_copies.py`.
"""

import contextlib
import functools
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
from estimator_train.engine.tf_internals import operation_copies, variable_copies, zero_slots

tf1 = tf.compat.v1
_LAYERS = 4


def _make_variables(**settings: Any) -> Callable[[], None]:
    """Returns a model with two variables in each layer, which differ in one setting."""

    def build() -> None:
        for number in range(_LAYERS):
            with tf1.variable_scope(f"Layer_{number}"):
                first = tf1.get_variable("kernel", [4, 3], **settings)
                tf1.get_variable("bias", [4], tf.float64, tf1.zeros_initializer())
                tf.nn.relu(first)

    return build


def _make_in_scopes() -> None:
    """Makes variables as layers do: the scope of names is not that of variables."""
    for number in range(_LAYERS):
        with tf1.name_scope("outer"), tf1.variable_scope(f"layer_{number}"):
            tf1.get_variable("kernel", [4, 3])
        with tf1.name_scope(f"other_{number}"):
            initializer = tf1.glorot_uniform_initializer()
            value = functools.partial(initializer, [4, 3], dtype=tf.float32)
            tf1.Variable(value, name="own", use_resource=True)


def _train() -> None:
    output = tf.ones([2, 4])
    for number in range(_LAYERS):
        with tf1.variable_scope(f"layer_{number}"):
            kernel = tf1.get_variable("kernel", [4, 4])
            bias = tf1.get_variable("bias", [4], initializer=tf1.zeros_initializer())
            output = tf.nn.relu(output @ kernel + bias)
    tf1.train.AdamOptimizer().minimize(tf.reduce_mean(output))


def _differ_in_zeros() -> None:
    """Makes variables whose settings are equal for Python, but not for TensorFlow."""
    for number, value in enumerate([0.0, -0.0, 0, False] * 3):
        tf1.get_variable(f"zero_{number}", [2], initializer=tf1.constant_initializer(value))


_COLLECTIONS = [tf1.GraphKeys.GLOBAL_VARIABLES, "own"]
_MODELS = {
    "default": _make_variables(),
    "normal": _make_variables(initializer=tf1.truncated_normal_initializer(stddev=0.02)),
    "seed": _make_variables(initializer=tf1.random_normal_initializer(seed=3)),
    "scaling": _make_variables(initializer=tf1.variance_scaling_initializer(2.0)),
    "orthogonal": _make_variables(initializer=tf1.orthogonal_initializer()),
    "constant": _make_variables(initializer=tf1.constant_initializer(0.5)),
    "type": _make_variables(initializer=tf1.ones_initializer, dtype=tf.float16),
    "not_trainable": _make_variables(trainable=False),
    "collections": _make_variables(collections=_COLLECTIONS),
    "regularizer": _make_variables(regularizer=lambda variable: tf.reduce_sum(variable)),
    "scopes": _make_in_scopes,
    "training": _train,
    "zeros": _differ_in_zeros,
}


def _build(model: Callable[[], None], copying: bool, seed: int | None = 1) -> dict[str, Any]:
    with tf.Graph().as_default() as graph:
        tf1.set_random_seed(seed)
        if copying:
            variable_copies.copy_variables(graph)
            zero_slots.copy_zero_slots(graph)
        model()
        tf.random.uniform([])  # Its seed follows those of the variables.
        return describe(graph)


@pytest.mark.parametrize("seed", [1, None])
@pytest.mark.parametrize("name", _MODELS)
def test_a_graph_with_copies_is_the_graph_of_tensorflow(
    copies: list[str], name: str, seed: int | None
) -> None:
    expected = _build(_MODELS[name], copying=False, seed=seed)
    assert not copies
    actual = _build(_MODELS[name], copying=True, seed=seed)
    assert copies
    for key, value in expected.items():
        assert actual[key] == value, key


@contextlib.contextmanager
def _scope(**settings: Any) -> Iterator[None]:
    with tf1.variable_scope(tf1.get_variable_scope(), **settings):
        yield


_UNUSUAL: dict[str, Callable[[], Any]] = {
    "device": lambda: tf.device("/cpu:0"),
    "device_function": lambda: tf1.device(lambda operation: "/cpu:0"),
    "container": lambda: tf1.get_default_graph().container("own"),
    "colocation": lambda: tf1.colocate_with(tf.constant(1)),
    "control_inputs": lambda: tf.control_dependencies([tf.no_op()]),
    "reference_variables": lambda: _scope(use_resource=False),
    "caching_device": lambda: _scope(caching_device="/cpu:0"),
    "constraint": lambda: _scope(constraint=tf.abs),
    "own_initializer": lambda: _scope(initializer=lambda shape, dtype, **_: tf.ones(shape, dtype)),
}


@pytest.mark.parametrize("name", _UNUSUAL)
def test_variables_in_unusual_surroundings_are_those_of_tensorflow(
    copies: list[str], name: str
) -> None:
    def model() -> None:
        with _UNUSUAL[name]():
            for number in range(_LAYERS):
                tf1.get_variable(f"kernel_{number}", [4, 3])

    expected, actual = _build(model, copying=False), _build(model, copying=True)
    for key, value in expected.items():
        assert actual[key] == value, key
    assert not copies


@pytest.mark.parametrize("name", [None, "device", "device_function", "control_inputs"])
def test_checks_of_variables_make_the_graph_of_tensorflow(
    monkeypatch: pytest.MonkeyPatch, name: str | None
) -> None:
    fast: list[str] = []
    add = operation_copies.add_plain_operation
    monkeypatch.setattr(
        operation_copies,
        "add_plain_operation",
        lambda *given: fast.append(given[0]) or add(*given),
    )

    def model() -> None:
        _train()
        tf1.get_variable("reference", [2], use_resource=False)
        tf1.get_variable("parts", [4, 2], partitioner=tf1.fixed_size_partitioner(2))
        with _UNUSUAL[name]() if name else contextlib.nullcontext():
            for _ in range(2):
                tf1.add_to_collection("found", tf1.report_uninitialized_variables())

    def check() -> list[bytes]:
        model()
        with tf1.Session() as session:
            session.run(tf1.variables_initializer(tf1.global_variables()[3:]))
            return list(session.run(tf1.get_collection("found")[1]))

    expected = _build(model, copying=False)
    assert not fast
    actual = _build(model, copying=True)
    # Eight variables, two slots of each, two powers of Adam and two parts.
    assert len(fast) == (0 if name else 2 * (8 * 3 + 2 + 2))
    for key in ("graph", "names", "groups", "collections"):
        assert actual[key] == expected[key], key
    with tf.Graph().as_default() as graph:
        variable_copies.copy_variables(graph)
        assert check() == [b"layer_0/kernel", b"layer_0/bias", b"layer_1/kernel"]
        operation = graph.get_operation_by_name(
            "report_uninitialized_variables/VarIsInitializedOp_1"
        )
        assert any(frame.filename == __file__ for frame in operation.traceback)


def test_getters_and_creators_change_copies(copies: list[str]) -> None:
    def model() -> None:
        def change_name(create: Callable[..., Any], **settings: Any) -> Any:
            return create(**{**settings, "name": f"own_{settings['name']}"})

        def double(getter: Callable[..., Any], *args: Any, **settings: Any) -> Any:
            return getter(*args, **settings) * 2

        with tf.variable_creator_scope(change_name), _scope(custom_getter=double):
            for number in range(_LAYERS):
                tf1.get_variable(f"kernel_{number}", [4, 3])

    expected, actual = _build(model, copying=False), _build(model, copying=True)
    assert copies == ["own_kernel_2", "own_kernel_3"]
    for key, value in expected.items():
        assert actual[key] == value, key


def test_partitioned_variables_are_those_of_tensorflow() -> None:
    def model() -> None:
        with _scope(partitioner=tf1.fixed_size_partitioner(2)):
            for number in range(_LAYERS):
                tf1.get_variable(f"kernel_{number}", [4, 3])

    expected, actual = _build(model, copying=False), _build(model, copying=True)
    assert actual["graph"] == expected["graph"]
    assert actual["protos"] == expected["protos"]


def test_a_variable_whose_names_are_in_use_is_made_by_tensorflow(copies: list[str]) -> None:
    def model() -> None:
        for name in ("kernel_2", "kernel_3/Read", "kernel_4/Initializer"):
            tf.constant(1, name=name)
        for number in range(6):
            tf1.get_variable(f"kernel_{number}", [4, 3])

    expected, actual = _build(model, copying=False), _build(model, copying=True)
    assert copies == ["kernel_5"]
    assert actual["graph"] == expected["graph"]
    assert actual["names"] == expected["names"]


def test_errors_of_names_are_those_of_tensorflow(copies: list[str]) -> None:
    def model() -> None:
        tf1.get_variable("kernel", [4, 3])
        tf1.get_variable("a name", [4, 3])

    with pytest.raises(ValueError, match="'a name' is not a valid") as expected:
        _build(model, copying=False)
    with pytest.raises(ValueError, match="'a name' is not a valid") as actual:
        _build(model, copying=True)
    assert str(actual.value) == str(expected.value)


def test_errors_of_copies_name_the_line_of_the_program(copies: list[str]) -> None:
    with tf.Graph().as_default() as graph:
        variable_copies.copy_variables(graph)
        _MODELS["default"]()
        operation = graph.get_operation_by_name(f"{copies[0]}/Initializer/random_uniform")
        assert any(frame.filename == __file__ for frame in operation.traceback)


def test_templates_do_not_hold_their_graph() -> None:
    with tf.Graph().as_default() as graph:
        variable_copies.copy_variables(graph)
        _MODELS["default"]()
    reference = weakref.ref(graph)
    del graph
    gc.collect()
    assert reference() is None


def test_training_and_evaluation_with_copies_have_the_same_values(
    tmp_path: Path, copies: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def model_fn(features: tf.Tensor, labels: None, mode: str) -> est.EstimatorSpec:
        output = tf.reshape(features, [1, 4])
        for number in range(_LAYERS):
            output = tf.nn.tanh(output @ tf1.get_variable(f"kernel_{number}", [4, 4]))
        loss = tf.reduce_mean(output)
        train_op = tf1.train.AdamOptimizer().minimize(loss, tf1.train.get_global_step())
        return est.EstimatorSpec(mode, loss=loss, train_op=train_op)

    def run(directory: Path) -> dict[str, Any]:
        rows = np.ones([1, 4], np.float32)
        config = est.RunConfig(tf_random_seed=1)
        for _ in range(2):
            estimator = est.Estimator(model_fn, directory, config=config)
            estimator.train(lambda: tf.data.Dataset.from_tensors(rows).repeat(), steps=2)
        values = {
            name: estimator.get_variable_value(name) for name in estimator.get_variable_names()
        }
        return values | estimator.evaluate(lambda: tf.data.Dataset.from_tensors(rows), steps=1)

    actual = run(tmp_path / "copies")
    assert "kernel_2" in copies
    monkeypatch.setattr(variable_copies, "_is_usual", lambda *_: False)
    copies.clear()
    expected = run(tmp_path / "tensorflow")
    assert "kernel_2" not in copies
    assert actual.keys() == expected.keys()
    for name, value in expected.items():
        np.testing.assert_array_equal(actual[name], value, name)
