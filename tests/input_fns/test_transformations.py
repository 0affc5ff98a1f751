import logging
import warnings

import numpy as np
import pytest
import tensorflow as tf
import tiers

from input_fns import map_and_batch, shuffle_and_repeat

THEIRS = tf.data.experimental


@pytest.fixture(autouse=True)
def _quiet():
    logger = tf.get_logger()
    level = logger.level
    logger.setLevel(logging.ERROR)  # theirs are deprecated and say so
    yield
    logger.setLevel(level)


def numbers(count=10):
    return tf.data.Dataset.range(count)


def assert_same(ours, theirs):
    assert len(ours) == len(theirs)
    for mine, other in zip(ours, theirs, strict=True):
        tf.nest.map_structure(np.testing.assert_array_equal, mine, other)


@pytest.mark.parametrize("buffer_size", [1, 4, 100])
@pytest.mark.parametrize("count", [None, -1, 1, 3])
def test_shuffle_and_repeat_gives_the_order_of_tf_data_experimental(elements, buffer_size, count):
    ours = elements(lambda: numbers().apply(shuffle_and_repeat(buffer_size, count, seed=7)), 35)
    theirs = elements(
        lambda: numbers().apply(THEIRS.shuffle_and_repeat(buffer_size, count, seed=7)), 35
    )
    assert ours == theirs
    assert len(ours) == {None: 35, -1: 35, 1: 10, 3: 30}[count]
    assert sorted(ours[:10]) == list(range(10))


def test_each_repetition_and_each_iteration_has_a_new_order():
    ours = numbers().apply(shuffle_and_repeat(10, 2, seed=3))
    theirs = numbers().apply(THEIRS.shuffle_and_repeat(10, 2, seed=3))
    first, second = list(ours.as_numpy_iterator()), list(ours.as_numpy_iterator())
    assert first[:10] != first[10:] != second[:10]
    assert [first, second] == [list(theirs.as_numpy_iterator()) for _ in range(2)]


def test_the_seed_of_the_graph_fixes_the_order():
    def order():
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            tf.compat.v1.set_random_seed(11)
            dataset = numbers(50).apply(shuffle_and_repeat(50)).batch(50)
            iterator = tf.compat.v1.data.make_initializable_iterator(dataset)
            element = iterator.get_next()
            session.run(iterator.initializer)
            return session.run(element).tolist()

    assert order() == order() != list(range(50))


def structure(number):
    return {"twice": number * 2, "pair": (tf.cast(number, tf.float32), tf.fill([2, 3], number))}


def sparse(number):
    return tf.SparseTensor(tf.stack([[number % 4]]), tf.stack([number]), [4])


def ragged(number):
    return tf.RaggedTensor.from_row_lengths(tf.range(number % 3 + 1), [number % 3, 1])


MAP_FUNCTIONS = [structure, sparse, ragged]
PARALLEL = [
    {},
    {"num_parallel_calls": 1},
    {"num_parallel_calls": 3},
    {"num_parallel_calls": tf.data.AUTOTUNE},
    {"num_parallel_batches": 2},
]


def dense(element):
    if isinstance(element, tf.SparseTensor):
        return tf.sparse.to_dense(element)
    return element.to_tensor(-1) if isinstance(element, tf.RaggedTensor) else element


@pytest.mark.parametrize("map_func", MAP_FUNCTIONS)
@pytest.mark.parametrize("parallel", tiers.every(2, PARALLEL), ids=str)
@pytest.mark.parametrize("drop_remainder", tiers.every(2, [True, False]))
def test_map_and_batch_gives_the_batches_of_tf_data_experimental(
    map_func, parallel, drop_remainder
):
    ours = numbers().apply(map_and_batch(map_func, 4, drop_remainder=drop_remainder, **parallel))
    theirs = numbers().apply(
        THEIRS.map_and_batch(map_func, 4, drop_remainder=drop_remainder, **parallel)
    )
    assert ours.element_spec == theirs.element_spec
    ours = list(ours.map(dense).as_numpy_iterator())
    assert len(ours) == (2 if drop_remainder else 3)
    assert_same(ours, list(theirs.map(dense).as_numpy_iterator()))


