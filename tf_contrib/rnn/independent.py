"""Cells whose units do not read each other's states, and the cell of a search: IndRNN, NAS."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from tf_contrib._types import DType, Initializer, Nest
from tf_contrib.rnn.unit_cells import CellOfUnits

_v1 = tf.compat.v1
_StateTuple = _v1.nn.rnn_cell.LSTMStateTuple
_Activation = Callable[[tf.Tensor], tf.Tensor]
_Step = tuple[tf.Tensor, Nest]


class _IndependentCell(CellOfUnits):
    """Base class of cells whose states are multiplied by numbers instead of by a matrix.

    Args:
      num_units: Number of units.
      activation: Function of the candidates; tanh by default.
      reuse: Whether to reuse existing variables.
      kernel_initializer: Initial values of the weights.
      bias_initializer: Initial values of the biases.
      name: Variable scope of the cell.
      dtype: Type of the variables.
    """

    def __init__(
        self,
        num_units: int,
        activation: _Activation | None = None,
        reuse: bool | None = None,
        kernel_initializer: Initializer | None = None,
        bias_initializer: Initializer | None = None,
        name: str | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__(_reuse=reuse, name=name, dtype=dtype)
        self._num_units, self._activation = num_units, activation or tf.tanh
        self._kernel_initializer, self._bias_initializer = kernel_initializer, bias_initializer

    def _combine(
        self,
        inputs: tf.Tensor,
        state: tf.Tensor,
        count: int = 1,
        bias: Initializer | None = None,
        kernel: str = "kernel_w",
    ) -> tf.Tensor:
        """Returns `inputs @ w + u * state + b` of a number of gates, with variables of the scope.

        The initial values of u are uniform: at 1 the state of a unit would not change.
        """
        size, dtype = count * self._num_units, inputs.dtype
        shape = [inputs.shape[-1], size]
        w = _v1.get_variable(kernel, shape, dtype, self._kernel_initializer)
        uniform = _v1.random_uniform_initializer(-1.0, 1.0)
        u = _v1.get_variable("kernel_u", [1, size], dtype, self._kernel_initializer or uniform)
        bias = self._bias_initializer or bias or _v1.zeros_initializer()
        return (
            inputs @ w
            + tf.tile(state, [1, count]) * u
            + _v1.get_variable("bias", [size], dtype, bias)
        )


class IndRNNCell(_IndependentCell):
    """Independent recurrent neural network (Li et al., 2018).

    Args:
      num_units: Number of units.
      activation: Function of the state; tanh by default.
      reuse: Whether to reuse existing variables.
      name: Variable scope of the cell.
      dtype: Type of the variables.
    """

    def __init__(
        self,
        num_units: int,
        activation: _Activation | None = None,
        reuse: bool | None = None,
        name: str | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__(num_units, activation, reuse, name=name, dtype=dtype)

    def call(self, inputs: tf.Tensor, state: tf.Tensor) -> _Step:
        """Returns the outputs, which are the new state, and the new state."""
        new_state = self._activation(self._combine(inputs, state))
        return new_state, new_state


class IndyGRUCell(_IndependentCell):
    """GRU cell whose units read only their own state; see `_IndependentCell` for its arguments."""

    def call(self, inputs: tf.Tensor, state: tf.Tensor) -> _Step:
        """Returns the outputs, which are the new state, and the new state."""
        with _v1.variable_scope("gates"):
            gates = tf.sigmoid(self._combine(inputs, state, 2, _v1.ones_initializer()))
        reset, update = tf.split(gates, 2, 1)
        with _v1.variable_scope("candidate"):
            candidate = self._activation(self._combine(inputs, reset * state, kernel="kernel"))
        new_state = update * state + (1 - update) * candidate
        return new_state, new_state


class IndyLSTMCell(_IndependentCell):
    """LSTM cell whose units read only their own state (Gonnet and Deselaers, 2019).

    The arguments that are not listed are those of `_IndependentCell`.

    Args:
      num_units: Number of units.
      forget_bias: Number added to the forget gates.
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        activation: _Activation | None = None,
        reuse: bool | None = None,
        kernel_initializer: Initializer | None = None,
        bias_initializer: Initializer | None = None,
        name: str | None = None,
        dtype: DType | None = None,
    ) -> None:
        initializers = kernel_initializer, bias_initializer
        super().__init__(num_units, activation, reuse, *initializers, name, dtype)
        self._forget_bias = forget_bias

    @property
    def state_size(self) -> Nest:
        """The sizes of the state."""
        return _StateTuple(self._num_units, self._num_units)

    def call(self, inputs: tf.Tensor, state: Nest) -> _Step:
        """Returns the outputs and the new state."""
        cell, hidden = state
        i, j, f, o = tf.split(self._combine(inputs, hidden, 4), 4, 1)
        cell = cell * tf.sigmoid(f + self._forget_bias) + tf.sigmoid(i) * self._activation(j)
        hidden = self._activation(cell) * tf.sigmoid(o)
        return hidden, _StateTuple(cell, hidden)


