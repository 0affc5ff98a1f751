"""One step of recurrent networks with the equations of cuDNN."""

from collections.abc import Callable
from typing import Any, NamedTuple

import tensorflow as tf

from tf_contrib._types import Nest


class Weights(NamedTuple):
    """Weights and biases of one direction of a layer, those of all gates side by side.

    Attributes:
      of_inputs: Shape (gates * units, size of the inputs); None to take the inputs as they are.
      of_state: Shape (gates * units, units).
      bias_of_inputs: Shape (gates * units,).
      bias_of_state: The same shape.
    """

    of_inputs: tf.Tensor | None
    of_state: tf.Tensor
    bias_of_inputs: tf.Tensor
    bias_of_state: tf.Tensor


def lstm(of_inputs: tf.Tensor, of_state: tf.Tensor, state: Nest) -> tuple[tf.Tensor, Nest]:
    """Returns the outputs and the state of an LSTM; its gates: input, forget, new c, output."""
    i, f, new, o = tf.split(of_inputs + of_state, 4, 1)
    cell = tf.sigmoid(f) * state[1] + tf.sigmoid(i) * tf.tanh(new)
    hidden = tf.sigmoid(o) * tf.tanh(cell)
    return hidden, (hidden, cell)


def gru(of_inputs: tf.Tensor, of_state: tf.Tensor, state: Nest) -> tuple[tf.Tensor, Nest]:
    """Returns the outputs and the state of a GRU; its gates: reset, update, new state."""
    reset, update, new = tf.split(of_inputs, 3, 1)
    reset_of_state, update_of_state, new_of_state = tf.split(of_state, 3, 1)
    update = tf.sigmoid(update + update_of_state)
    candidate = tf.tanh(new + tf.sigmoid(reset + reset_of_state) * new_of_state)
    hidden = update * state[0] + (1 - update) * candidate
    return hidden, (hidden,)


def relu(of_inputs: tf.Tensor, of_state: tf.Tensor, state: Nest) -> tuple[tf.Tensor, Nest]:
    """Returns the outputs and the state of an RNN with ReLU."""
    hidden = tf.nn.relu(of_inputs + of_state)
    return hidden, (hidden,)


def tanh(of_inputs: tf.Tensor, of_state: tf.Tensor, state: Nest) -> tuple[tf.Tensor, Nest]:
    """Returns the outputs and the state of an RNN with tanh."""
    hidden = tf.tanh(of_inputs + of_state)
    return hidden, (hidden,)


class CudnnCell(tf.compat.v1.nn.rnn_cell.RNNCell):
    """Cell with given weights.

    Args:
      step: One of the functions of this module.
      weights: The weights.
      parts: Number of tensors of the state.
    """

    def __init__(self, step: Callable[..., Any], weights: Weights, parts: int) -> None:
        super().__init__(name="cudnn_cell", dtype=weights.of_state.dtype)
        self._compute, self._given, self._parts = step, weights, parts

    @property
    def output_size(self) -> int:
        """The size of the outputs."""
        return int(self._given.of_state.shape[1])

    @property
    def state_size(self) -> Nest:
        """The sizes of the parts of the state."""
        return (self.output_size,) * self._parts

    def call(self, inputs: tf.Tensor, state: Nest) -> tuple[tf.Tensor, Nest]:
        """Returns the outputs and the new state."""
        weights = self._given
        if weights.of_inputs is None:
            gates = int(weights.of_state.shape[0]) // self.output_size
            of_inputs = tf.tile(inputs, [1, gates])
        else:
            of_inputs = tf.matmul(inputs, weights.of_inputs, transpose_b=True)
        of_state = tf.matmul(state[0], weights.of_state, transpose_b=True)
        biases = weights.bias_of_inputs, weights.bias_of_state
        return self._compute(of_inputs + biases[0], of_state + biases[1], state)
