"""Questions about tf.contrib.rnn."""

import tensorflow as tf
from asking import main, numbers, question, signature
from recurrent import inputs, run

rnn = tf.contrib.rnn


def by_time(time=4):
    return tf.transpose(inputs(time), [1, 0, 2])


LENGTHS = [4, 2, 0]


def fused(cell, **options):
    outputs, state = cell(by_time(), **dict({"dtype": tf.float32}, **options))
    kind = type(state).__name__ if isinstance(state, tuple) else "tensor"
    return {"outputs": outputs, "state": state, "kind": kind}


@question
def arguments():
    names = (
        "FusedRNNCellAdaptor",
        "TimeReversedFusedRNN",
        "stack_bidirectional_dynamic_rnn",
        "stack_bidirectional_rnn",
        "static_bidirectional_rnn",
        "static_rnn",
        "static_state_saving_rnn",
        "transpose_batch_time",
    )
    return {name: signature(getattr(rnn, name)) for name in names}


@question
def arguments_of_cells():
    names = (
        "GRUBlockCell",
        "GRUBlockCellV2",
        "LSTMBlockCell",
        "LSTMBlockFusedCell",
        "LayerNormBasicLSTMCell",
    )
    return {name: signature(getattr(rnn, name).__init__) for name in names}


@question
def basic_rnn():
    return run(rnn.BasicRNNCell(4))


@question
def basic_lstm():
    return run(rnn.BasicLSTMCell(4))


@question
def basic_lstm_with_options():
    return run(rnn.BasicLSTMCell(4, 0.5, False, tf.nn.relu, name="mine"), sequence_length=LENGTHS)


@question
def lstm():
    return run(rnn.LSTMCell(4))


@question
def lstm_with_peepholes_and_projection():
    cell = rnn.LSTMCell(4, True, cell_clip=0.5, num_proj=2, proj_clip=0.3, forget_bias=0.5)
    return run(cell, sequence_length=LENGTHS)


@question
def lstm_by_position():
    init = tf.constant_initializer(0.2)
    return run(rnn.LSTMCell(4, True, 0.5, init, 2, 0.3, None, None, 0.5, False, tf.nn.relu))


@question
def lstm_in_shards():
    return run(rnn.LSTMCell(4, num_unit_shards=2, num_proj=2, num_proj_shards=2))


@question
def gru():
    return run(rnn.GRUCell(4), sequence_length=LENGTHS)


@question
def gru_with_options():
    cell = rnn.GRUCell(4, tf.nn.relu, bias_initializer=tf.constant_initializer(0.3), name="mine")
    return run(cell)


@question
def layers():
    cells = [rnn.BasicLSTMCell(4), rnn.GRUCell(2), rnn.BasicRNNCell(3)]
    return run(rnn.MultiRNNCell(cells), sequence_length=LENGTHS)


@question
def layers_with_joined_state():
    cells = [rnn.GRUCell(2), rnn.GRUCell(3)]
    return run(rnn.MultiRNNCell(cells, state_is_tuple=False))


@question
def layers_of_one_cell():
    return run(rnn.MultiRNNCell([rnn.GRUCell(3)] * 2))


@question
def wrappers():
    cell = rnn.DropoutWrapper(rnn.GRUCell(3), 1.0, 1.0, 1.0)
    return run(rnn.ResidualWrapper(rnn.DeviceWrapper(cell, "/cpu:0")))


@question
def dropout_of_a_tensor():
    cell = rnn.DropoutWrapper(rnn.BasicLSTMCell(3), output_keep_prob=tf.constant(1.0))
    return run(cell, sequence_length=LENGTHS)


@question
def variational_dropout():
    cell = rnn.DropoutWrapper(
        rnn.BasicLSTMCell(3),
        1.0,
        1.0,
        1.0,
        variational_recurrent=True,
        input_size=3,
        dtype=tf.float32,
    )
    return run(cell)


@question
def lstm_block():
    return run(rnn.LSTMBlockCell(4), sequence_length=LENGTHS)


@question
def lstm_block_with_options():
    return run(rnn.LSTMBlockCell(4, 0.5, 0.4, True, name="mine"))


@question
def lstm_block_does_not_clip():
    inner = rnn.LSTMBlockCell(4, forget_bias=9.0)
    return run(inner)


@question
def gru_block():
    return [run(rnn.GRUBlockCell(4))]


@question
def gru_block_v2():
    return [run(rnn.GRUBlockCellV2(4))]


@question
def gru_block_by_cell_size():
    return [run(rnn.GRUBlockCellV2(cell_size=4, name="mine"))]


