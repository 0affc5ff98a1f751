"""Garbage collection while a training builds its graph, and after it."""

import gc

import pytest
import tensorflow as tf

from estimator_train import Estimator, EstimatorSpec
from estimator_train.engine.run.train import PostponedCollection


def test_a_large_build_has_no_full_collection_and_one_is_due_afterwards():
    thresholds = gc.get_threshold()
    gc.collect()
    graph = []
    with PostponedCollection() as collection:
        before = gc.get_stats()
        graph.extend([] for _ in range(100_000 + len(gc.get_objects()) // 2))
        during = gc.get_stats()
        collection.end_build()
        assert gc.get_threshold() == thresholds
    full = [stats[2]["collections"] for stats in (before, during, gc.get_stats())]
    assert full[1] == full[0]
    assert full[2] > full[1]
    middle = [stats[1]["collections"] for stats in (before, during, gc.get_stats())]
    assert middle[1] <= middle[0] + 1
    assert middle[2] > middle[1] + 10


def test_an_error_ends_a_build():
    thresholds = gc.get_threshold()
    with pytest.raises(ZeroDivisionError), PostponedCollection():
        _ = 1 / 0
    assert gc.get_threshold() == thresholds


@pytest.mark.parametrize("change", [gc.disable, lambda: gc.set_threshold(0)])
def test_a_program_that_has_turned_collections_off_gets_none_by_a_build(change):
    thresholds = gc.get_threshold()
    change()
    try:
        before, changed = gc.get_stats(), gc.get_threshold()
        with PostponedCollection():
            assert gc.get_threshold() == changed
            kept = [[] for _ in range(50_000)]
        assert gc.get_stats() == before
        del kept
    finally:
        gc.set_threshold(*thresholds)
        gc.enable()


def test_thresholds_that_model_fn_sets_stay():
    thresholds = gc.get_threshold()
    try:
        with PostponedCollection():
            gc.set_threshold(5_000, 20, 30)
        assert gc.get_threshold() == (5_000, 20, 30)
    finally:
        gc.set_threshold(*thresholds)


def test_training_postpones_collections_until_its_session_is_open(tmp_path):
    thresholds, seen = gc.get_threshold(), []

    def model_fn(features, labels, mode):
        seen.append(gc.get_threshold())
        step = tf.compat.v1.train.get_global_step()
        return EstimatorSpec(mode, loss=tf.constant(0.0), train_op=step.assign_add(1))

    class Steps(tf.compat.v1.train.SessionRunHook):
        def before_run(self, run_context):
            seen.append(gc.get_threshold())

    def input_fn():
        return tf.data.Dataset.from_tensors({"x": [1.0]})

    Estimator(model_fn, str(tmp_path)).train(input_fn, hooks=[Steps()], steps=1)
    assert seen[0][0] > 100 * thresholds[0]
    assert seen[1:] == [thresholds]