def test_map_and_batch_gives_the_same_in_a_graph(elements):
    ours = elements(lambda: numbers().apply(map_and_batch(structure, 4, 2)))
    theirs = elements(
        lambda: numbers().apply(THEIRS.map_and_batch(structure, 4, num_parallel_calls=2))
    )
    assert [len(batch["twice"]) for batch in ours] == [4, 4, 2]
    assert_same(ours, theirs)


def fails_at_five(number):
    return tf.debugging.check_numerics(1 / tf.cast(number - 5, tf.float32), "division")


def outcomes(dataset):
    """Returns the values or the class of the error of each call for the next element."""
    iterator, found = iter(dataset), []
    while True:
        try:
            found.append(next(iterator).numpy().tolist())
        except StopIteration:
            return found
        except tf.errors.OpError as error:
            found.append(type(error))


@pytest.mark.parametrize("parallel", PARALLEL, ids=str)
def test_an_error_of_the_map_function_affects_only_its_batch(parallel):
    ours = outcomes(numbers(12).apply(map_and_batch(fails_at_five, 4, **parallel)))
    theirs = outcomes(numbers(12).apply(THEIRS.map_and_batch(fails_at_five, 4, **parallel)))
    assert ours == theirs
    assert [type(one) for one in ours] == [list, type, list]
    assert ours[1] is tf.errors.InvalidArgumentError


def test_an_error_of_the_map_function_keeps_its_text():
    with pytest.raises(tf.errors.InvalidArgumentError, match="division : Tensor had Inf"):
        list(numbers().apply(map_and_batch(fails_at_five, 4)))


def test_elements_of_different_shapes_cannot_be_batched():
    with pytest.raises(tf.errors.InvalidArgumentError, match="number of elements does not match"):
        list(numbers().apply(map_and_batch(tf.range, 4)))


def test_arguments_may_be_tensors(elements):
    def make():
        four = tf.constant(4, tf.int64)
        shuffled = numbers(8).apply(shuffle_and_repeat(four, tf.constant(1, tf.int64), seed=1))
        return shuffled.apply(
            map_and_batch(lambda n: n * n, four, drop_remainder=tf.constant(True))
        )

    found = elements(make)
    assert sorted(np.concatenate(found)) == [n * n for n in range(8)]


def test_the_map_function_may_use_a_lookup_table(elements):
    def make():
        keys, values = tf.constant(["cat", "dog"]), tf.constant([10, 20])
        table = tf.lookup.StaticHashTable(
            tf.lookup.KeyValueTensorInitializer(keys, values), default_value=-1
        )
        words = tf.data.Dataset.from_tensor_slices(["dog", "cat", "cow"])
        return words.apply(map_and_batch(table.lookup, 2))

    assert [batch.tolist() for batch in elements(make)] == [[20, 10], [-1]]


def test_parallel_calls_and_parallel_batches_exclude_each_other():
    both = {"num_parallel_batches": 2, "num_parallel_calls": 3}
    with pytest.raises(ValueError, match="allows only one of") as theirs:
        THEIRS.map_and_batch(structure, 4, **both)
    with pytest.raises(ValueError, match="allows only one of") as ours:
        map_and_batch(structure, 4, **both)
    assert str(ours.value) == str(theirs.value)


def test_a_batch_size_of_zero_is_rejected_immediately():
    with pytest.raises(ValueError, match="batch_size must be 1 or more, but got 0"):
        map_and_batch(structure, 0)


def test_no_deprecation_warning_is_raised(caplog):
    tf.get_logger().setLevel(logging.DEBUG)
    with caplog.at_level(logging.DEBUG), warnings.catch_warnings():
        warnings.simplefilter("error")
        dataset = numbers().apply(shuffle_and_repeat(5, 1)).apply(map_and_batch(structure, 2))
        assert sum(1 for _ in dataset) == 5
    assert "deprecated" not in caplog.text