@question
def fused_lstm():
    return fused(rnn.LSTMBlockFusedCell(4))


@question
def fused_lstm_of_lengths():
    return fused(rnn.LSTMBlockFusedCell(4), sequence_length=tf.constant(LENGTHS))


@question
def fused_lstm_with_options():
    cell = rnn.LSTMBlockFusedCell(4, 0.5, 0.4, True, name="mine")
    return fused(cell, sequence_length=tf.constant(LENGTHS))


@question
def fused_lstm_without_dtype():
    return fused(rnn.LSTMBlockFusedCell(4), dtype=None)


@question
def fused_lstm_with_a_first_state():
    first = (tf.constant(numbers(3, 4)), tf.constant(numbers(3, 4, start=5)))
    return fused(rnn.LSTMBlockFusedCell(4), initial_state=first, dtype=None)


@question
def fused_lstm_twice():
    cell = rnn.LSTMBlockFusedCell(4)
    return [fused(cell), fused(cell)]


@question
def two_fused_lstms():
    return [fused(rnn.LSTMBlockFusedCell(4)), fused(rnn.LSTMBlockFusedCell(4))]


@question
def fused_lstm_in_scopes():
    with tf.variable_scope("tagger"):
        first = fused(rnn.LSTMBlockFusedCell(4))
    with tf.variable_scope("tagger", reuse=True):
        second = fused(rnn.LSTMBlockFusedCell(4))
    third = fused(rnn.LSTMBlockFusedCell(4), scope="given")
    return [first, second, third]


@question
def fused_lstm_backwards():
    cell = rnn.TimeReversedFusedRNN(rnn.LSTMBlockFusedCell(4))
    return [fused(cell), fused(cell, sequence_length=tf.constant(LENGTHS))]


@question
def fused_lstm_both_ways():
    lengths = tf.constant(LENGTHS)
    forward, _ = rnn.LSTMBlockFusedCell(4)(by_time(), dtype=tf.float32, sequence_length=lengths)
    cell = rnn.TimeReversedFusedRNN(rnn.LSTMBlockFusedCell(4))
    backward, _ = cell(by_time(), dtype=tf.float32, sequence_length=lengths)
    return {"outputs": tf.concat([forward, backward], -1)}


@question
def fused_lstm_gradients():
    x = by_time()
    outputs, _ = rnn.LSTMBlockFusedCell(4)(x, dtype=tf.float32)
    variables = sorted(tf.trainable_variables(), key=lambda v: v.name)
    gradients = tf.gradients(tf.reduce_sum(outputs**2), [x] + variables)
    return {str(i): gradient for i, gradient in enumerate(gradients)}


@question
def fused_lstm_says():
    cell = rnn.LSTMBlockFusedCell(4)
    cell(by_time(), dtype=tf.float32)
    return {"units": cell.num_units}


@question
def adapted():
    cell = rnn.FusedRNNCellAdaptor(rnn.GRUCell(4), use_dynamic_rnn=True)
    return fused(cell, sequence_length=tf.constant(LENGTHS))


@question
def adapted_static():
    outputs, state = rnn.FusedRNNCellAdaptor(rnn.GRUCell(4))(
        tf.unstack(by_time()), dtype=tf.float32
    )
    return {"outputs": outputs, "state": state, "list": isinstance(outputs, list)}


@question
def adapted_backwards():
    return fused(rnn.TimeReversedFusedRNN(rnn.FusedRNNCellAdaptor(rnn.GRUCell(4))))


@question
def backwards_of_a_list():
    cell = rnn.TimeReversedFusedRNN(rnn.FusedRNNCellAdaptor(rnn.GRUCell(4)))
    outputs, _ = cell(tf.unstack(by_time()), dtype=tf.float32)
    return {"outputs": outputs, "list": isinstance(outputs, list)}


@question
def layer_norm_lstm():
    return run(rnn.LayerNormBasicLSTMCell(4))


@question
def layer_norm_lstm_with_options():
    cell = rnn.LayerNormBasicLSTMCell(
        4, forget_bias=0.5, activation=tf.nn.relu, norm_gain=0.7, norm_shift=0.2
    )
    return run(cell, sequence_length=LENGTHS)


@question
def layer_norm_lstm_without_norm():
    return run(rnn.LayerNormBasicLSTMCell(4, layer_norm=False, dropout_keep_prob=1.0))


