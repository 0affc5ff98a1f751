"""Layers of tf.contrib.cudnn_rnn, compared with cells of the same equations and with NumPy."""

import numpy as np
import tensorflow as tf

cudnn_rnn = tf.contrib.cudnn_rnn
UNITS, SIZE, BATCH, TIME = 3, 2, 2, 4
DIFFERENCES = []


def compare(actual, expected):
    """Notes the greatest difference."""
    assert np.shape(actual) == np.shape(expected)
    DIFFERENCES.append(float(np.max(np.abs(np.subtract(actual, expected)))))


def numbers(*shape, start = 0):
    count = int(np.prod(shape))
    return np.sin(0.7 * (start + np.arange(count))).reshape(shape).astype(np.float32)


def computed(fetches, parameters=None):
    """Returns fetched values; the only variable named `opaque_kernel` has the parameters."""
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for variable in tf.global_variables():
            if "opaque_kernel" in variable.name and parameters is not None:
                variable.load(parameters, session)
        return session.run(fetches)


def parameters(gates, *sizes):
    """Returns all weights as one array, and those of every direction of every layer."""
    count = gates * UNITS
    kernels = [(numbers(count, size), numbers(count, UNITS, start=9 + size)) for size in sizes]
    biases = [(numbers(count, start=3), numbers(count, start=5)) for _ in sizes]
    flat = [*kernels, *biases]
    every = [[*one, *other] for one, other in zip(kernels, biases, strict=True)]
    return np.concatenate([part.ravel() for pair in flat for part in pair]), every


def with_cell(cell, kernels, **options):
    """Returns outputs and state of a compatible cell with the given variables."""
    outputs, state = tf.nn.dynamic_rnn(
        cell, tf.constant(numbers(TIME, BATCH, SIZE)), time_major=True, **options
    )
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for variable in cell.trainable_variables:
            variable.load(kernels[variable.op.name.split("cell/")[1]], session)
        return session.run((outputs, state))


def lstm_kernels(weights):
    """Returns the variables of the compatible cell, whose gates have another order."""
    order = [0, 2, 1, 3]
    of_inputs, of_state, bias, more = (
        np.concatenate([np.split(part, 4)[index] for index in order]) for part in weights
    )
    return {"kernel": np.concatenate([of_inputs, of_state], 1).T, "bias": bias + more}


def check_lstm():
    flat, (weights,) = parameters(4, SIZE)
    lengths = [4, 2]
    layer = cudnn_rnn.CudnnLSTM(1, UNITS)
    fetches = layer(numbers(TIME, BATCH, SIZE), sequence_lengths=tf.constant(lengths))
    outputs, (hidden, cell) = computed(fetches, flat)
    expected, state = with_cell(
        cudnn_rnn.CudnnCompatibleLSTMCell(UNITS),
        lstm_kernels(weights),
        sequence_length=lengths,
        dtype=tf.float32,
    )
    compare(outputs, expected)
    compare(hidden[0], state.h)
    compare(cell[0], state.c)


def check_gru():
    flat, ((of_inputs, of_state, bias, more),) = parameters(3, SIZE)
    start = numbers(1, BATCH, UNITS)
    layer = cudnn_rnn.CudnnGRU(1, UNITS)
    outputs, (hidden,) = computed(layer(numbers(TIME, BATCH, SIZE), (tf.constant(start),)), flat)
    both = np.concatenate([of_inputs, of_state], 1)[: 2 * UNITS]
    kernels = {
        "gates/kernel": both.T,
        "gates/bias": (bias + more)[: 2 * UNITS],
        "candidate/input_projection/kernel": of_inputs[2 * UNITS :].T,
        "candidate/input_projection/bias": bias[2 * UNITS :],
        "candidate/hidden_projection/kernel": of_state[2 * UNITS :].T,
        "candidate/hidden_projection/bias": more[2 * UNITS :],
    }
    cell = cudnn_rnn.CudnnCompatibleGRUCell(UNITS)
    expected, state = with_cell(cell, kernels, initial_state=tf.constant(start[0]))
    compare(outputs, expected)
    compare(hidden[0], state)


def step_by_step(inputs, weights, function):
    state, outputs = np.zeros([BATCH, UNITS], np.float32), []
    for values in inputs:
        state = function(values @ weights[0].T + state @ weights[1].T + weights[2] + weights[3])
        outputs.append(state)
    return np.stack(outputs)


def check_both_ways():
    sizes = SIZE, SIZE, 2 * UNITS, 2 * UNITS
    flat, weights = parameters(1, *sizes)
    layer = cudnn_rnn.CudnnRNNTanh(2, UNITS, direction="bidirectional")
    inputs = numbers(BATCH, TIME, SIZE)
    outputs, (hidden,) = computed(layer(inputs, time_major=False), flat)
    expected, last = inputs.transpose(1, 0, 2), []
    for forward, backward in (weights[:2], weights[2:]):
        ahead = step_by_step(expected, forward, np.tanh)
        behind = step_by_step(expected[::-1], backward, np.tanh)
        last += [ahead[-1], behind[-1]]
        expected = np.concatenate([ahead, behind[::-1]], 2)
    compare(outputs, expected.transpose(1, 0, 2))
    compare(hidden, np.stack(last))


def check_inputs_as_they_are(mode):
    flat, weights = parameters(1, UNITS, UNITS)
    inputs = numbers(TIME, BATCH, UNITS)
    outputs, _ = computed(cudnn_rnn.CudnnRNNRelu(2, UNITS, mode)(inputs), flat)
    weights[0][0] = np.eye(UNITS, dtype=np.float32)
    for part in weights:
        inputs = step_by_step(inputs, part, lambda values: np.maximum(values, 0))
    compare(outputs, inputs)


def check_initial_values():
    layer = cudnn_rnn.CudnnLSTM(
        1, UNITS, kernel_initializer=tf.constant_initializer(0.2), bias_initializer=tf.ones
    )
    outputs, _ = layer(numbers(TIME, BATCH, SIZE))
    kernel, gradient = computed([layer.kernel, tf.gradients(outputs, layer.kernel)[0]])
    count = 4 * UNITS * (SIZE + UNITS)
    compare(kernel, [0.2] * count + [1.0] * (8 * UNITS))
    print("GRADIENTS", np.all(gradient != 0))


def check_dropout():
    layer = cudnn_rnn.CudnnRNNTanh(2, UNITS, dropout=0.5, seed=1)
    inputs = numbers(TIME, BATCH, SIZE)
    fetches = [layer(inputs, training=training)[0] for training in (True, False, False)]
    trained, first, second = computed(fetches)
    compare(first, second)
    print("DROPPED", np.any(trained != first))


CHECKS = (
    check_lstm,
    check_gru,
    check_both_ways,
    lambda: check_inputs_as_they_are("skip_input"),
    lambda: check_inputs_as_they_are("auto_select"),
    check_initial_values,
    check_dropout,
)
for check in CHECKS:
    with tf.Graph().as_default():
        check()
print("DIFFERENCES", DIFFERENCES)
