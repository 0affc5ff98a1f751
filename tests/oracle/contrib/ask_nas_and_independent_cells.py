"""Questions about cells of tf.contrib.rnn: NAS, independent, grouped, phased."""

import tensorflow as tf
from asking import main, numbers, question, signature
from recurrent import inputs, run

rnn = tf.contrib.rnn


@question
def arguments():
    names = (
        "NASCell IndRNNCell IndyGRUCell IndyLSTMCell CoupledInputForgetGateLSTMCell GLSTMCell "
        "PhasedLSTMCell CompiledWrapper"
    )
    return {name: signature(getattr(rnn, name).__init__) for name in names.split()}


@question
def nas():
    return run(rnn.NASCell(4))


@question
def nas_projected():
    return run(rnn.NASCell(4, num_proj=2, use_bias=True))


@question
def independent():
    return run(rnn.IndRNNCell(4))


@question
def independent_with_arguments():
    return run(rnn.IndRNNCell(4, tf.nn.relu, name="mine"))


@question
def independent_gru():
    return run(rnn.IndyGRUCell(4))


@question
def independent_gru_with_arguments():
    cell = rnn.IndyGRUCell(3, tf.nn.relu, bias_initializer=tf.zeros_initializer(), name="mine")
    return run(cell)


@question
def independent_lstm():
    return run(rnn.IndyLSTMCell(4))


@question
def independent_lstm_with_arguments():
    return run(rnn.IndyLSTMCell(3, 0.5, tf.nn.relu, name="mine"))


@question
def coupled():
    return run(rnn.CoupledInputForgetGateLSTMCell(4))


@question
def coupled_with_peepholes():
    cell = rnn.CoupledInputForgetGateLSTMCell(
        4, True, num_proj=2, proj_clip=0.1, forget_bias=0.5, activation=tf.nn.relu
    )
    return run(cell)


@question
def coupled_and_normalized():
    cell = rnn.CoupledInputForgetGateLSTMCell(4, True, layer_norm=True, norm_gain=0.8)
    return run(cell)


@question
def coupled_of_one_state():
    return run(rnn.CoupledInputForgetGateLSTMCell(4, num_proj=3, state_is_tuple=False))


@question
def groups():
    return run(rnn.GLSTMCell(4, number_of_groups=2, num_proj=2), inputs=inputs(depth=4))


@question
def groups_of_one():
    return run(rnn.GLSTMCell(4))


@question
def groups_that_do_not_divide():
    return run(rnn.GLSTMCell(5, number_of_groups=2))


def phased(**options):
    cell = rnn.PhasedLSTMCell(4, **options)
    times = tf.constant(abs(numbers(3, 4, 1)) * 20)
    outputs, state = tf.nn.dynamic_rnn(cell, (times, inputs()), dtype=tf.float32)
    return {"outputs": outputs, "state": state, "size": str(cell.state_size)}


@question
def phases():
    return phased()


@question
def phases_with_arguments():
    return phased(
        use_peepholes=True, leak=0.1, ratio_on=0.3, trainable_ratio_on=False, period_init_max=9.0
    )


@question
def compiled():
    return run(rnn.CompiledWrapper(rnn.GRUCell(4)))


@question
def gradients():
    outputs, _ = tf.nn.dynamic_rnn(
        rnn.PhasedLSTMCell(2), (tf.ones([2, 3, 1]), tf.constant(numbers(2, 3, 2))), dtype=tf.float32
    )
    variables = sorted(tf.trainable_variables(), key=lambda variable: variable.name)
    return {"gradients": tf.gradients(outputs, variables)}


if __name__ == "__main__":
    main()
