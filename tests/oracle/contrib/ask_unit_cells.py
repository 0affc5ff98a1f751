"""Questions about cells of units of tf.contrib.rnn, and tf.contrib.cudnn_rnn."""

import tensorflow as tf
from asking import main, numbers, question
from recurrent import run

rnn = tf.contrib.rnn


@question
def ugrnn():
    return run(rnn.UGRNNCell(4))


@question
def ugrnn_with_arguments():
    return run(rnn.UGRNNCell(4, forget_bias=0.5, activation=tf.nn.relu))


@question
def highway():
    return run(rnn.HighwayWrapper(rnn.GRUCell(3)))


@question
def highway_with_a_transform():
    return run(rnn.HighwayWrapper(rnn.GRUCell(3), couple_carry_transform_gates=False))


@question
def highway_of_another_size():
    return run(rnn.HighwayWrapper(rnn.GRUCell(4)))


@question
def sru():
    return run(rnn.SRUCell(4))


@question
def sru_with_an_activation():
    return run(rnn.SRUCell(3, tf.nn.relu))


@question
def attention():
    return run(rnn.AttentionCellWrapper(rnn.GRUCell(4), 2))


@question
def attention_of_an_lstm():
    cell = rnn.AttentionCellWrapper(rnn.LSTMCell(4), 3, attn_size=2, attn_vec_size=5, input_size=6)
    return run(cell)


@question
def attention_of_no_length():
    return run(rnn.AttentionCellWrapper(rnn.GRUCell(4), 0))


@question
def cudnn_compatible_lstm():
    return run(tf.contrib.cudnn_rnn.CudnnCompatibleLSTMCell(4))


@question
def cudnn_compatible_gru():
    return run(tf.contrib.cudnn_rnn.CudnnCompatibleGRUCell(4))


@question
def gradients():
    outputs, _ = tf.nn.dynamic_rnn(
        rnn.UGRNNCell(2), tf.constant(numbers(2, 3, 2)), dtype=tf.float32
    )
    variables = sorted(tf.trainable_variables(), key=lambda variable: variable.name)
    return {"gradients": tf.gradients(outputs, variables)}


if __name__ == "__main__":
    main()
