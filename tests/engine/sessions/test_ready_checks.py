"""Session calls that check whether variables have values: left out only where that is certain."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import estimator_train as est

tf1 = tf.compat.v1
_MakeScaffold = Callable[[], tf1.train.Scaffold | None]


def _make_estimator(model_dir: Path, make_scaffold: _MakeScaffold) -> est.Estimator:
    def model_fn(features: Any, labels: Any, mode: str) -> est.EstimatorSpec:
        weight = tf1.get_variable("weight", [], initializer=tf1.ones_initializer())
        tf1.get_variable("other", [], initializer=tf1.ones_initializer())
        loss = tf.square(tf.reduce_sum(features) - weight)
        train_op = tf1.train.AdamOptimizer().minimize(loss, tf1.train.get_global_step())
        return est.EstimatorSpec(mode, loss=loss, train_op=train_op, scaffold=make_scaffold())

    return est.Estimator(model_fn, model_dir)


def _make_input() -> tf.data.Dataset:
    return tf.data.Dataset.from_tensors([1.0]).repeat()


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the fetched checks and local initializations of all session calls."""
    fetched: list[str] = []
    run = tf1.Session.run

    def record(session: tf1.Session, fetches: Any, *more: Any, **named: Any) -> Any:
        names = tf1.GraphKeys
        keys = (names.READY_OP, names.READY_FOR_LOCAL_INIT_OP, names.LOCAL_INIT_OP)
        for key in keys:
            if any(fetches is one for one in session.graph.get_collection(key)):
                fetched.append(key)
        return run(session, fetches, *more, **named)

    monkeypatch.setattr(tf1.Session, "run", record)
    return fetched


def test_first_start_restart_and_evaluation_check_nothing(
    tmp_path: Path, checks: list[str]
) -> None:
    for _ in range(2):
        _make_estimator(tmp_path, lambda: None).train(_make_input, steps=1)
    results = _make_estimator(tmp_path, lambda: None).evaluate(_make_input, steps=1)
    assert results["global_step"] == 2
    # An evaluation has local variables, those of its metrics.
    assert checks == [tf1.GraphKeys.LOCAL_INIT_OP]


def test_local_variables_and_tables_of_a_training_are_initialized(
    tmp_path: Path, checks: list[str]
) -> None:
    def make_scaffold() -> None:
        keys, values = tf.constant(["a"]), tf.constant([3.0])
        initializer = tf.lookup.KeyValueTensorInitializer(keys, values)
        table = tf.lookup.StaticHashTable(initializer, -1.0)
        tf1.add_to_collection(tf1.GraphKeys.LOSSES, table.lookup(tf.constant("a")))

    class ReadHook(est.SessionRunHook):
        def before_run(self, run_context: Any) -> Any:
            return est.SessionRunArgs(tf1.get_collection(tf1.GraphKeys.LOSSES)[0])

        def after_run(self, run_context: Any, run_values: Any) -> None:
            assert run_values.results == 3

    for _ in range(2):
        _make_estimator(tmp_path, make_scaffold).train(_make_input, [ReadHook()], steps=1)
    assert checks == [tf1.GraphKeys.LOCAL_INIT_OP] * 2


def test_an_own_local_initialization_runs_if_a_variable_is_checked(
    tmp_path: Path, checks: list[str]
) -> None:
    def make_scaffold() -> tf1.train.Scaffold:
        own = tf1.train.Scaffold(local_init_op=tf.no_op())
        tf1.add_to_collection(tf1.GraphKeys.LOCAL_INIT_OP, own.local_init_op)
        tf1.add_to_collection(tf1.GraphKeys.READY_OP, tf1.report_uninitialized_variables())
        return own

    _make_estimator(tmp_path, make_scaffold).train(_make_input, steps=1)
    assert tf1.GraphKeys.LOCAL_INIT_OP in checks
    assert tf1.GraphKeys.READY_OP in checks


def test_own_initialization_that_leaves_a_variable_out_is_reported(tmp_path: Path) -> None:
    def make_scaffold() -> tf1.train.Scaffold:
        variables = [v for v in tf1.global_variables() if v.name != "other:0"]
        return tf1.train.Scaffold(init_op=tf1.variables_initializer(variables))

    with pytest.raises(RuntimeError, match="Variables not initialized: other"):
        _make_estimator(tmp_path, make_scaffold).train(_make_input, steps=1)


def test_saver_that_leaves_a_variable_out_is_reported(tmp_path: Path) -> None:
    _make_estimator(tmp_path, lambda: None).train(_make_input, steps=1)

    def make_scaffold() -> tf1.train.Scaffold:
        variables = [v for v in tf1.global_variables() if v.name != "other:0"]
        return tf1.train.Scaffold(saver=tf1.train.Saver(variables))

    with pytest.raises(RuntimeError, match="Variables not initialized: other"):
        _make_estimator(tmp_path, make_scaffold).train(_make_input, steps=1)


def test_own_check_runs(tmp_path: Path) -> None:
    runs = []

    def check() -> np.ndarray:
        runs.append(True)
        return np.array([], object)

    def make_scaffold() -> tf1.train.Scaffold:
        return tf1.train.Scaffold(ready_op=tf.numpy_function(check, [], tf.string))

    _make_estimator(tmp_path, make_scaffold).train(_make_input, steps=1)
    assert runs
