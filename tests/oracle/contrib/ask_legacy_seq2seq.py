"""Questions about tf.contrib.legacy_seq2seq."""

import tensorflow as tf
from asking import main, numbers, question, signature

seq2seq = tf.contrib.legacy_seq2seq
WEIGHTS = [[1.0, 1.0], [0.5, 1.0], [0.0, 0.0]]


def inputs(time=3, start=0):
    return [tf.constant(numbers(2, 3, start=start + i)) for i in range(time)]


def symbols(time=3):
    return [tf.constant([i % 4, (i + 2) % 4]) for i in range(time)]


def cell():
    return tf.nn.rnn_cell.GRUCell(4)


@question
def arguments():
    names = (
        "rnn_decoder basic_rnn_seq2seq tied_rnn_seq2seq embedding_rnn_decoder "
        "embedding_rnn_seq2seq sequence_loss sequence_loss_by_example"
    )
    return {name: signature(getattr(seq2seq, name)) for name in names.split()}


@question
def rnn_decoder():
    outputs, state = seq2seq.rnn_decoder(inputs(), tf.constant(numbers(2, 4)), cell())
    return {"outputs": outputs, "state": state}


@question
def rnn_decoder_with_a_loop_function():
    outputs, state = seq2seq.rnn_decoder(
        inputs(),
        tf.constant(numbers(2, 4)),
        cell(),
        lambda previous, i: previous[:, :3] + i,
        "mine",
    )
    return {"outputs": outputs, "state": state}


@question
def basic_rnn_seq2seq():
    outputs, state = seq2seq.basic_rnn_seq2seq(inputs(), inputs(2, 5), cell())
    return {"outputs": outputs, "state": state}


@question
def tied_rnn_seq2seq():
    outputs, state = seq2seq.tied_rnn_seq2seq(inputs(), inputs(2, 5), cell())
    return {"outputs": outputs, "state": state}


@question
def embedding_rnn_seq2seq():
    outputs, state = seq2seq.embedding_rnn_seq2seq(symbols(), symbols(2), cell(), 4, 4, 3)
    return {"outputs": outputs, "state": state}


@question
def embedding_rnn_seq2seq_that_feeds_its_outputs():
    outputs, state = seq2seq.embedding_rnn_seq2seq(
        symbols(), symbols(2), cell(), 4, 4, 3, feed_previous=True
    )
    return {"outputs": outputs, "state": state}


@question
def embedding_rnn_decoder_with_a_projection():
    projection = tf.constant(numbers(4, 4)), tf.constant(numbers(4))
    outputs, state = seq2seq.embedding_rnn_decoder(
        symbols(), tf.constant(numbers(2, 4)), cell(), 4, 4, projection, True, False
    )
    return {"outputs": outputs, "state": state}


def losses(function, **options):
    logits = [tf.constant(numbers(2, 4, start=i)) for i in range(3)]
    weights = [tf.constant(weight) for weight in WEIGHTS]
    return {"loss": function(logits, symbols(), weights, **options)}


@question
def sequence_loss():
    return losses(seq2seq.sequence_loss)


@question
def sequence_loss_without_averages():
    return losses(seq2seq.sequence_loss, average_across_timesteps=False, average_across_batch=False)


@question
def sequence_loss_by_example():
    return losses(seq2seq.sequence_loss_by_example)


@question
def sequence_loss_by_example_of_other_lengths():
    return {"loss": seq2seq.sequence_loss_by_example([tf.zeros([1, 2])], [], [])}


@question
def sequence_loss_with_a_function():
    return losses(
        seq2seq.sequence_loss_by_example,
        softmax_loss_function=lambda labels, logits: tf.cast(labels, tf.float32) + logits[:, 0],
    )


if __name__ == "__main__":
    main()
