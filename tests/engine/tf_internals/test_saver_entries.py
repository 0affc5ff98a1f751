"""A Saver reads a large checkpoint by several operations, and restores the same values.

Its operations are those of TensorFlow's Saver, most of them copies.
"""

import contextlib

import numpy as np
import pytest
import tensorflow as tf
from graph_descriptions import describe
from tensorflow.python.training.saver import BulkSaverBuilder

import estimator_train as est
from estimator_train.engine.tf_internals import operation_copies, saver_entries

v1 = tf.compat.v1


def _build(is_filled):
    """Adds variables of each kind and a table; returns what a checkpoint must restore."""
    with v1.variable_scope("", use_resource=True):
        variables = [
            v1.get_variable(
                f"v{number}",
                initializer=np.full([20, 5], (number + 1) * is_filled, np.float32),
                use_resource=number != 2,
            )
            for number in range(4)
        ]
        parts = v1.get_variable(
            "parts",
            [90, 5],
            initializer=v1.constant_initializer(7.0 * is_filled),
            partitioner=v1.fixed_size_partitioner(3),
        )
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1, name="table")
    filled = table.insert(["a", "b"], [1, 2]) if is_filled else tf.no_op()
    v1.add_to_collection(v1.GraphKeys.TABLE_INITIALIZERS, filled)
    return [*variables, tf.convert_to_tensor(parts), table.lookup(tf.constant(["a", "b"]))]


@pytest.mark.parametrize(("part_bytes", "reads"), [(2**24, 1), (700, 4)])
def test_values_are_restored_by_parts(tmp_path, monkeypatch, part_bytes, reads):
    monkeypatch.setattr(saver_entries, "_PART_BYTES", part_bytes)
    with tf.Graph().as_default(), v1.Session() as session:
        _build(is_filled=True)
        session.run([v1.global_variables_initializer(), v1.tables_initializer()])
        path = v1.train.Saver().save(session, str(tmp_path / "model.ckpt"))
    with tf.Graph().as_default() as graph, v1.Session() as session:
        values = _build(is_filled=False)
        before = len(graph.get_operations())
        saver = v1.train.Saver(builder=saver_entries.RestoreByParts())
        added = graph.get_operations()[before:]
        saver.restore(session, path)
        restored = session.run(values)
    assert sum(op.type == "RestoreV2" for op in added) == reads
    for number, value in enumerate(restored[:4]):
        np.testing.assert_array_equal(value, np.full([20, 5], number + 1))
    np.testing.assert_array_equal(restored[4], np.full([90, 5], 7))
    np.testing.assert_array_equal(restored[5], [1, 2])


def test_training_and_evaluation_restore_by_parts(model_fn, input_fn, tmp_path, monkeypatch):
    class CountReads(est.SessionRunHook):
        def after_create_session(self, session, coord):
            operations = session.graph.get_operations()
            self.reads = sum(op.type == "RestoreV2" for op in operations)

    monkeypatch.setattr(saver_entries, "_PART_BYTES", 1)
    trains, evaluates = CountReads(), CountReads()
    estimator = est.Estimator(model_fn, tmp_path)
    estimator.train(input_fn, [trains], steps=2)
    estimator.train(input_fn, steps=2)
    assert estimator.evaluate(input_fn, steps=1, hooks=[evaluates])["global_step"] == 4
    assert trains.reads == evaluates.reads == 2


def _make_entries():
    """Adds variables of several kinds, a table and an average to the default graph."""
    for number in range(3):
        for dtype in (tf.float32, tf.int64):
            v1.get_variable(f"{dtype.name}_{number}", [2, 3], dtype, v1.zeros_initializer())
    for number in range(2):
        with tf.device("/cpu:0"):
            v1.get_variable(f"placed_{number}", [2], use_resource=True)
        v1.get_variable(f"reference_{number}", [2], use_resource=False)
        v1.get_variable(
            f"parts_{number}", [9, 2], partitioner=v1.fixed_size_partitioner(3), use_resource=True
        )
    tf.constant(1, name="save/Identity_3")
    tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1, name="table")


def _leave_as_is():
    return contextlib.nullcontext()


def _call_device_function():
    return v1.device(lambda operation: "/cpu:0" if operation.type == "Identity" else "")


def _place_on_task():
    return tf.device("/job:localhost")


@pytest.mark.parametrize("surroundings", [_leave_as_is, _call_device_function, _place_on_task])
@pytest.mark.parametrize("settings", [{"sharded": True}, {}, {"reshape": True}])
def test_restores_that_are_copies_make_the_graph_of_tensorflow(monkeypatch, surroundings, settings):
    copied = []
    copy = operation_copies.Pattern.copy
    monkeypatch.setattr(
        operation_copies.Pattern, "copy", lambda *given: copied.append(given) or copy(*given)
    )
    graphs = []
    for builder in (BulkSaverBuilder(), saver_entries.RestoreByParts()):
        with tf.Graph().as_default() as graph, surroundings():
            _make_entries()
            v1.train.Saver(builder=builder, **settings)
            tf.no_op("save/Identity")
            devices = [
                [place.obj for place in operation._device_code_locations]
                for operation in graph.get_operations()
            ]
            graphs.append({**describe(graph), "devices": devices})
    is_usual = surroundings is not _call_device_function and "reshape" not in settings
    # Two operations for each after the first: of three variables of float32, of three of int64,
    # and of two on a device. Parts have shapes in the checkpoint, which TensorFlow compares.
    assert len(copied) == (2 * (2 + 2 + 1) if is_usual else 0)
    for key in ("graph", "names", "groups", "devices"):
        assert graphs[1][key] == graphs[0][key], key
    restored = graph.get_operation_by_name("save/AssignVariableOp_2")
    assert any(frame.filename == __file__ for frame in restored.traceback)


def test_a_variable_of_another_shape_is_refused_by_copies_as_by_tensorflow(tmp_path):
    def build(shape):
        return [v1.get_variable(f"v{n}", shape, use_resource=True) for n in range(3)]

    with tf.Graph().as_default(), v1.Session() as session:
        build([2])
        session.run(v1.global_variables_initializer())
        path = v1.train.Saver().save(session, str(tmp_path / "model.ckpt"))
    shapes = []
    for builder in (BulkSaverBuilder(), saver_entries.RestoreByParts()):
        with tf.Graph().as_default(), v1.Session() as session:
            variables = build([3])
            v1.train.Saver(builder=builder).restore(session, path)
            shapes.append([value.shape for value in session.run(variables)])
    assert shapes[0] == shapes[1] == [(2,)] * 3
