"""Questions about subclasses of attention mechanisms and helpers that use fields of their bases."""

from collections import namedtuple

import tensorflow as tf
from asking import main, numbers, question

seq2seq = tf.contrib.seq2seq
KINDS = ["BahdanauAttention", "LuongAttention",
         "BahdanauMonotonicAttention", "LuongMonotonicAttention"]  # fmt: skip
State = namedtuple("State", ["alignments", "total"])


def memory():
    return tf.constant(numbers(2, 3, 4))


def query():
    return tf.constant(numbers(2, 4, start=5))


def previous():
    return tf.constant([[0.5, 0.5, 0.0], [0.2, 0.3, 0.5]])


class LocationAttention(seq2seq.BahdanauAttention):
    """Attention whose state is the last weights and their sum over the steps."""

    def __init__(self, num_units, memory, lengths):
        super().__init__(num_units, memory, lengths, probability_fn=None, name="Location")
        self.location_layer = tf.layers.Dense(num_units, use_bias=False, name="location")

    @property
    def state_size(self):
        return State(self._alignments_size, self._alignments_size)

    def initial_state(self, batch_size, dtype):
        zeros = self.initial_alignments(batch_size, dtype)
        return State(zeros, zeros)

    def __call__(self, query, state):
        hidden = self.query_layer(query) if self.query_layer else query
        hidden = self.keys + hidden[:, None] + self.location_layer(state.total[:, :, None])
        alignments = self._probability_fn(tf.reduce_sum(tf.tanh(hidden), 2), state)
        return alignments, State(alignments, state.total + alignments)


class FixedSizeHelper(seq2seq.TrainingHelper):
    @property
    def batch_size(self):
        return tf.constant(2)

    @property
    def sample_ids_shape(self):
        return tf.TensorShape([])


class LastTokenHelper(seq2seq.GreedyEmbeddingHelper):
    @property
    def batch_size(self):
        return self._batch_size

    def sample(self, time, outputs, state, name=None):
        return tf.fill([self._batch_size], self._end_token - time)

    def next_inputs(self, time, outputs, state, sample_ids, name=None):
        return tf.equal(time, 2), self._embedding_fn(sample_ids) + self._start_inputs, state


@question
def properties():
    names = ["keys", "values", "batch_size", "alignments_size", "state_size", "memory_layer",
             "query_layer"]  # fmt: skip
    found = {kind: [] for kind in KINDS}
    for kind in KINDS:
        cls = getattr(seq2seq, kind)
        found[kind] = [name for name in names if isinstance(getattr(cls, name), property)]
    helper = seq2seq.TrainingHelper
    names = ["batch_size", "inputs", "sequence_length", "sample_ids_shape", "sample_ids_dtype"]
    found["helper"] = [name for name in names if isinstance(getattr(helper, name), property)]
    return found


@question
def fields():
    results = {}
    for kind in KINDS:
        with tf.variable_scope(kind):
            one = getattr(seq2seq, kind)(4, memory(), [2, 3])
        sizes = [one._batch_size, one.batch_size, one._alignments_size, one.state_size]
        results[kind] = [str(size) for size in sizes] + [str(one.query_layer is None)]
        results[kind + " keys"] = one.keys - one._keys + one._memory_layer(one._values)
        results[kind + " fn"] = one._probability_fn(tf.constant(numbers(2, 3)), previous())
    return results


@question
def location():
    with tf.variable_scope("location"):
        attention = LocationAttention(4, memory(), [2, 3])
        first, state = attention(query(), attention.initial_state(2, tf.float32))
        second, state = attention(query(), state)
    return {"first": first, "second": second, "total": state.total}


@question
def decoded():
    attention = LocationAttention(4, memory(), [2, 3])
    cell = seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(3), attention, output_attention=False)
    helper = FixedSizeHelper(tf.constant(numbers(2, 3, 4)), [3, 2])
    decoder = seq2seq.BasicDecoder(cell, helper, cell.zero_state(2, tf.float32))
    outputs, state, lengths = seq2seq.dynamic_decode(decoder)
    return {"outputs": outputs.rnn_output, "total": state.attention_state.total, "n": lengths}


@question
def sampled():
    helper = LastTokenHelper(tf.constant(numbers(5, 4)), tf.constant([1, 2]), 4)
    cell = tf.nn.rnn_cell.GRUCell(3)
    decoder = seq2seq.BasicDecoder(cell, helper, cell.zero_state(2, tf.float32))
    outputs, _, lengths = seq2seq.dynamic_decode(decoder, maximum_iterations=5)
    return {"outputs": outputs.rnn_output, "samples": outputs.sample_id, "n": lengths}


if __name__ == "__main__":
    main()
