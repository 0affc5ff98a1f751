"""Questions about cells of tf.contrib.rnn whose inputs are slices of frequencies; intersection."""

import tensorflow as tf
from asking import main, numbers, question, signature

rnn = tf.contrib.rnn
SLICES = {"feature_size": 2, "frequency_skip": 1, "num_frequency_blocks": [3]}
BLOCKS = {
    "feature_size": 1,
    "frequency_skip": 1,
    "num_frequency_blocks": [1, 2],
    "start_freqindex_list": [0, 2],
    "end_freqindex_list": [1, 4],
}


def step(cell):
    """Returns what a cell computes from inputs and a state that are not zero."""
    state, start = cell.zero_state(2, tf.float32), 3
    parts = []
    for part in tf.nest.flatten(state):
        parts.append(tf.constant(numbers(2, part.shape[1], start=start)))
        start += 5
    outputs, new_state = cell(
        tf.constant(numbers(2, 4, scale=2)), tf.nest.pack_sequence_as(state, parts)
    )
    kind = type(new_state).__name__ if isinstance(new_state, tuple) else "tensor"
    sizes = [str(cell.state_size), str(cell.output_size), kind]
    return {"outputs": outputs, "state": new_state, "sizes": sizes}


@question
def arguments():
    names = "GridLSTMCell TimeFreqLSTMCell BidirectionalGridLSTMCell IntersectionRNNCell"
    return {name: signature(getattr(rnn, name).__init__) for name in names.split()}


@question
def grid():
    return step(rnn.GridLSTMCell(3, **SLICES))


@question
def grid_without_overlap():
    return step(rnn.GridLSTMCell(3, feature_size=2, frequency_skip=2, num_frequency_blocks=[2]))


@question
def grid_with_peepholes():
    return step(rnn.GridLSTMCell(3, True, cell_clip=0.3, forget_bias=0.5, **SLICES))


@question
def grid_of_shared_weights():
    return step(rnn.GridLSTMCell(3, True, True, **SLICES))


@question
def grid_of_coupled_gates():
    return step(rnn.GridLSTMCell(3, True, couple_input_forget_gates=True, **SLICES))


@question
def grid_of_blocks():
    return step(rnn.GridLSTMCell(3, **BLOCKS))


@question
def grid_with_joined_state():
    return step(rnn.GridLSTMCell(3, state_is_tuple=False, **SLICES))


@question
def grid_in_shards():
    return step(rnn.GridLSTMCell(3, num_unit_shards=3, **SLICES))


@question
def grid_twice():
    cell = rnn.GridLSTMCell(2, **SLICES)
    outputs, state = tf.nn.dynamic_rnn(cell, tf.constant(numbers(2, 3, 4)), dtype=tf.float32)
    return {"outputs": outputs, "state": state}


@question
def grid_without_blocks():
    return step(rnn.GridLSTMCell(3, feature_size=2, frequency_skip=1))


@question
def grid_of_another_number_of_blocks():
    return step(rnn.GridLSTMCell(3, feature_size=2, frequency_skip=1, num_frequency_blocks=[2]))


@question
def both_directions():
    return step(rnn.BidirectionalGridLSTMCell(3, **SLICES))


@question
def both_directions_with_options():
    cell = rnn.BidirectionalGridLSTMCell(
        3,
        True,
        True,
        feature_size=1,
        frequency_skip=1,
        num_frequency_blocks=[2],
        start_freqindex_list=[1],
        end_freqindex_list=[3],
        backward_slice_offset=1,
    )
    return step(cell)


@question
def both_directions_of_blocks():
    return step(rnn.BidirectionalGridLSTMCell(3, **BLOCKS))


def frequencies(**options):
    """Returns two steps of a cell, whose state is larger than its size tells."""
    cell = rnn.TimeFreqLSTMCell(3, feature_size=2, frequency_skip=1, **options)
    state = tf.constant(numbers(2, 18))
    first, state = cell(tf.constant(numbers(2, 4, scale=2)), state)
    second, state = cell(tf.constant(numbers(2, 4, start=5)), state)
    sizes = [str(cell.state_size), str(cell.output_size)]
    return {"first": first, "second": second, "state": state, "sizes": sizes}


@question
def time_and_frequency():
    return frequencies()


@question
def time_and_frequency_with_peepholes():
    return frequencies(use_peepholes=True, cell_clip=0.3, forget_bias=0.5)


@question
def intersection():
    return step(rnn.IntersectionRNNCell(4))


@question
def intersection_with_arguments():
    cell = rnn.IntersectionRNNCell(
        5, 5, tf.constant_initializer(0.2), forget_bias=0.5, y_activation=tf.tanh
    )
    return step(cell)


@question
def intersection_of_other_size():
    return step(rnn.IntersectionRNNCell(5))


if __name__ == "__main__":
    main()
