"""Cells of `tf.contrib.rnn` that have no place in TensorFlow any more."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

_ZEROS = tf.compat.v1.zeros_initializer()


class LSTMBlockCell(tf.compat.v1.nn.rnn_cell.LSTMCell):
    """An LSTM cell by the name of one that was computed in one operation.

    Args:
      num_units: Its units.
      forget_bias: Added to the forget gates.
      cell_clip: Bounds of the cell states, or None.
      use_peephole: Whether gates see the cell state.
      dtype: Of its variables.
      reuse: Whether its variables are there already.
      name: Its scope.
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        cell_clip: float | None = None,
        use_peephole: bool = False,
        dtype: Any = None,
        reuse: Any = None,
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
    """A GRU cell by the name of one that was computed in one operation.

    Args:
      num_units: Its units.
      cell_size: The older name of that.
      reuse: Whether its variables are there already.
      name: Its scope.
    """

    def __init__(
        self,
        num_units: int | None = None,
        cell_size: int | None = None,
        reuse: Any = None,
        name: str = "gru_cell",
    ) -> None:
        super().__init__(_units(num_units, cell_size), reuse=reuse, name=name)


class GRUBlockCell(tf.compat.v1.nn.rnn_cell.RNNCell):
    """A GRU cell with variables of other names; see `GRUBlockCellV2`."""

    def __init__(
        self,
        num_units: int | None = None,
        cell_size: int | None = None,
        reuse: Any = None,
        name: str = "gru_cell",
    ) -> None:
        super().__init__(_reuse=reuse, name=name)
        self._units = _units(num_units, cell_size)

    @property
    def state_size(self) -> int:
        """Its units."""
        return self._units

    @property
    def output_size(self) -> int:
        """Its units."""
        return self._units

    def call(self, inputs: Any, state: Any) -> Any:
        """One step."""
        units, depth = self._units, inputs.shape[-1] + self._units
        variable = tf.compat.v1.get_variable
        w_ru = variable("w_ru", [depth, 2 * units])
        b_ru = variable("b_ru", [2 * units], initializer=tf.compat.v1.ones_initializer())
        w_c = variable("w_c", [depth, units])
        b_c = variable("b_c", [units], initializer=_ZEROS)
        gates = tf.sigmoid(tf.matmul(tf.concat([inputs, state], 1), w_ru) + b_ru)
        reset, update = tf.split(gates, 2, 1)
        new = tf.tanh(tf.matmul(tf.concat([inputs, reset * state], 1), w_c) + b_c)
        state = update * state + (1 - update) * new
        return state, state


class LayerNormBasicLSTMCell(tf.compat.v1.nn.rnn_cell.RNNCell):
    """An LSTM whose gates are normalized.

    Args:
      num_units: Its units.
      forget_bias: Added to the forget gates.
      activation: Of its states.
      layer_norm: Whether to normalize.
      norm_gain: First value of the scales.
      norm_shift: First value of the shifts.
      dropout_keep_prob: Share of new values that are kept.
      dropout_prob_seed: Of the dropout.
      reuse: Whether its variables are there already.
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        input_size: Any = None,
        activation: Callable[..., Any] = tf.tanh,
        layer_norm: bool = True,
        norm_gain: float = 1.0,
        norm_shift: float = 0.0,
        dropout_keep_prob: Any = 1.0,
        dropout_prob_seed: int | None = None,
        reuse: Any = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        del input_size
        self._units, self._forget_bias, self._activation = num_units, forget_bias, activation
        self._norm = (norm_gain, norm_shift) if layer_norm else None
        self._keep, self._seed = dropout_keep_prob, dropout_prob_seed

    @property
    def state_size(self) -> Any:
        """Sizes of c and h."""
        return tf.compat.v1.nn.rnn_cell.LSTMStateTuple(self._units, self._units)

    @property
    def output_size(self) -> int:
        """Its units."""
        return self._units

    def call(self, inputs: Any, state: Any) -> Any:
        """One step."""
        cell, hidden = state
        joined = tf.concat([inputs, hidden], 1)
        kernel = tf.compat.v1.get_variable("kernel", [joined.shape[-1], 4 * self._units])
        gates = tf.matmul(joined, kernel)
        if self._norm is None:
            gates += tf.compat.v1.get_variable("bias", [4 * self._units], initializer=_ZEROS)
        names = ("input", "transform", "forget", "output")
        parts = zip(names, tf.split(gates, 4, 1), strict=True)
        i, j, f, o = (self._normalized(part, name) for name, part in parts)
        new = tf.nn.dropout(self._activation(j), rate=1 - self._keep, seed=self._seed)
        cell = cell * tf.sigmoid(f + self._forget_bias) + tf.sigmoid(i) * new
        cell = self._normalized(cell, "state")
        hidden = self._activation(cell) * tf.sigmoid(o)
        return hidden, tf.compat.v1.nn.rnn_cell.LSTMStateTuple(cell, hidden)

    def _normalized(self, values: tf.Tensor, name: str) -> tf.Tensor:
        if self._norm is None:
            return values
        gain, shift = (tf.compat.v1.constant_initializer(value) for value in self._norm)
        with tf.compat.v1.variable_scope(name):
            gamma = tf.compat.v1.get_variable("gamma", [self._units], initializer=gain)
            beta = tf.compat.v1.get_variable("beta", [self._units], initializer=shift)
        mean, variance = tf.nn.moments(values, [-1], keepdims=True)
        return tf.nn.batch_normalization(values, mean, variance, beta, gamma, 1e-12)


def _units(num_units: int | None, cell_size: int | None) -> int:
    given = [size for size in (num_units, cell_size) if size is not None]
    if len(given) != 1:
        raise ValueError("Give num_units, or its older name cell_size.")
    return given[0]
