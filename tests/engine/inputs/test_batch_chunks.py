"""Chunks have the batches of the input, and inputs without chunks are recognized."""

import numpy as np
import pytest
import tensorflow as tf

from estimator_train.engine.inputs.chunks import make_chunks
from estimator_train.engine.inputs.input_fn import Inputs

tf1 = tf.compat.v1
ROWS = 100
ARRAYS = {"x": np.arange(ROWS * 6, dtype=np.float32).reshape(ROWS, 2, 3), "y": np.arange(ROWS)}


def slices(arrays=ARRAYS):
    return tf.data.Dataset.from_tensor_slices(arrays)


def make_inputs(dataset):
    iterator = tf1.data.make_initializable_iterator(dataset)
    return Inputs(iterator.get_next(), None, iterator, iterator.initializer)


def save_position(dataset):
    inputs = make_inputs(dataset)
    tf.raw_ops.SerializeIterator(resource_handle=inputs.initializer.inputs[1])
    return inputs


CHUNKED = {
    "the usual order": lambda: slices().shuffle(50, seed=1).repeat().batch(8).prefetch(2),
    "shuffled once": lambda: slices().shuffle(500, 1, False).repeat().batch(8),
    "by the graph's seed": lambda: slices().shuffle(500).repeat().batch(8),
    "shuffled epochs": lambda: slices().repeat().shuffle(500, seed=1).batch(9),
    "in order": lambda: slices().repeat().batch(8, drop_remainder=True),
    "a part": lambda: slices().shard(2, 1).skip(3).take(20).repeat().batch(8),
    "one array": lambda: slices(np.arange(20.0)).repeat().batch(8).prefetch(tf.data.AUTOTUNE),
}
NOT_CHUNKED = {
    "one epoch": lambda: slices().shuffle(50).batch(8),
    "three epochs": lambda: slices().shuffle(50).repeat(3).batch(8),
    "rows end": lambda: slices().repeat().take(50).batch(8),
    "batches end": lambda: slices().repeat().batch(8).take(50),
    "smaller last batches": lambda: slices().shuffle(50).batch(8).repeat(),
    "mapped rows": lambda: slices().map(lambda row: row["x"]).repeat().batch(8),
    "mapped batches": lambda: slices().repeat().batch(8).map(lambda batch: batch["x"]),
    "small batches": lambda: slices().repeat().batch(4),
    "large batches": lambda: slices(np.zeros([8, 2**17], np.float32)).repeat().batch(8),
    "strings": lambda: slices(np.array([b"a"] * 20)).repeat().batch(8),
}


@pytest.mark.parametrize("make", CHUNKED.values(), ids=CHUNKED)
def test_batches_have_the_order_and_values_of_the_input(make):
    def read_batches(chunked):
        with tf.Graph().as_default(), tf1.Session() as session:
            tf1.set_random_seed(11)
            inputs = make_inputs(make())
            chunks = make_chunks(inputs) if chunked else None
            session.run(inputs.initializer)
            if chunks is not None:
                assert chunks.size == 32
                session.run(chunks.start)
            return [session.run(inputs.features) for _ in range(70)]

    for actual, expected in zip(read_batches(True), read_batches(False), strict=True):
        tf.nest.map_structure(np.testing.assert_array_equal, actual, expected)


def test_a_second_start_begins_with_the_first_batch():
    with tf.Graph().as_default(), tf1.Session() as session:
        inputs = make_inputs(slices(np.arange(100)).repeat().batch(8))
        chunks = make_chunks(inputs)
        for _ in range(2):
            session.run(chunks.start)
            firsts = [session.run(inputs.features)[0] for _ in range(40)]
            assert firsts == [8 * number % 100 for number in range(40)]


def test_a_chunk_has_at_most_32_batches_and_4_mb():
    sizes = []
    for values in (1, 2**15, 2**16):
        with tf.Graph().as_default():
            data = slices(np.zeros([8, values], np.float32)).repeat().batch(8)
            sizes.append(make_chunks(make_inputs(data)).size)
    assert sizes == [32, 4, 2]


def test_a_chunk_is_read_without_a_copy():
    with tf.Graph().as_default(), tf1.Session() as session:
        inputs = make_inputs(slices(np.zeros([64, 1000], np.float32)).repeat().batch(32))
        chunks = make_chunks(inputs)
        (chunk,) = chunks.read()
        session.run(chunks.start)
        session.run(inputs.features)
        trace = tf1.RunMetadata()
        session.run(chunk.op, options=tf1.RunOptions(trace_level=3), run_metadata=trace)
    nodes = [node for device in trace.step_stats.dev_stats for node in device.node_stats]
    allocated = [memory.total_bytes for node in nodes for memory in node.memory]
    assert "ReadVariableOp" in "".join(node.node_name for node in nodes)
    assert sum(allocated) < 1000


@pytest.mark.parametrize("make", NOT_CHUNKED.values(), ids=NOT_CHUNKED)
def test_other_inputs_have_no_chunks(make):
    with tf.Graph().as_default():
        assert make_chunks(make_inputs(make())) is None


def test_an_iterator_whose_position_is_saved_has_no_chunks():
    with tf.Graph().as_default():
        dataset = CHUNKED["the usual order"]()
        assert make_chunks(save_position(dataset)) is None


def test_tensors_without_a_dataset_have_no_chunks():
    with tf.Graph().as_default():
        assert make_chunks(Inputs(tf.zeros([8, 2]), None)) is None
