"""Batches of rows of arrays are the same if they are cut or gathered as a whole."""

import numpy as np
import pytest
import tensorflow as tf
import tiers

import estimator_train as est
from estimator_train.engine.inputs.start import (
    find_datasets,
    find_kind,
    make_whole_batches,
    optimize_start,
)

ROWS = 6001
ARRAYS = {
    "x": np.arange(ROWS * 6, dtype=np.float32).reshape(ROWS, 2, 3),
    "name": np.array([b"row %d" % row for row in range(ROWS)]),
}


def rows():
    return tf.data.Dataset.from_tensor_slices(ARRAYS)


def add_one(batch):
    return {**batch, "x": batch["x"] + 1}


def with_options():
    options = tf.data.Options()
    options.deterministic = True
    return rows().shuffle(300, seed=5).batch(50).with_options(options)


CUT = {
    "batches": lambda: rows().batch(100),
    "without the rest": lambda: rows().batch(100, drop_remainder=True),
    "more than there are": lambda: rows().batch(7000),
    "none is whole": lambda: rows().batch(7000, drop_remainder=True),
    "stages after it": lambda: rows().batch(900).skip(1).take(4).repeat(3).prefetch(2),
    "one array": lambda: tf.data.Dataset.from_tensor_slices(np.arange(12_000)).batch(70),
}
GATHERED = {
    "a part": lambda: rows().skip(9).take(300).batch(100),
    "shuffled": lambda: rows().shuffle(900, seed=1).batch(100),
    "by the graph's seed": lambda: rows().shuffle(70_000).batch(100),
    "shuffled in each epoch": lambda: rows().shuffle(500, seed=1).repeat(3).batch(64).prefetch(2),
    "shuffled once": lambda: rows().shuffle(500, 1, False).repeat(3).batch(64),
    "repeated, then shuffled": lambda: rows().repeat(2).shuffle(8000, seed=7).batch(100),
    "shuffled twice": lambda: rows().shuffle(50, seed=1).shuffle(90, seed=2).batch(100),
    "without the rest": lambda: rows().shuffle(500, seed=1).batch(100, drop_remainder=True),
    "a shard": lambda: rows().shard(3, 1).shuffle(5000, seed=3).repeat(2).batch(30),
    "mapped": lambda: rows().shuffle(500, seed=1).batch(32).map(add_one).prefetch(1),
    "mapped in parallel": lambda: (
        rows().shuffle(500, seed=1).batch(32).map(add_one, tf.data.AUTOTUNE).take(50)
    ),
    "shuffled batches": lambda: rows().shuffle(50, seed=1).batch(32).shuffle(9, seed=1).repeat(2),
    "batches of batches": lambda: rows().shuffle(50, seed=1).batch(100).batch(2),
    "with options": with_options,
}
LEFT = {
    "small batches": lambda: rows().batch(4),
    "mapped before": lambda: rows().map(add_one).batch(100),
    "filtered before": lambda: rows().filter(lambda row: row["x"][0, 0] > 9).batch(100),
    "sparse": lambda: tf.data.Dataset.from_tensor_slices(
        tf.sparse.from_dense(np.eye(12_000, 2, dtype=np.float32))
    ).batch(100),
}
WHOLE = {f"cut {name}": make for name, make in CUT.items()} | {
    f"gathered {name}": make for name, make in GATHERED.items()
}


def read(make, change):
    """Returns all elements, with their static shapes, and whether batches are made as a whole."""
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        tf.compat.v1.set_random_seed(11)
        iterator = tf.compat.v1.data.make_initializable_iterator(make())
        element = iterator.get_next()
        start = optimize_start(iterator.initializer, iterator) if change else iterator.initializer
        kinds = [find_kind(operation.type) for operation in find_datasets(start.inputs[0].op)]
        found = []
        session.run(start)
        while True:
            try:
                found.append(session.run(element))
            except tf.errors.OutOfRangeError:
                return found, kinds[-1] == "Range"


@pytest.mark.parametrize("name", tiers.every(5, [*WHOLE, *LEFT]))
def test_elements_equal_those_of_the_plain_input(name):
    make = {**WHOLE, **LEFT}[name]
    found, is_whole = read(make, change=True)
    expected, _ = read(make, change=False)
    assert is_whole == (name in WHOLE)
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        tf.nest.map_structure(np.testing.assert_array_equal, one, other, expand_composites=True)


@pytest.mark.parametrize("name", WHOLE)
def test_static_shapes_equal_those_of_the_plain_input(name):
    with tf.Graph().as_default():
        dataset = WHOLE[name]()
        variant = tf.data.experimental.to_variant(dataset)
        whole = make_whole_batches(variant.op).op
        for attribute in ("output_types", "output_shapes"):
            assert whole.get_attr(attribute) == variant.op.get_attr(attribute)


def doubled(features, labels, mode):
    del labels
    return est.EstimatorSpec(mode, predictions={"twice": 2 * features["x"]})


def test_an_open_model_reads_large_and_small_inputs_alternately(tmp_path):
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
    kinds = [{find_kind(found.type) for found in find_datasets(op.inputs[0].op)} for op in starts]
    assert sum("Map" in found for found in kinds) == 2  # At first, and for all large ones since.