class NASCell(tf.compat.v1.nn.rnn_cell.RNNCell):
    """Cell that was found by a search (Zoph and Le, 2017, figure 8).

    Args:
      num_units: Number of units.
      num_proj: Size of the projected outputs; no projection by default.
      use_bias: Whether to add a bias to the projected state.
      reuse: Whether to reuse existing variables.
      **kwargs: Further arguments of the layer.
    """

    def __init__(
        self,
        num_units: int,
        num_proj: int | None = None,
        use_bias: bool = False,
        reuse: bool | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(_reuse=reuse, **kwargs)
        self._units, self._num_proj, self._use_bias = num_units, num_proj, use_bias

    @property
    def state_size(self) -> Nest:
        """The sizes of the state."""
        return _StateTuple(self._units, self.output_size)

    @property
    def output_size(self) -> int:
        """The size of the outputs."""
        return self._num_proj or self._units

    def call(self, inputs: tf.Tensor, state: Nest) -> _Step:
        """Returns the outputs and the new state."""
        cell, hidden = state
        size, dtype = 8 * self._units, inputs.dtype
        recurrent = _v1.get_variable("recurrent_kernel", [self.output_size, size], dtype)
        of_hidden = hidden @ recurrent
        of_inputs = inputs @ _v1.get_variable("kernel", [inputs.shape[-1], size], dtype)
        if self._use_bias:
            of_hidden += _v1.get_variable("bias", [size], dtype, _v1.zeros_initializer())
        m, h = tf.split(of_hidden, 8, 1), tf.split(of_inputs, 8, 1)
        cell, hidden = self._search_result(m, h, cell)
        if self._num_proj is not None:
            hidden @= _v1.get_variable("projection_weights", [self._units, self._num_proj], dtype)
        return hidden, _StateTuple(cell, hidden)

    @staticmethod
    def _search_result(
        m: list[tf.Tensor], h: list[tf.Tensor], cell: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns the new c and the outputs: a tree of three layers."""
        sigmoid, relu, tanh = tf.sigmoid, tf.nn.relu, tf.tanh
        first = [
            sigmoid(h[0] + m[0]),
            relu(h[1] + m[1]),
            sigmoid(h[2] + m[2]),
            relu(h[3] * m[3]),
            tanh(h[4] + m[4]),
            sigmoid(h[5] + m[5]),
            tanh(h[6] + m[6]),
            sigmoid(h[7] + m[7]),
        ]
        second = [
            tanh(first[0] * first[1]),
            tanh(first[2] + first[3]),
            tanh(first[4] * first[5]),
            sigmoid(first[6] + first[7]),
        ]
        third = tanh(second[0] + cell), tanh(second[2] + second[3])
        new_cell = third[0] * second[1]
        return new_cell, tanh(new_cell * third[1])
