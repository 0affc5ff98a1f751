"""Tests of the initialization of large variables without constants."""

from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

import estimator_train as est
from estimator_train.engine.sessions.restore import fill_variables
from estimator_train.engine.tf_internals import graphs
from estimator_train.engine.tf_internals.constants import count_bytes

v1 = tf.compat.v1
ROWS = 2**16  # By four floats: 1 MiB.


def read_click() -> tf.data.Dataset:
    return tf.data.Dataset.from_tensors(({"id": [3]}, [1]))


def make_variable(name: str, initializer: object, dtype: tf.DType = tf.float32) -> tf.Variable:
    return v1.get_variable(name, [ROWS, 4], dtype, initializer, use_resource=True)


def find_large_constants(targets: list[tf.Operation]) -> list[str]:
    constants = (op.outputs[0] for op in graphs.walk(targets) if op.type == "Const")
    return [value.op.name for value in constants if count_bytes(value) >= 2**20]


def test_constants_of_equal_numbers_become_fills() -> None:
    with tf.Graph().as_default():
        v1.train.get_or_create_global_step()
        slot = make_variable("slot", tf.constant_initializer(0.1))
        counts = make_variable("counts", tf.constant_initializer(7), tf.int32)
        ramp = make_variable("ramp", tf.constant_initializer(np.arange(ROWS * 4.0)))
        small = v1.get_variable(
            "small", [3], initializer=tf.constant_initializer(0.5), use_resource=True
        )
        scaffold = v1.train.Scaffold()
        scaffold.finalize()
        assert len(find_large_constants([scaffold.init_op])) == 3
        filled = fill_variables(scaffold)
        assert find_large_constants(filled.init_op) == ["ramp/Initializer/Const"]
        with v1.train.MonitoredSession(v1.train.ChiefSessionCreator(filled)) as session:
            values = session.run([slot, counts, ramp, small, v1.train.get_global_step()])
    np.testing.assert_array_equal(values[0], np.full([ROWS, 4], 0.1, np.float32))
    np.testing.assert_array_equal(values[1], np.full([ROWS, 4], 7, np.int32))
    np.testing.assert_array_equal(values[2].ravel(), np.arange(ROWS * 4.0, dtype=np.float32))
    np.testing.assert_array_equal(values[3], np.full([3], 0.5, np.float32))
    assert values[4] == 0


def test_a_fed_constant_is_assigned() -> None:
    with tf.Graph().as_default():
        slot = make_variable("slot", tf.constant_initializer(0.1))
        value = np.full([ROWS, 4], 3.0, np.float32)
        scaffold = v1.train.Scaffold(init_feed_dict={"slot/Initializer/Const:0": value})
        scaffold.finalize()
        creator = v1.train.ChiefSessionCreator(fill_variables(scaffold))
        with v1.train.MonitoredSession(creator) as session:
            np.testing.assert_array_equal(session.run(slot), value)


@pytest.mark.parametrize("as_list", [False, True])
def test_initialization_of_others_is_the_same(as_list: bool) -> None:
    with tf.Graph().as_default():
        make_variable("random", tf.random_normal_initializer())
        init_op = [v1.global_variables_initializer()] if as_list else None
        scaffold = v1.train.Scaffold(init_op=init_op)
        scaffold.finalize()
        assert fill_variables(scaffold) is scaffold


@pytest.mark.long
def test_a_training_with_large_slots_begins_with_fills(tmp_path: Path) -> None:
    columns = [
        tf.feature_column.embedding_column(
            tf.feature_column.categorical_column_with_identity("id", 2**20), 16
        )
    ]
    graph: list[tf.Graph] = []

    class KeepGraph(v1.train.SessionRunHook):
        def after_create_session(self, session: v1.Session, coord: object) -> None:
            graph.append(session.graph)

    # With this seed, not all units are zero: the row gets a gradient.
    config = est.RunConfig(tf_random_seed=1)
    estimator = est.DNNClassifier([8], columns, str(tmp_path), optimizer="Adagrad", config=config)
    estimator.train(read_click, hooks=[KeepGraph()], steps=1)
    assert [op.name for op in graph[0].get_operations() if op.type == "Fill"][-1].startswith(
        "initial_fills/"
    )
    [name] = [name for name in estimator.get_variable_names() if "weights/" in name]
    slot = estimator.get_variable_value(name)
    changed = np.flatnonzero((slot != np.float32(0.1)).any(axis=1))
    np.testing.assert_array_equal(changed, [3])
