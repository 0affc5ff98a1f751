"""Cells of `tf.contrib.rnn` that TensorFlow no longer contains."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from tf_contrib._types import DType, Nest, TensorLike

_ZEROS = tf.compat.v1.zeros_initializer()


class LSTMBlockCell(tf.compat.v1.nn.rnn_cell.LSTMCell):
    """LSTM cell with the arguments and variable names of the fused `LSTMBlockCell`.

    Args:
      num_units: Number of units.
      forget_bias: Number added to the forget gates.
      cell_clip: Bound of the cell states, or None.
      use_peephole: Whether gates see the cell state.
      dtype: Type of the variables.
      reuse: Whether to reuse existing variables.
      name: Variable scope of the cell.
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        cell_clip: float | None = None,
        use_peephole: bool = False,
        dtype: DType | None = None,
        reuse: bool | None = None,
        name: str = "lstm_cell",
    ) -> None:
        super().__init__(
            num_units,
            use_peepholes=use_peephole,
            cell_clip=cell_clip,
            forget_bias=forget_bias,
            dtype=dtype,
            reuse=reuse,
            name=name,
        )


class GRUBlockCellV2(tf.compat.v1.nn.rnn_cell.GRUCell):
    """GRU cell with the arguments of the fused `GRUBlockCellV2`.

    Args:
      num_units: Number of units.
      cell_size: Older name of num_units.
      reuse: Whether to reuse existing variables.
      name: Variable scope of the cell.
    """

    def __init__(
        self,
        num_units: int | None = None,
        cell_size: int | None = None,
        reuse: bool | None = None,
        name: str = "gru_cell",
    ) -> None:
        super().__init__(_choose_units(num_units, cell_size), reuse=reuse, name=name)


class GRUBlockCell(tf.compat.v1.nn.rnn_cell.RNNCell):
    """GRU cell with the variable names of the fused `GRUBlockCell`; see `GRUBlockCellV2`."""

    def __init__(
        self,
        num_units: int | None = None,
        cell_size: int | None = None,
        reuse: bool | None = None,
        name: str = "gru_cell",
    ) -> None:
        super().__init__(_reuse=reuse, name=name)
        self._units = _choose_units(num_units, cell_size)

    @property
    def state_size(self) -> int:
        """Number of units."""
        return self._units

    @property
    def output_size(self) -> int:
        """Number of units."""
        return self._units

    def call(self, inputs: tf.Tensor, state: Nest) -> tuple[tf.Tensor, Nest]:
        """Computes one step."""
        units, depth = self._units, inputs.shape[-1] + self._units
        variable = tf.compat.v1.get_variable
        w_ru = variable("w_ru", [depth, 2 * units])
        b_ru = variable("b_ru", [2 * units], initializer=tf.compat.v1.ones_initializer())
        w_c = variable("w_c", [depth, units])
        b_c = variable("b_c", [units], initializer=_ZEROS)
        gates = tf.sigmoid(tf.matmul(tf.concat([inputs, state], 1), w_ru) + b_ru)
        reset, update = tf.split(gates, 2, 1)
        candidate = tf.tanh(tf.matmul(tf.concat([inputs, reset * state], 1), w_c) + b_c)
        state = update * state + (1 - update) * candidate
        return state, state


class LayerNormBasicLSTMCell(tf.compat.v1.nn.rnn_cell.RNNCell):
    """LSTM cell with layer normalization of its gates.

    Args:
      num_units: Number of units.
      forget_bias: Number added to the forget gates.
      input_size: Unused.
      activation: Activation of the states.
      layer_norm: Whether to normalize.
      norm_gain: Initial value of the scales.
      norm_shift: Initial value of the shifts.
      dropout_keep_prob: Probability that dropout keeps a new value.
      dropout_prob_seed: Seed of the dropout.
      reuse: Whether to reuse existing variables.
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        input_size: object = None,
        activation: Callable[..., Any] = tf.tanh,
        layer_norm: bool = True,
        norm_gain: float = 1.0,
        norm_shift: float = 0.0,
        dropout_keep_prob: TensorLike = 1.0,
        dropout_prob_seed: int | None = None,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        del input_size
        self._units, self._forget_bias, self._activation = num_units, forget_bias, activation
        self._norm = (norm_gain, norm_shift) if layer_norm else None
        self._keep_prob, self._seed = dropout_keep_prob, dropout_prob_seed

    @property
    def state_size(self) -> Nest:
        """Sizes of c and h."""
        return tf.compat.v1.nn.rnn_cell.LSTMStateTuple(self._units, self._units)

    @property
    def output_size(self) -> int:
        """Number of units."""
        return self._units

    def call(self, inputs: tf.Tensor, state: Nest) -> tuple[tf.Tensor, Nest]:
        """Computes one step."""
        cell, hidden = state
        inputs_and_hidden = tf.concat([inputs, hidden], 1)
        kernel = tf.compat.v1.get_variable("kernel", [inputs_and_hidden.shape[-1], 4 * self._units])
        gates = tf.matmul(inputs_and_hidden, kernel)
        if self._norm is None:
            gates += tf.compat.v1.get_variable("bias", [4 * self._units], initializer=_ZEROS)
        names = ("input", "transform", "forget", "output")
        parts = zip(names, tf.split(gates, 4, 1), strict=True)
        i, j, f, o = (self._normalize(part, name) for name, part in parts)
        candidate = tf.nn.dropout(self._activation(j), rate=1 - self._keep_prob, seed=self._seed)
        cell = cell * tf.sigmoid(f + self._forget_bias) + tf.sigmoid(i) * candidate
        cell = self._normalize(cell, "state")
        hidden = self._activation(cell) * tf.sigmoid(o)
        return hidden, tf.compat.v1.nn.rnn_cell.LSTMStateTuple(cell, hidden)

    def _normalize(self, values: tf.Tensor, name: str) -> tf.Tensor:
        if self._norm is None:
            return values
        gain, shift = (tf.compat.v1.constant_initializer(value) for value in self._norm)
        with tf.compat.v1.variable_scope(name):
            gamma = tf.compat.v1.get_variable("gamma", [self._units], initializer=gain)
            beta = tf.compat.v1.get_variable("beta", [self._units], initializer=shift)
        mean, variance = tf.nn.moments(values, [-1], keepdims=True)
        return tf.nn.batch_normalization(values, mean, variance, beta, gamma, 1e-12)


def _choose_units(num_units: int | None, cell_size: int | None) -> int:
    sizes = [size for size in (num_units, cell_size) if size is not None]
    if len(sizes) != 1:
        raise ValueError("Give exactly one of num_units and its older name cell_size.")
    return sizes[0]
