"""Questions about cells of tf.contrib.rnn that convolve."""

import tensorflow as tf
from asking import main, numbers, question, signature

rnn = tf.contrib.rnn
PICTURES = numbers(2, 4, 3, 2)


def steps(cell, inputs, count=2):
    state = cell.zero_state(2, tf.float32)
    for _ in range(count):
        output, state = cell(inputs, state)
    sizes = [str(size) for size in [cell.output_size] + list(cell.state_size)]
    return {"output": output, "state": state, "sizes": sizes, "name": output.name}


@question
def signatures():
    names = ["ConvLSTMCell", "Conv1DLSTMCell", "Conv2DLSTMCell", "Conv3DLSTMCell"]
    return {name: signature(getattr(rnn, name).__init__) for name in names}


@question
def of_pictures():
    cell = rnn.ConvLSTMCell(2, [4, 3, 2], 3, [2, 3])
    return steps(cell, tf.constant(PICTURES))


@question
def of_pictures_by_name():
    cell = rnn.Conv2DLSTMCell(
        input_shape=[4, 3, 2], output_channels=1, kernel_shape=[3, 3], use_bias=False
    )
    return steps(cell, tf.constant(PICTURES))


@question
def with_skips():
    cell = rnn.ConvLSTMCell(
        2, [4, 3, 2], 3, [1, 1], skip_connection=True, forget_bias=0.5, name="own"
    )
    return steps(cell, tf.constant(PICTURES), count=1)


@question
def of_series():
    cell = rnn.Conv1DLSTMCell(input_shape=[5, 2], output_channels=2, kernel_shape=[3])
    return steps(cell, tf.constant(numbers(2, 5, 2)))


@question
def of_volumes():
    cell = rnn.Conv3DLSTMCell(input_shape=[2, 3, 2, 1], output_channels=2, kernel_shape=[2, 2, 2])
    return steps(cell, tf.constant(numbers(2, 2, 3, 2, 1)))


@question
def of_a_wrong_shape():
    return {"made": repr(rnn.ConvLSTMCell(2, [4, 3], 3, [2, 3]))}


@question
def over_time():
    cell = rnn.ConvLSTMCell(2, [4, 3, 2], 1, [2, 2])
    inputs = tf.constant(numbers(2, 3, 4, 3, 2))
    outputs, state = tf.nn.dynamic_rnn(cell, inputs, dtype=tf.float32)
    return {"outputs": outputs, "state": state}


if __name__ == "__main__":
    main()
