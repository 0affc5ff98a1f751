"""Questions about tf.contrib.legacy_seq2seq: attention, tied embeddings, buckets."""

import tensorflow as tf
from asking import main, numbers, question, signature

seq2seq = tf.contrib.legacy_seq2seq


def inputs(time=3, start=0):
    return [tf.constant(numbers(2, 3, start=start + i)) for i in range(time)]


def symbols(time=3):
    return [tf.constant([i % 4, (i + 2) % 4]) for i in range(time)]


def attention():
    return tf.constant(numbers(2, 5, 3, start=11))


def decoded(found):
    return {"outputs": found[0], "state": found[1]}


@question
def arguments():
    names = (
        "attention_decoder embedding_attention_decoder embedding_attention_seq2seq "
        "embedding_tied_rnn_seq2seq model_with_buckets"
    )
    return {name: signature(getattr(seq2seq, name)) for name in names.split()}


@question
def attention_decoder():
    cell = tf.nn.rnn_cell.GRUCell(4)
    found = seq2seq.attention_decoder(inputs(), tf.constant(numbers(2, 4)), attention(), cell)
    return decoded(found)


@question
def attention_decoder_with_heads():
    cell = tf.nn.rnn_cell.GRUCell(4)
    start = tf.constant(numbers(2, 4))
    found = seq2seq.attention_decoder(
        inputs(), start, attention(), cell, 5, 2, initial_state_attention=True, scope="mine"
    )
    return decoded(found)


@question
def attention_decoder_that_loops():
    cell = tf.nn.rnn_cell.LSTMCell(4)
    start = tf.nn.rnn_cell.LSTMStateTuple(*(tf.constant(numbers(2, 4, start=i)) for i in (0, 3)))
    found = seq2seq.attention_decoder(
        inputs(), start, attention(), cell, loop_function=lambda last, i: last[:, :3] * i
    )
    return decoded(found)


@question
def attention_decoder_without_inputs():
    cell = tf.nn.rnn_cell.GRUCell(4)
    return decoded(seq2seq.attention_decoder([], tf.zeros([2, 4]), attention(), cell))


@question
def embedding_attention_decoder():
    cell = tf.nn.rnn_cell.GRUCell(4)
    start = tf.constant(numbers(2, 4))
    found = seq2seq.embedding_attention_decoder(symbols(), start, attention(), cell, 4, 3)
    return decoded(found)


@question
def embedding_attention_decoder_that_feeds():
    cell = tf.nn.rnn_cell.GRUCell(4)
    found = seq2seq.embedding_attention_decoder(
        symbols(),
        tf.constant(numbers(2, 4)),
        attention(),
        cell,
        6,
        3,
        output_projection=(tf.constant(numbers(4, 6)), tf.constant(numbers(6))),
        feed_previous=True,
    )
    return decoded(found)


@question
def embedding_attention_seq2seq():
    cell = tf.nn.rnn_cell.GRUCell(4)
    return decoded(seq2seq.embedding_attention_seq2seq(symbols(), symbols(2), cell, 4, 5, 3))


@question
def embedding_attention_seq2seq_of_two_layers():
    cells = [tf.nn.rnn_cell.GRUCell(4) for _ in range(2)]
    found = seq2seq.embedding_attention_seq2seq(
        symbols(),
        symbols(2),
        tf.nn.rnn_cell.MultiRNNCell(cells),
        4,
        5,
        3,
        num_heads=2,
        feed_previous=True,
        initial_state_attention=True,
    )
    return decoded(found)


@question
def embedding_attention_seq2seq_with_a_projection():
    cell = tf.nn.rnn_cell.GRUCell(4)
    projection = tf.constant(numbers(4, 5)), tf.constant(numbers(5))
    found = seq2seq.embedding_attention_seq2seq(
        symbols(), symbols(2), cell, 4, 5, 3, output_projection=projection
    )
    return decoded(found)


@question
def embedding_attention_seq2seq_that_may_feed():
    cell = tf.nn.rnn_cell.GRUCell(4)
    found = seq2seq.embedding_attention_seq2seq(
        symbols(), symbols(2), cell, 4, 5, 3, feed_previous=tf.constant(True)
    )
    return decoded(found)


@question
def embedding_tied():
    cell = tf.nn.rnn_cell.GRUCell(4)
    return decoded(seq2seq.embedding_tied_rnn_seq2seq(symbols(), symbols(2), cell, 4, 3))


@question
def embedding_tied_with_fewer_symbols():
    cell = tf.nn.rnn_cell.GRUCell(4)
    found = seq2seq.embedding_tied_rnn_seq2seq(
        symbols(), symbols(2), cell, 6, 3, num_decoder_symbols=4, feed_previous=True
    )
    return decoded(found)


@question
def embedding_tied_with_a_projection():
    cell = tf.nn.rnn_cell.GRUCell(4)
    found = seq2seq.embedding_tied_rnn_seq2seq(
        symbols(),
        symbols(2),
        cell,
        4,
        3,
        output_projection=(tf.constant(numbers(4, 4)), tf.constant(numbers(4))),
    )
    return decoded(found)


def embed(sequence):
    return [tf.one_hot(one, 4) for one in sequence]


def bucketed(**options):
    weights = [tf.constant([1.0, 0.5]), tf.constant([1.0, 0.0]), tf.constant([0.5, 1.0])]
    outputs, losses = seq2seq.model_with_buckets(
        symbols(4),
        symbols(3),
        symbols(3),
        weights,
        [(2, 1), (4, 3)],
        lambda x, y: seq2seq.basic_rnn_seq2seq(embed(x), embed(y), tf.nn.rnn_cell.GRUCell(4)),
        **options,
    )
    return {"outputs": [o for one in outputs for o in one], "losses": losses}


@question
def buckets():
    return bucketed()


@question
def buckets_of_examples():
    return bucketed(per_example_loss=True, name="mine")


@question
def buckets_that_are_too_long():
    found = seq2seq.model_with_buckets(symbols(1), symbols(3), symbols(3), [], [(2, 1)], None)
    return {"losses": found[1]}


if __name__ == "__main__":
    main()
