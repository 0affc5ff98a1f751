"""Cells of a number of units: UGRNN, SRU, cuDNN's; wrappers with highways and attention."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from tf_contrib._types import Cell, Initializer, Nest
from tf_contrib.rnn.cells import LSTMBlockCell
from tf_contrib.rnn.projections import CellWrapper, project

_v1 = tf.compat.v1
_Activation = Callable[[tf.Tensor], tf.Tensor]
_Step = tuple[tf.Tensor, Nest]


class CellOfUnits(tf.compat.v1.nn.rnn_cell.RNNCell):
    """Base class of cells whose state and outputs have the size `_num_units`."""

    _num_units: int

    @property
    def state_size(self) -> int:
        """The size of the state."""
        return self._num_units

    @property
    def output_size(self) -> int:
        """The size of the outputs."""
        return self._num_units


class UGRNNCell(CellOfUnits):
    """Update gate RNN (Collins et al., 2016): one gate mixes the state and a candidate.

    Args:
      num_units: Number of units.
      initializer: Initial values of the weights.
      forget_bias: Number added to the gate.
      activation: Function of the candidate.
      reuse: Whether to reuse existing variables.
    """

    def __init__(
        self,
        num_units: int,
        initializer: Initializer | None = None,
        forget_bias: float = 1.0,
        activation: _Activation = tf.tanh,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        self._num_units, self._initializer = num_units, initializer
        self._forget_bias, self._activation = forget_bias, activation

    def call(self, inputs: tf.Tensor, state: tf.Tensor) -> _Step:
        """Returns the outputs, which are the new state, and the new state."""
        scope = _v1.get_variable_scope()
        with _v1.variable_scope(scope, initializer=self._initializer):
            both = project(tf.concat([inputs, state], 1), 2 * self._num_units)
        gate, candidate = tf.split(both, 2, 1)
        gate = tf.sigmoid(gate + self._forget_bias)
        new_state = gate * state + (1 - gate) * self._activation(candidate)
        return new_state, new_state


class IntersectionRNNCell(CellOfUnits):
    """RNN whose outputs are gated mixtures with its inputs (Collins et al., 2016).

    Args:
      num_units: Number of units.
      num_in_proj: Size of the projected inputs; no projection by default.
      initializer: Initial values of the weights.
      forget_bias: Number added to the gates.
      y_activation: Function of the candidates of the outputs.
      reuse: Whether to reuse existing variables.
    """

    def __init__(
        self,
        num_units: int,
        num_in_proj: int | None = None,
        initializer: Initializer | None = None,
        forget_bias: float = 1.0,
        y_activation: _Activation = tf.nn.relu,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        self._num_units, self._num_proj, self._initializer = num_units, num_in_proj, initializer
        self._forget_bias, self._activation = forget_bias, y_activation

    def call(self, inputs: tf.Tensor, state: tf.Tensor) -> _Step:
        """Returns the outputs and the new state."""
        scope = _v1.get_variable_scope()
        with _v1.variable_scope(scope, initializer=self._initializer):
            if inputs.shape[-1] != self._num_units and self._num_proj:
                with _v1.variable_scope("in_projection"):
                    inputs = project(inputs, self._num_proj)
            if inputs.shape[-1] != self._num_units:
                raise ValueError(
                    f"The inputs must have the size of the outputs, {self._num_units}, not "
                    f"{inputs.shape[-1]}: set num_in_proj={self._num_units}."
                )
            both = project(tf.concat([inputs, state], 1), 4 * self._num_units)
        gate, candidate, gate_of_outputs, candidate_of_outputs = tf.split(both, 4, 1)
        gate = tf.sigmoid(gate + self._forget_bias)
        gate_of_outputs = tf.sigmoid(gate_of_outputs + self._forget_bias)
        new_state = gate * state + (1 - gate) * tf.tanh(candidate)
        mixed = (1 - gate_of_outputs) * self._activation(candidate_of_outputs)
        return gate_of_outputs * inputs + mixed, new_state


class SRUCell(CellOfUnits):
    """Simple recurrent unit (Lei et al., 2017), whose gates do not depend on the state.

    Args:
      num_units: Number of units.
      activation: Function of the state; tanh by default.
      reuse: Whether to reuse existing variables.
      name: Variable scope of the cell.
    """

    def __init__(
        self,
        num_units: int,
        activation: _Activation | None = None,
        reuse: bool | None = None,
        name: str | None = None,
        **more: Any,
    ) -> None:
        super().__init__(_reuse=reuse, name=name, **more)
        self._num_units, self._activation = num_units, activation or tf.tanh

    def call(self, inputs: tf.Tensor, state: tf.Tensor) -> _Step:
        """Returns the outputs and the new state."""
        units = self._num_units
        kernel = _v1.get_variable("kernel", [inputs.shape[-1], 4 * units], inputs.dtype)
        zeros = _v1.zeros_initializer()
        bias = _v1.get_variable("bias", [2 * units], inputs.dtype, zeros)
        candidate, forget, reset, carried = tf.split(inputs @ kernel, 4, 1)
        forget = tf.sigmoid(forget + bias[:units])
        reset = tf.sigmoid(reset + bias[units:])
        new_state = forget * state + (1 - forget) * candidate
        return reset * self._activation(new_state) + (1 - reset) * carried, new_state


class HighwayWrapper(CellWrapper):
    """Cell that mixes the outputs of another cell with its inputs (Srivastava et al., 2015).

    Args:
      cell: The inner cell, whose outputs have the size of the inputs.
      couple_carry_transform_gates: Whether the share of the outputs is 1 minus that of the inputs.
      carry_bias_init: Initial bias of the gate of the inputs.
    """

    def __init__(
        self, cell: Cell, couple_carry_transform_gates: bool = True, carry_bias_init: float = 1.0
    ) -> None:
        super().__init__(cell)
        self._is_coupled, self._bias = couple_carry_transform_gates, carry_bias_init

    def __call__(self, inputs: tf.Tensor, state: Nest, scope: Any = None) -> _Step:
        """Returns the outputs and the state after one step; opens no variable scope."""
        outputs, state = self._cell(inputs, state)
        inputs.shape.assert_is_compatible_with(outputs.shape)
        carry = self._compute_gate("carry", inputs, self._bias)
        transform = (
            1 - carry if self._is_coupled else self._compute_gate("transform", inputs, -self._bias)
        )
        return inputs * carry + outputs * transform, state

    def _compute_gate(self, name: str, inputs: tf.Tensor, bias: float) -> tf.Tensor:
        size = inputs.shape[-1]
        start = _v1.constant_initializer(bias)
        weights = _v1.get_variable(f"{name}_w", [size, size], inputs.dtype)
        return tf.sigmoid(inputs @ weights + _v1.get_variable(f"{name}_b", [size], None, start))


class AttentionCellWrapper(CellWrapper):
    """Cell that attends to the last outputs (Bahdanau et al., 2014, applied to its own past).

    Args:
      cell: The inner cell.
      attn_length: Number of past outputs.
      attn_size: Size of the outputs; by default that of the inner cell's.
      attn_vec_size: Size of the comparison; by default that of the inner cell's outputs.
      input_size: Size of the inner cell's inputs; by default that of the inputs.
      state_is_tuple: Must be True.
      reuse: Whether to reuse existing variables.

    Raises:
      ValueError: The length is not positive, or the state would be one tensor.
    """

    def __init__(
        self,
        cell: Cell,
        attn_length: int,
        attn_size: int | None = None,
        attn_vec_size: int | None = None,
        input_size: int | None = None,
        state_is_tuple: bool = True,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(cell, reuse)
        if attn_length <= 0:
            raise ValueError(f"attn_length should be greater than zero, got {attn_length}")
        if not state_is_tuple:
            raise ValueError("AttentionCellWrapper(state_is_tuple=False): use the default, True.")
        self._length, self._input_size = attn_length, input_size
        self._size = attn_size or cell.output_size
        self._vector_size = attn_vec_size or cell.output_size

    @property
    def state_size(self) -> tuple[Nest, int, int]:
        """The sizes of the inner state, of the attention, and of the past outputs."""
        return self._cell.state_size, self._size, self._size * self._length

    @property
    def output_size(self) -> int:
        """The size of the outputs."""
        return self._size

    def zero_state(self, batch_size: Any, dtype: Any) -> Nest:
        """Returns the state before the first step."""
        zeros = [tf.zeros([batch_size, size], dtype) for size in self.state_size[1:]]
        return (self._cell.zero_state(batch_size, dtype), *zeros)

    def call(self, inputs: tf.Tensor, state: Nest) -> _Step:
        """Returns the outputs and the state after one step."""
        inner, attention, past = state
        past = tf.reshape(past, [-1, self._length, self._size])
        size = self._input_size or inputs.shape[-1]
        outputs, inner = self._cell(project(tf.concat([inputs, attention], 1), size), inner)
        attention = self._attend(tf.concat(tf.nest.flatten(inner), 1), past)
        with _v1.variable_scope("attn_output_projection"):
            outputs = project(tf.concat([outputs, attention], 1), self._size)
        past = tf.concat([past[:, 1:], outputs[:, None]], 1)
        return outputs, (inner, attention, tf.reshape(past, [-1, self._length * self._size]))

    def _attend(self, query: tf.Tensor, past: tf.Tensor) -> tf.Tensor:
        """Returns the mean of past outputs, weighted by how well they fit the query."""
        with _v1.variable_scope("attention"):
            shape = [1, 1, self._size, self._vector_size]
            kernel = _v1.get_variable("attn_w", shape, past.dtype)
            vector = _v1.get_variable("attn_v", [self._vector_size], past.dtype)
            features = tf.einsum("bls,sv->blv", past, kernel[0, 0])
            compared = tf.tanh(features + project(query, self._vector_size)[:, None])
            weights = tf.nn.softmax(tf.reduce_sum(vector * compared, 2))
            return tf.reduce_sum(weights[:, :, None] * past, 1)


class CudnnCompatibleLSTMCell(LSTMBlockCell):
    """LSTM cell with the equations of cuDNN.

    Args:
      num_units: Number of units.
      reuse: Whether to reuse existing variables.
    """

    def __init__(self, num_units: int, reuse: bool | None = None) -> None:
        super().__init__(num_units, 0, reuse=reuse, name="cudnn_compatible_lstm_cell")


class CudnnCompatibleGRUCell(CellOfUnits):
    """GRU cell with the equations of cuDNN: the reset gate acts on the projected state.

    Args:
      num_units: Number of units.
      reuse: Whether to reuse existing variables.
      kernel_initializer: Initial values of the weights.
    """

    def __init__(
        self,
        num_units: int,
        reuse: bool | None = None,
        kernel_initializer: Initializer | None = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        self._num_units, self._initializer = num_units, kernel_initializer

    def call(self, inputs: tf.Tensor, state: tf.Tensor) -> _Step:
        """Returns the outputs, which are the new state, and the new state."""
        both = tf.concat([inputs, state], 1)
        ones = _v1.ones_initializer()
        gates = tf.sigmoid(self._project("gates", both, 2 * self._num_units, ones))
        reset, update = tf.split(gates, 2, 1)
        with _v1.variable_scope("candidate"):
            of_inputs = self._project("input_projection", inputs, self._num_units)
            of_state = self._project("hidden_projection", state, self._num_units)
        candidate = tf.tanh(of_inputs + reset * of_state)
        new_state = update * state + (1 - update) * candidate
        return new_state, new_state

    def _project(
        self, scope: str, x: tf.Tensor, size: int, bias: Initializer | None = None
    ) -> tf.Tensor:
        with _v1.variable_scope(scope, initializer=self._initializer):
            return project(x, size, bias)
