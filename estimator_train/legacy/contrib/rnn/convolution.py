"""LSTM cells of `tf.contrib.rnn` whose states are pictures, or have one or three sides."""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

_v1 = tf.compat.v1
_StateTuple = _v1.nn.rnn_cell.LSTMStateTuple


class ConvLSTMCell(tf.compat.v1.nn.rnn_cell.RNNCell):
    """An LSTM cell that convolves (Shi et al.: "Convolutional LSTM Network", 2015).

    Args:
      conv_ndims: The number of sides of the inputs: 1, 2 or 3.
      input_shape: Sizes of the sides and the number of channels.
      output_channels: The number of channels of outputs and states.
      kernel_shape: Sizes of the kernel.
      use_bias: Whether there is a bias.
      skip_connection: Whether outputs have the inputs' channels as well.
      forget_bias: Added to the forget gates.
      initializers: Unused, as in TensorFlow 1.15.
      name: Its scope.

    Raises:
      ValueError: The shape of the inputs has not as many sizes.
    """

    def __init__(
        self,
        conv_ndims: int,
        input_shape: Sequence[int],
        output_channels: int,
        kernel_shape: Sequence[int],
        use_bias: bool = True,
        skip_connection: bool = False,
        forget_bias: float = 1.0,
        initializers: Any = None,
        name: str = "conv_lstm_cell",
    ) -> None:
        super().__init__(name=name)
        del initializers
        if conv_ndims != len(input_shape) - 1:
            raise ValueError(f"Invalid input_shape {input_shape} for conv_ndims={conv_ndims}.")
        sides, channels = list(input_shape[:-1]), input_shape[-1]
        self._kernel = list(kernel_shape)
        self._channels = output_channels
        self._use_bias = use_bias
        self._skips = skip_connection
        self._forget_bias = forget_bias
        all_channels = output_channels + (channels if skip_connection else 0)
        self._output_size = tf.TensorShape([*sides, all_channels])
        # Without the channels that are skipped to: a cell with skips takes one step, as in 1.15.
        state = tf.TensorShape([*sides, output_channels])
        self._state_size = _StateTuple(state, state)

    @property
    def output_size(self) -> Any:
        """The shape of one output."""
        return self._output_size

    @property
    def state_size(self) -> Any:
        """The shapes of c and h."""
        return self._state_size

    def call(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        """One step."""
        del scope
        cell, hidden = state
        i, j, f, o = tf.split(self._convolved(tf.concat([inputs, hidden], -1)), 4, -1)
        cell = tf.sigmoid(f + self._forget_bias) * cell + tf.sigmoid(i) * tf.tanh(j)
        output = tf.tanh(cell) * tf.sigmoid(o)
        if self._skips:
            output = tf.concat([output, inputs], -1)
        return output, _StateTuple(cell, output)

    def _convolved(self, joined: Any) -> Any:
        channels = 4 * self._channels
        shape = [*self._kernel, joined.shape[-1], channels]
        kernel = _v1.get_variable("kernel", shape, joined.dtype)
        found = tf.nn.convolution(joined, kernel, padding="SAME")
        if not self._use_bias:
            return found
        zeros = _v1.zeros_initializer()
        return found + _v1.get_variable("biases", [channels], joined.dtype, zeros)


class Conv1DLSTMCell(ConvLSTMCell):
    """A ConvLSTMCell of inputs with one side."""

    def __init__(self, name: str = "conv_1d_lstm_cell", **kwargs: Any) -> None:
        super().__init__(conv_ndims=1, name=name, **kwargs)


class Conv2DLSTMCell(ConvLSTMCell):
    """A ConvLSTMCell of pictures."""

    def __init__(self, name: str = "conv_2d_lstm_cell", **kwargs: Any) -> None:
        super().__init__(conv_ndims=2, name=name, **kwargs)


class Conv3DLSTMCell(ConvLSTMCell):
    """A ConvLSTMCell of inputs with three sides."""

    def __init__(self, name: str = "conv_3d_lstm_cell", **kwargs: Any) -> None:
        super().__init__(conv_ndims=3, name=name, **kwargs)
