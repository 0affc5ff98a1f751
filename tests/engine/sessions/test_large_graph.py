"""Sessions of large graphs, which place only what each call runs."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import estimator_train as est
from estimator_train.engine.sessions import session
from estimator_train.engine.tf_internals import constants, graphs

tf1 = tf.compat.v1


class _SettingsHook(est.SessionRunHook):
    """Hook that stores the settings of its session."""

    def after_create_session(self, session: Any, coord: Any) -> None:
        self.settings = session._config.graph_options


def _model_fn(features: Any, labels: Any, mode: str) -> est.EstimatorSpec:
    kernel = tf1.get_variable("kernel", [2, 8])
    output = tf.nn.relu(features @ kernel + tf1.get_variable("bias", [8]))
    if mode == "infer":
        return est.EstimatorSpec(mode, predictions=output)
    loss = tf.reduce_mean(tf.square(tf.reduce_sum(output, 1, keepdims=True) - labels))
    train_op = tf1.train.AdamOptimizer(0.1).minimize(loss, tf1.train.get_global_step())
    return est.EstimatorSpec(mode, loss=loss, train_op=train_op)


def _make_input() -> tf.data.Dataset:
    rows = np.arange(12, dtype=np.float32).reshape(6, 2)
    return tf.data.Dataset.from_tensor_slices((rows, rows[:, :1])).batch(2).repeat(10)


def _run_all(model_dir: Path) -> tuple[dict[str, Any], list[bool]]:
    """Trains, restarts, evaluates and predicts.

    Returns:
      The values of all variables and the results; whether each session places only what it runs.
    """
    hooks = [_SettingsHook() for _ in range(3)]
    estimator = est.Estimator(_model_fn, model_dir, est.RunConfig(tf_random_seed=1))
    estimator.train(_make_input, [hooks[0]], steps=5)
    estimator.train(_make_input, [hooks[1]], steps=5)
    values = {name: estimator.get_variable_value(name) for name in estimator.get_variable_names()}
    values.update(estimator.evaluate(_make_input, steps=3))
    predictions = estimator.predict(_make_input, hooks=[hooks[2]])
    values["predictions"] = next(predictions)
    predictions.close()
    return values, [hook.settings.place_pruned_graph for hook in hooks]


def test_values_are_those_of_a_session_that_places_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected, places_part = _run_all(tmp_path / "all")
    assert not any(places_part)
    monkeypatch.setattr(graphs, "LARGE_GRAPH", 0)
    actual, places_part = _run_all(tmp_path / "part")
    assert all(places_part)
    assert actual.keys() == expected.keys()
    for name, value in expected.items():
        np.testing.assert_allclose(actual[name], value, rtol=1e-5, err_msg=name)


def test_each_constant_of_a_graph_counts_once() -> None:
    with tf.Graph().as_default() as graph:
        tf.constant([1.0, 2.0])
        assert [constants.count_constant_bytes(graph) for _ in range(2)] == [8, 8]
        tf.zeros([500, 1000], tf.int64) + tf.constant(1, tf.int64)
        sizes = [
            constants.count_bytes(one.outputs[0])
            for one in graph.get_operations()
            if one.type == "Const"
        ]
        assert constants.count_constant_bytes(graph) == sum(sizes)
    with tf.Graph().as_default() as graph:
        assert constants.count_constant_bytes(graph) == 0


@pytest.mark.parametrize(
    ("devices", "max_constants_bytes", "expected"),
    [(1, 2**20, True), (2, 2**20, False), (1, 8, False)],
)
def test_graphs_with_several_devices_or_large_arrays_are_placed_completely(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    devices: int,
    max_constants_bytes: int,
    expected: bool,
) -> None:
    monkeypatch.setattr(graphs, "LARGE_GRAPH", 0)
    monkeypatch.setattr(session, "_LARGE_CONSTANTS_BYTES", max_constants_bytes)
    hook = _SettingsHook()
    config = est.RunConfig(session_config=tf1.ConfigProto(device_count={"CPU": devices}))
    est.Estimator(_model_fn, tmp_path, config).train(_make_input, [hook], steps=1)
    assert hook.settings.place_pruned_graph is expected


@pytest.mark.parametrize("has_references", [False, True])
@pytest.mark.parametrize("devices", [1, 2])
def test_one_cpu_needs_no_passes_for_layouts_and_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, devices: int, has_references: bool
) -> None:
    config = est.RunConfig(session_config=tf1.ConfigProto(device_count={"CPU": devices}))
    hook = _SettingsHook()
    (tf1.disable_resource_variables if has_references else tf1.enable_resource_variables)()
    try:
        est.Estimator(_model_fn, tmp_path, config).train(_make_input, [hook], steps=1)
    finally:
        tf1.enable_resource_variables()
    rewrites = hook.settings.rewrite_options
    default = rewrites.DEFAULT
    assert rewrites.layout_optimizer == (rewrites.OFF if devices == 1 else default)
    omits = devices == 1 and not has_references
    assert rewrites.memory_optimization == (rewrites.NO_MEM_OPT if omits else 0)


def test_passes_that_a_program_sets_are_kept(tmp_path: Path) -> None:
    own = tf1.ConfigProto()
    rewrites = own.graph_options.rewrite_options
    rewrites.layout_optimizer, rewrites.memory_optimization = rewrites.ON, rewrites.MANUAL
    hook = _SettingsHook()
    config = est.RunConfig(session_config=own)
    est.Estimator(_model_fn, tmp_path, config).train(_make_input, [hook], steps=1)
    found = hook.settings.rewrite_options
    assert (found.layout_optimizer, found.memory_optimization) == (rewrites.ON, rewrites.MANUAL)
