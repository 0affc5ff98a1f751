"""Large arrays of an input_fn stay outside of the graph, and results stay the same."""

import os

import numpy as np
import pytest
import tensorflow as tf

import estimator_train as est
from estimator_train.engine.inputs import input_fn
from estimator_train.engine.tf_internals import constants

ROWS = 100_000


def kept_outside():
    return constants.replace_constants(input_fn.make_external_constant, input_fn.MIN_BYTES)


@pytest.fixture
def large():
    x = np.random.RandomState(0).randn(ROWS, 3).astype(np.float32)
    return x, x @ np.float32([[1.0], [-2.0], [0.5]])


@pytest.fixture
def inside(monkeypatch):
    """Makes every array a constant of the graph."""

    def switch(on):
        monkeypatch.setattr(input_fn, "MIN_BYTES", 2**40 if on else 2**16)

    return switch


def slices(x, y):
    return lambda: tf.data.Dataset.from_tensor_slices(({"x": x}, y)).shuffle(100).repeat().batch(8)


def file_sizes(directory):
    return {name: os.path.getsize(f"{directory}/{name}") for name in os.listdir(directory)}


def rows_of(values):
    return lambda: tf.data.Dataset.from_tensor_slices({"x": values}).batch(1000)


@pytest.fixture
def estimator(model_fn, input_fn, tmp_path):
    return est.Estimator(model_fn, tmp_path / "small").train(input_fn, steps=5)


def predicted(estimator, input_fn):
    return np.array([p["p"] for p in estimator.predict(input_fn)])


def test_no_file_of_a_training_holds_the_arrays(model_fn, large, tmp_path):
    estimator = est.Estimator(model_fn, tmp_path).train(slices(*large), steps=20)
    estimator.evaluate(slices(*large), steps=2)
    assert max(file_sizes(tmp_path).values()) < 300_000 < large[0].nbytes
    assert {"graph.pbtxt", "model.ckpt-20.meta"} <= set(file_sizes(tmp_path))


def test_training_is_the_same_as_with_constants(model_fn, large, inside, tmp_path):
    found = []
    for on in (False, True):
        inside(on)
        config = est.RunConfig(f"{tmp_path}/{on}", tf_random_seed=3)
        estimator = est.Estimator(model_fn, config=config).train(slices(*large), steps=20)
        found.append(
            (estimator.get_variable_value("w"), sum(file_sizes(config.model_dir).values()))
        )
    (outside_w, outside_size), (inside_w, inside_size) = found
    np.testing.assert_array_equal(outside_w, inside_w)
    assert outside_size < 800_000 < large[0].nbytes < inside_size


@pytest.mark.long
@pytest.mark.parametrize("made", ["constant", "cast", "reshaped", "frame"])
def test_arrays_converted_to_tensors_first_stay_out_of_the_graph(estimator, large, made):
    x = large[0]
    w = estimator.get_variable_value("w")

    def tensor():
        if made == "constant":
            return tf.constant(x.astype(np.float64), tf.float32)
        if made == "cast":
            return tf.cast(x.astype(np.float16), tf.float32)
        if made == "reshaped":
            return tf.constant(x.reshape(-1), shape=[ROWS, 3])
        return __import__("pandas").DataFrame(x)

    found = predicted(estimator, lambda: rows_of(tensor())())
    np.testing.assert_allclose(found, x @ w, atol=0.02 if made == "cast" else 1e-5)


@pytest.mark.long
def test_a_buffer_that_an_input_fn_fills_twice_gives_both_contents(estimator):
    w = estimator.get_variable_value("w")

    def input_fn():
        buffer, parts = np.empty([ROWS, 3], np.float32), []
        for value in (1.0, 2.0):
            buffer[:] = value
            parts.append(tf.data.Dataset.from_tensor_slices({"x": buffer}))
        return parts[0].concatenate(parts[1]).batch(1000)

    for _ in range(2):  # The first builds the model, the second reuses the model.
        found = predicted(estimator, input_fn)
        assert found.shape == (2 * ROWS, 1)
        np.testing.assert_allclose(
            found[[0, ROWS - 1, ROWS, -1], 0], w.sum() * np.float32([1, 1, 2, 2]), 1e-5
        )


