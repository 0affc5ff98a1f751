"""A Saver reads a large checkpoint by several operations, and restores the same values."""

import numpy as np
import pytest
import tensorflow as tf

import estimator_train as est
from estimator_train.engine.tf_internals import saver_entries

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
