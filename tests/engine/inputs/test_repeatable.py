"""Which datasets are known to give the same rows again."""

import numpy as np
import pytest
import tensorflow as tf

from estimator_train.engine.inputs.reused_input import gives_same_rows_again
from estimator_train.engine.tf_internals import graphs

Dataset = tf.data.Dataset


def look_up():
    pairs = tf.lookup.KeyValueTensorInitializer(["a"], [1])
    return Dataset.from_tensors(["a"]).map(tf.lookup.StaticHashTable(pairs, 0).lookup)


def look_up_in_a_mutable_table():
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, 0)
    return Dataset.from_tensors(["a"]).map(table.lookup)


def call_python(stateful):
    return Dataset.range(3).map(
        lambda row: tf.numpy_function(lambda value: value, [row], tf.int64, stateful=stateful)
    )


def read_lines():
    names = Dataset.list_files("*.txt", shuffle=False)
    return names.interleave(tf.data.TextLineDataset, num_parallel_calls=2)


SAME = {
    "arrays": lambda: Dataset.from_tensor_slices(np.arange(4)).map(lambda row: row + 1).batch(2),
    "files": read_lines,
    "a cache": lambda: Dataset.range(4).cache().repeat(2).prefetch(1),
    "windows": lambda: Dataset.range(4).window(2).flat_map(lambda rows: rows),
    "a table": look_up,
    "stateless random numbers": lambda: Dataset.range(2).map(
        lambda _: tf.random.stateless_uniform([], [1, 2])
    ),
}
OTHER = {
    "a generator": lambda: Dataset.from_generator(
        lambda: iter([1]), output_signature=tf.TensorSpec([], tf.int32)
    ),
    "a Python function": lambda: call_python(stateful=True),
    "a Python function that claims to be pure": lambda: call_python(stateful=False),
    "a Python function in a nested dataset": lambda: Dataset.range(2).flat_map(
        lambda _: call_python(stateful=True)
    ),
    "random numbers": lambda: Dataset.range(3).map(lambda _: tf.random.uniform([])),
    "a shuffle": lambda: Dataset.range(3).shuffle(3, seed=1),
    "a mixture": lambda: Dataset.sample_from_datasets([Dataset.range(2)] * 2, seed=1),
    "a table that changes": look_up_in_a_mutable_table,
}


@pytest.mark.parametrize(
    ("make", "expected"),
    [(make, True) for make in SAME.values()] + [(make, False) for make in OTHER.values()],
    ids=[*SAME, *OTHER],
)
def test_only_known_operations_give_the_same_rows_again(make, expected):
    with tf.Graph().as_default():
        variant = tf.data.experimental.to_variant(make())
        assert gives_same_rows_again(list(graphs.walk([variant.op]))) is expected
