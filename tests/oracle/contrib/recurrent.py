"""Inputs of recurrent cells, and how a cell that reads them answers."""

import tensorflow as tf
from asking import numbers


def inputs(time=4, depth=3):
    """Returns inputs of shape (batch, time, depth), with a batch of 3."""
    return tf.constant(numbers(3, time, depth, scale=2))


def run(cell, **options):
    """Outputs and last state of a cell that reads sequences; and what a cell of the kind says."""
    options = dict({"dtype": tf.float32, "inputs": inputs()}, **options)
    outputs, state = tf.nn.dynamic_rnn(cell, **options)
    kind = type(state).__name__ if isinstance(state, tuple) else "tensor"
    sizes = [str(cell.state_size), str(cell.output_size), kind]
    return {"outputs": outputs, "state": state, "sizes": sizes}
