"""Convolutional LSTM cells of `tf.contrib.rnn`."""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from tf_contrib._types import Nest, Scope

_v1 = tf.compat.v1
_StateTuple = _v1.nn.rnn_cell.LSTMStateTuple


class ConvLSTMCell(tf.compat.v1.nn.rnn_cell.RNNCell):
    """LSTM cell with convolutions (Shi et al., "Convolutional LSTM Network", 2015).

    Args:
      conv_ndims: Number of spatial dimensions: 1, 2 or 3.
      input_shape: Spatial sizes and number of channels of the inputs.
      output_channels: Number of channels of outputs and states.
      kernel_shape: Spatial sizes of the kernel.
      use_bias: Whether to add a bias.
      skip_connection: Whether to append the inputs to the outputs.
      forget_bias: Number added to the forget gates.
      initializers: Unused, as in TensorFlow 1.15.
      name: Variable scope of the cell.

    Raises:
      ValueError: input_shape does not suit conv_ndims.
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
        initializers: object = None,
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
        self._has_skip_connection = skip_connection
        self._forget_bias = forget_bias
        all_channels = output_channels + (channels if skip_connection else 0)
        self._output_size = tf.TensorShape([*sides, all_channels])
        # As in 1.15, the size omits the channels of the skip connection: such a cell runs one step.
        state = tf.TensorShape([*sides, output_channels])
        self._state_size = _StateTuple(state, state)

    @property
    def output_size(self) -> tf.TensorShape:
        """Shape of one output."""
        return self._output_size

    @property
    def state_size(self) -> Nest:
        """Shapes of c and h."""
        return self._state_size

    def call(
        self, inputs: tf.Tensor, state: Nest, scope: Scope | None = None
    ) -> tuple[tf.Tensor, Nest]:
        """Computes one step."""
        del scope
        cell, hidden = state
        i, j, f, o = tf.split(self._convolve(tf.concat([inputs, hidden], -1)), 4, -1)
        cell = tf.sigmoid(f + self._forget_bias) * cell + tf.sigmoid(i) * tf.tanh(j)
        output = tf.tanh(cell) * tf.sigmoid(o)
        if self._has_skip_connection:
            output = tf.concat([output, inputs], -1)
        return output, _StateTuple(cell, output)

    def _convolve(self, inputs_and_hidden: tf.Tensor) -> tf.Tensor:
        channels = 4 * self._channels
        shape = [*self._kernel, inputs_and_hidden.shape[-1], channels]
        kernel = _v1.get_variable("kernel", shape, inputs_and_hidden.dtype)
        outputs = tf.nn.convolution(inputs_and_hidden, kernel, padding="SAME")
        if not self._use_bias:
            return outputs
        zeros = _v1.zeros_initializer()
        return outputs + _v1.get_variable("biases", [channels], inputs_and_hidden.dtype, zeros)


class Conv1DLSTMCell(ConvLSTMCell):
    """ConvLSTMCell with one spatial dimension."""

    def __init__(self, name: str = "conv_1d_lstm_cell", **kwargs: Any) -> None:
        super().__init__(conv_ndims=1, name=name, **kwargs)


class Conv2DLSTMCell(ConvLSTMCell):
    """ConvLSTMCell of images."""

    def __init__(self, name: str = "conv_2d_lstm_cell", **kwargs: Any) -> None:
        super().__init__(conv_ndims=2, name=name, **kwargs)


class Conv3DLSTMCell(ConvLSTMCell):
    """ConvLSTMCell with three spatial dimensions."""

    def __init__(self, name: str = "conv_3d_lstm_cell", **kwargs: Any) -> None:
        super().__init__(conv_ndims=3, name=name, **kwargs)