def test_an_array_changed_between_two_calls_has_its_new_values(estimator, large):
    x, w = large[0], estimator.get_variable_value("w")
    for _ in range(3):
        np.testing.assert_allclose(predicted(estimator, rows_of(x)), x @ w, atol=1e-5)
        x *= -1.5


@pytest.mark.long
def test_an_array_changed_while_it_is_read_does_not_change_the_input(estimator, large):
    x, w = large[0], estimator.get_variable_value("w")
    for _ in range(2):
        expected = x @ w
        generator = estimator.predict(rows_of(x))
        found = [next(generator)["p"]]
        x += 1.0
        found += [p["p"] for p in generator]
        np.testing.assert_allclose(found, expected, atol=1e-5)


def test_read_only_arrays_are_not_copied(tmp_path):
    values = np.zeros(ROWS, np.float32)
    np.save(tmp_path / "values.npy", values)
    values.flags.writeable = False
    view = values[:]
    changeable = np.zeros(ROWS, np.float32)
    frozen_view = changeable[:]
    frozen_view.flags.writeable = False
    with tf.Graph().as_default() as graph, kept_outside():
        constants = [tf.constant(array) for array in (values, view, changeable, frozen_view)]
        mapped = tf.constant(np.load(tmp_path / "values.npy", mmap_mode="r"))
    assert {constant.op.type for constant in constants} == {input_fn.EXTERNAL_ARRAY}
    kept = [input_fn.find_external_array(graph, one.op.name) for one in constants]
    assert [np.shares_memory(array, values) for array in kept] == [True, True, False, False]
    assert not any(np.shares_memory(array, changeable) for array in kept)
    assert isinstance(input_fn.find_external_array(graph, mapped.op.name), np.memmap)


@pytest.mark.parametrize(
    "dtype", ["float64", "int8", "uint16", "bool", "complex64", ">f4", "U5", "O"]
)
def test_arrays_of_every_dtype_have_their_values(dtype):
    values = np.arange(70_000) % 100
    array = values.astype(str).astype(object) if dtype == "O" else values.astype(dtype)
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        plain = session.run(tf.constant(array[:200]))
        with kept_outside():
            tensor = tf.constant(array, name="values")
        assert tensor.op.type == ("Const" if dtype in (">f4", "U5", "O") else "PyFuncStateless")
        assert (tensor.shape, tensor.op.name) == ([70_000], "values")
        found = session.run(tensor)
    assert found.dtype == plain.dtype
    np.testing.assert_array_equal(found[:200], plain)


@pytest.mark.long
def test_one_shot_and_initializable_iterators_read_external_arrays(estimator, large):
    x, w = large[0], estimator.get_variable_value("w")

    def one_shot():
        return tf.compat.v1.data.make_one_shot_iterator(rows_of(x)()).get_next()

    def with_tables():
        iterator = tf.compat.v1.data.make_initializable_iterator(rows_of(x)())
        tables = tf.compat.v1.GraphKeys.TABLE_INITIALIZERS
        tf.compat.v1.add_to_collection(tables, iterator.initializer)
        return iterator.get_next()

    for each in (one_shot, with_tables, one_shot):
        np.testing.assert_allclose(predicted(estimator, each), x @ w, atol=1e-5)


def test_tensors_without_a_dataset_train_in_loops(model_fn, large, tmp_path):
    x, y = large
    estimator = est.Estimator(model_fn, tmp_path)
    estimator.train(lambda: ({"x": tf.constant(x)}, tf.constant(y)), steps=200)
    np.testing.assert_allclose(estimator.get_variable_value("w"), [[1], [-2], [0.5]], atol=1e-3)
    assert max(file_sizes(tmp_path).values()) < 300_000


@pytest.mark.long
def test_replicas_read_external_arrays(model_fn, large, tmp_path):
    strategy = tf.distribute.MirroredStrategy(["/cpu:0"])
    config = est.RunConfig(tmp_path, train_distribute=strategy, eval_distribute=strategy)
    estimator = est.Estimator(model_fn, config=config).train(slices(*large), steps=200)
    np.testing.assert_allclose(estimator.get_variable_value("w"), [[1], [-2], [0.5]], atol=1e-2)
    assert estimator.evaluate(slices(*large), steps=3)["loss"] < 1e-3
    assert max(file_sizes(tmp_path).values()) < 400_000


