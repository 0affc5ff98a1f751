"""Checks of steps that XLA compiles: bad values raise errors, as in uncompiled steps.

These tests cover `compiled/called_functions.py`.
"""

import logging

import numpy as np
import pytest
import tensorflow as tf
import tiers

import estimator_train as est
from estimator_train.engine.compiled.step import NotCompilableError
from estimator_train.engine.loops.graph_loop import build_loop

tf1 = tf.compat.v1
TABLE = np.arange(12, dtype=np.float32).reshape(4, 3)


def assert_below_nine(values):
    below = tf1.debugging.assert_less(values, np.int64(9), message="too large")
    with tf.control_dependencies([below]):
        return tf.identity(values)


def assert_alone(values):
    below = tf.raw_ops.Assert(condition=tf.reduce_all(values < 9), data=[values])
    with tf.control_dependencies([below]):
        return tf.identity(values)


def check_in_function(values):
    return tf.function(lambda ids: tf.gather(TABLE, ids), autograph=False)(values)


def add_checked_rows(values):
    return tf.gather(TABLE[:, 0], assert_below_nine(values))


# Each operation with good values and bad ones.
OPERATIONS = {
    "Gather": (lambda ids: tf1.raw_ops.Gather(params=TABLE, indices=ids), [0, 3], [0, 4]),
    "GatherV2": (lambda ids: tf.gather(TABLE, ids, axis=-1), [0, 2], [0, 3]),
    "ResourceGather": (
        lambda ids: tf.gather(tf1.get_variable("t", initializer=TABLE), ids), [0, 3], [-1, 0],
    ),
    "GatherNd": (lambda ids: tf.gather_nd(TABLE, [ids]), [3, 2], [3, 3]),
    "SparseSoftmaxCrossEntropyWithLogits": (
        lambda ids: tf.nn.sparse_softmax_cross_entropy_with_logits(ids, TABLE[:2]), [0, 2], [0, 3],
    ),
    "ScatterNd": (lambda ids: tf.scatter_nd(ids[:, None], [1.0, 2.0], [4]), [0, 3], [0, 4]),
    "SparseToDense": (
        lambda ids: tf1.sparse_to_dense(ids, [4], [1.0, 2.0]), [0, 3], [0, 4],
    ),
    "ResourceScatterAdd": (
        lambda ids: tf1.get_variable("t", initializer=TABLE).scatter_add(
            tf.IndexedSlices(TABLE[:2], ids)
        ), [3, 3], [3, 4],
    ),
    "ResourceScatterNdAdd": (
        lambda ids: tf1.get_variable("t", initializer=TABLE).scatter_nd_add([ids], [1.0]),
        [3, 2], [3, 3],
    ),
    "TensorScatterUpdate": (
        lambda ids: tf.tensor_scatter_nd_update(TABLE[0], ids[:, None], [1.0, 2.0]), [0, 2], [0, 3],
    ),
    "UnsortedSegmentSum": (
        lambda ids: tf.math.unsorted_segment_sum([1.0, 2.0], ids, 4), [-1, 3], [0, 4],
    ),
    "CheckNumerics": (
        lambda ids: tf.debugging.check_numerics(1 / tf.cast(ids, tf.float32), "x"), [1, 2], [1, 0],
    ),
    "FloorDiv": (lambda ids: tf.cast(7 // ids, tf.float32), [1, 2], [0, 2]),
    "Assert": (assert_alone, [0, 8], [0, 9]),
    "AssertGuard: too large": (assert_below_nine, [0, 8], [0, 9]),
}  # fmt: skip


def build_checked_loop(operation, batches, **settings):
    """Returns a loop of steps that add the results of an operation to a variable, and the sums."""
    data = tf.data.Dataset.from_tensor_slices(np.array(batches))
    iterator = tf1.data.make_initializable_iterator(data)
    tf1.add_to_collection(tf1.GraphKeys.TABLE_INITIALIZERS, iterator.initializer)
    loss = tf.reduce_sum(tf.cast(operation(iterator.get_next()), tf.float32))
    total = tf1.get_variable("total", initializer=0.0)
    return build_loop(total.assign_add(loss), loss, **settings), total


def run(operation, batches, compiled):
    """Returns the sum after a loop, or the error, and the number of steps before it."""
    with tf.Graph().as_default():
        loop, total = build_checked_loop(operation, batches, compiled=compiled)
        with tf1.Session() as session:
            session.run([tf1.global_variables_initializer(), tf1.tables_initializer()])
            try:
                loop.run(session, len(batches))
            except tf.errors.InvalidArgumentError as error:
                return error, loop.read_interrupted(session)[0]
            return session.run(total), len(batches)


@pytest.mark.parametrize("name", tiers.every(4, OPERATIONS))
def test_bad_values_raise_errors_at_the_same_step(name):
    operation, good, bad = OPERATIONS[name]
    assert run(operation, [good, good], True) == run(operation, [good, good], False)
    error, steps = run(operation, [good, good, bad, good], True)
    _, expected_steps = run(operation, [good, good, bad, good], False)
    assert steps == expected_steps == 2
    kind, _, text = name.partition(": ")
    assert kind in error.message
    assert text in error.message


def test_the_first_of_several_failed_checks_is_named():
    with pytest.raises(tf.errors.InvalidArgumentError, match="too large"):
        raise run(add_checked_rows, [[0, 10]], True)[0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="GatherV2.*index is out of range"):
        raise run(add_checked_rows, [[0, 8]], True)[0]


def test_checks_in_functions_are_left_out_with_a_warning(caplog):
    with tf.Graph().as_default(), caplog.at_level(logging.WARNING):
        build_checked_loop(check_in_function, [[0, 3]], compiled=True)
    assert "XLA leaves out the checks in functions that the step calls" in caplog.text
    assert "PartitionedCall" in caplog.text


def test_steps_with_checks_in_functions_are_not_chosen_by_speed():
    with tf.Graph().as_default(), pytest.raises(NotCompilableError, match="checks values"):
        build_checked_loop(check_in_function, [[0, 3]], compiled="auto")


def model_fn(features, labels, mode):
    table = tf1.get_variable("w", [3, 3])
    loss = tf1.losses.sparse_softmax_cross_entropy(labels, tf.gather(table, features))
    step = tf1.train.get_global_step()
    return est.EstimatorSpec(
        mode, loss=loss, train_op=tf1.train.AdamOptimizer().minimize(loss, step)
    )


# The loss is NaN with the bad label, and finite with the bad id.
@pytest.mark.long
@pytest.mark.parametrize("name", ["an index", "a label"])
def test_a_value_out_of_range_ends_a_training_in_chunks(tmp_path, name):
    values = {"an index": np.arange(400) % 3, "a label": np.arange(400) % 3}
    values[name][350] = 3
    config = est.RunConfig(str(tmp_path), xla=True, save_checkpoints_steps=None)
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"{name} is out of range"):
        est.Estimator(model_fn, config=config).train(
            lambda: tf.data.Dataset.from_tensor_slices(tuple(values.values())).repeat().batch(8),
            steps=200,
        )