@question
def layer_norm_lstm_reused():
    cell = rnn.LayerNormBasicLSTMCell(3)
    first = run(cell)
    with tf.variable_scope(tf.get_variable_scope(), reuse=True):
        second = run(rnn.LayerNormBasicLSTMCell(3, reuse=True))
    return [first, second]


@question
def layer_norm_lstm_in_layers():
    return run(rnn.MultiRNNCell([rnn.LayerNormBasicLSTMCell(3) for _ in range(2)]))


@question
def static():
    outputs, state = rnn.static_rnn(rnn.BasicLSTMCell(4), tf.unstack(by_time()), dtype=tf.float32)
    return {"outputs": outputs, "state": state}


@question
def static_of_lengths():
    first = rnn.LSTMStateTuple(tf.constant(numbers(3, 4)), tf.constant(numbers(3, 4, start=5)))
    outputs, state = rnn.static_rnn(
        rnn.BasicLSTMCell(4), tf.unstack(by_time()), first, None, LENGTHS, "scope"
    )
    return {"outputs": outputs, "state": state}


@question
def static_both_ways():
    outputs, forward, backward = rnn.static_bidirectional_rnn(
        rnn.GRUCell(4),
        rnn.BasicLSTMCell(2),
        tf.unstack(by_time()),
        dtype=tf.float32,
        sequence_length=LENGTHS,
    )
    return {"outputs": outputs, "forward": forward, "backward": backward}


@question
def layers_both_ways():
    outputs, forward, backward = rnn.stack_bidirectional_dynamic_rnn(
        [rnn.GRUCell(2), rnn.BasicLSTMCell(3)],
        [rnn.GRUCell(2), rnn.BasicLSTMCell(3)],
        inputs(),
        dtype=tf.float32,
    )
    return {"outputs": outputs, "forward": forward, "backward": backward}


@question
def layers_both_ways_of_lengths():
    firsts = [tf.constant(numbers(3, 2))]
    outputs, forward, backward = rnn.stack_bidirectional_dynamic_rnn(
        [rnn.GRUCell(2)],
        [rnn.GRUCell(2)],
        by_time(),
        firsts,
        [tf.constant(numbers(3, 2, start=3))],
        sequence_length=LENGTHS,
        time_major=True,
        scope="both",
    )
    return {"outputs": outputs, "forward": forward, "backward": backward}


@question
def layers_both_ways_twice():
    def made(scope=None):
        return rnn.stack_bidirectional_dynamic_rnn(
            [rnn.GRUCell(2)], [rnn.GRUCell(2)], inputs(), dtype=tf.float32, scope=scope
        )[0]

    return {"first": made(), "second": made(), "third": made("mine")}


@question
def layers_both_ways_of_different_counts():
    cells = [rnn.GRUCell(2)]
    return {"x": rnn.stack_bidirectional_dynamic_rnn(cells, cells * 2, inputs(), dtype=tf.float32)}


@question
def layers_both_ways_without_cells():
    return {"x": rnn.stack_bidirectional_dynamic_rnn([], [], inputs(), dtype=tf.float32)}


@question
def layers_both_ways_of_one_cell():
    cell = rnn.GRUCell(2)
    return {"x": rnn.stack_bidirectional_dynamic_rnn(cell, cell, inputs(), dtype=tf.float32)}


@question
def layers_both_ways_with_too_few_states():
    cells = [rnn.GRUCell(2)], [rnn.GRUCell(2)]
    return {"x": rnn.stack_bidirectional_dynamic_rnn(*cells, inputs(), [], dtype=tf.float32)}


@question
def static_layers_both_ways():
    outputs, forward, backward = rnn.stack_bidirectional_rnn(
        [rnn.GRUCell(2), rnn.GRUCell(3)],
        [rnn.GRUCell(2), rnn.GRUCell(3)],
        tf.unstack(by_time()),
        dtype=tf.float32,
        sequence_length=LENGTHS,
    )
    return {"outputs": outputs, "forward": forward, "backward": backward}


@question
def bad_inputs_of_a_fused_cell():
    return {"x": rnn.LSTMBlockFusedCell(4)(tf.zeros([3, 2]), dtype=tf.float32)}


@question
def transposed():
    return {"x": rnn.transpose_batch_time(inputs())}


@question
def own_cell():
    class Cell(rnn.RNNCell):
        state_size = output_size = property(lambda self: 2)

        def call(self, inputs, state):
            weights = tf.get_variable("weights", [3, 2])
            new = tf.tanh(tf.matmul(inputs, weights) + state)
            return new, new

    return run(Cell())


if __name__ == "__main__":
    main()