@pytest.mark.long
def test_a_training_that_began_with_constants_continues(model_fn, large, inside, tmp_path):
    seen = []

    def noted(features, labels, mode):
        note = tf.numpy_function(
            lambda x: seen.append(x.copy()) or np.int64(0), [features["x"]], tf.int64
        )
        with tf.control_dependencies([note]):
            return model_fn({"x": tf.identity(features["x"])}, labels, mode)

    def in_order():
        return tf.data.Dataset.from_tensor_slices(({"x": large[0]}, large[1])).batch(8)

    config = est.RunConfig(tmp_path, save_input_position=True)
    inside(True)
    est.Estimator(noted, config=config).train(in_order, steps=7)
    inside(False)
    est.Estimator(noted, config=config).train(in_order, steps=7)
    np.testing.assert_array_equal(np.concatenate(seen), large[0][:112])


def test_a_meta_file_can_be_imported(model_fn, large, tmp_path):
    estimator = est.Estimator(model_fn, tmp_path).train(slices(*large), steps=5)
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        saver = tf.compat.v1.train.import_meta_graph(f"{tmp_path}/model.ckpt-5.meta")
        saver.restore(session, estimator.latest_checkpoint())
        w = session.run("w/Read/ReadVariableOp:0")
    np.testing.assert_array_equal(w, estimator.get_variable_value("w"))


def operations(estimator):
    (model,) = estimator._open_models._models
    return len(model.built.graph.get_operations())


def test_inputs_of_one_form_do_not_grow_the_graph(estimator, large):
    x, w = large[0], estimator.get_variable_value("w")
    sizes = []
    for count in (ROWS, 1000, 7, ROWS, 1, 1000, ROWS):
        found = predicted(estimator, rows_of(x[:count]))
        np.testing.assert_allclose(found, x[:count] @ w, atol=1e-5)
        sizes.append(operations(estimator))
    # The first was built in; then there are forms for few, some and many rows.
    assert sizes[4:] == [sizes[3]] * 3


@pytest.mark.long
def test_inputs_of_changing_forms_do_not_grow_the_graph_without_limit(estimator):
    sizes = []
    for count in range(1, 16):
        values = np.ones([20, 3], np.float32)
        found = predicted(estimator, lambda: rows_of(values)().unbatch().take(count).batch(1000))  # noqa: B023
        assert len(found) == count
        sizes.append(operations(estimator))
    assert sizes[-1] == sizes[-5]


@pytest.mark.long
def test_random_numbers_of_an_input_restart_at_each_call(estimator):
    def noisy():
        values = np.zeros([8, 3], np.float32)
        data = tf.data.Dataset.from_tensor_slices({"x": values})
        return data.map(lambda f: {"x": f["x"] + tf.random.uniform([3], seed=4)}).batch(1000)

    def noise_outside():
        values = tf.random.uniform([8, 3], seed=4)
        return tf.data.Dataset.from_tensor_slices({"x": values}).batch(1000)

    for each in (noisy, noise_outside):
        found = [predicted(estimator, each) for _ in range(4)]
        for other in found[2:]:
            np.testing.assert_array_equal(found[1], other)
        assert len(np.unique(found[1])) == 8


@pytest.mark.long
def test_a_dataset_may_read_another_iterator(estimator):
    w = estimator.get_variable_value("w").sum()

    def input_fn(scale):
        other = tf.data.Dataset.from_tensor_slices(np.float32([1, 2, 3]) * scale)
        iterator = tf.compat.v1.data.make_initializable_iterator(other)
        tables = tf.compat.v1.GraphKeys.TABLE_INITIALIZERS
        tf.compat.v1.add_to_collection(tables, iterator.initializer)
        rows = tf.data.Dataset.range(3)
        return rows.map(lambda _: {"x": iterator.get_next() * tf.ones([3])}).batch(1000)

    for scale in (1, 10, 100):
        found = predicted(estimator, lambda: input_fn(scale))  # noqa: B023
        np.testing.assert_allclose(found[:, 0], np.float32([1, 2, 3]) * scale * w, rtol=1e-4)


def test_the_second_input_may_have_another_structure(estimator, large):
    x, w = large[0], estimator.get_variable_value("w")
    for each in (rows_of(x), lambda: tf.data.Dataset.from_tensors({"x": x}), rows_of(x)):
        np.testing.assert_allclose(predicted(estimator, each), x @ w, atol=1e-5)
