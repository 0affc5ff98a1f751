"""Large arrays that are only put into batches give the same batches, cut as a whole."""

import numpy as np
import pytest
import tensorflow as tf

import estimator_train as est
from estimator_train.engine.inputs.start import (
    find_datasets,
    kind_of,
    slice_batches,
    without_autotune,
)

ROWS = 6001
ARRAYS = {
    "x": np.arange(ROWS * 6, dtype=np.float32).reshape(ROWS, 2, 3),
    "name": np.array([b"row %d" % row for row in range(ROWS)]),
}


def rows():
    return tf.data.Dataset.from_tensor_slices(ARRAYS)


CUT = {
    "batches": lambda: rows().batch(100),
    "without the rest": lambda: rows().batch(100, drop_remainder=True),
    "more than there are": lambda: rows().batch(7000),
    "none is whole": lambda: rows().batch(7000, drop_remainder=True),
    "stages after it": lambda: rows().batch(900).skip(1).take(4).repeat(3).prefetch(2),
    "one array": lambda: tf.data.Dataset.from_tensor_slices(np.arange(12_000)).batch(70),
}
LEFT = {
    "a part": lambda: rows().take(300).batch(100),
    "small batches": lambda: rows().batch(4),
    "shuffled": lambda: rows().shuffle(10, seed=1).batch(100),
    "batches of batches": lambda: rows().batch(100).batch(2),
    "sparse": lambda: tf.data.Dataset.from_tensor_slices(
        tf.sparse.from_dense(np.eye(12_000, 2, dtype=np.float32))
    ).batch(100),
}


def read(make, change):
    """Returns all elements, with their static shapes, and whether batches are cut as a whole."""
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        iterator = tf.compat.v1.data.make_initializable_iterator(make())
        element = iterator.get_next()
        start = without_autotune(iterator.initializer, iterator) if change else iterator.initializer
        kinds = {kind_of(operation) for operation in find_datasets(start.inputs[0].op)}
        found = []
        session.run(start)
        while True:
            try:
                found.append(session.run(element))
            except tf.errors.OutOfRangeError:
                return found, "Map" in kinds


@pytest.mark.parametrize("name", [*CUT, *LEFT])
def test_elements_are_the_same(name):
    make = {**CUT, **LEFT}[name]
    found, is_cut = read(make, change=True)
    expected, _ = read(make, change=False)
    assert is_cut == (name in CUT)
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        tf.nest.map_structure(np.testing.assert_array_equal, one, other, expand_composites=True)


@pytest.mark.parametrize("name", CUT)
def test_static_shapes_are_the_same(name):
    with tf.Graph().as_default():
        dataset = CUT[name]()
        variant = tf.data.experimental.to_variant(dataset)
        cut = slice_batches(variant.op)
        assert list(cut.element_spec) == tf.nest.flatten(dataset.element_spec)


def doubled(features, labels, mode):
    del labels
    return est.EstimatorSpec(mode, predictions={"twice": 2 * features["x"]})


def test_a_kept_model_takes_large_and_small_inputs_in_turn(tmp_path):
    graph = tf.Graph()
    with graph.as_default(), tf.compat.v1.Session(graph=graph) as session:
        tf.compat.v1.train.create_global_step()
        session.run(tf.compat.v1.global_variables_initializer())
        tf.compat.v1.train.Saver().save(session, str(tmp_path / "model.ckpt"), 0)
    estimator = est.Estimator(doubled, tmp_path)
    x = np.arange(36_000, dtype=np.float32).reshape(12_000, 3)

    def twice(array):
        def input_fn():
            return tf.data.Dataset.from_tensor_slices({"x": array}).batch(500)

        return np.stack([found["twice"] for found in estimator.predict(input_fn)])

    for array in (x, x, x[:700], x[:11_001], x[:3], x):
        np.testing.assert_array_equal(twice(array), 2 * array)
    x += 1
    np.testing.assert_array_equal(twice(x), 2 * x)
    model = estimator._open_models._models[0]
    starts = [op for op in model.built.graph.get_operations() if op.type == "MakeIterator"]
    kinds = [{kind_of(found) for found in find_datasets(op.inputs[0].op)} for op in starts]
    assert sum("Map" in found for found in kinds) == 2  # At first, and for all large ones since.
