"""`tf.contrib.rnn`: recurrent cells by their old place, and those that fuse the steps of time."""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

_v1 = tf.compat.v1.nn
_cells = _v1.rnn_cell
RNNCell = LayerRNNCell = _cells.RNNCell
BasicRNNCell = _cells.BasicRNNCell
BasicLSTMCell = _cells.BasicLSTMCell
LSTMCell = _cells.LSTMCell
LSTMBlockCell = _cells.BasicLSTMCell
GRUCell = GRUBlockCell = GRUBlockCellV2 = _cells.GRUCell
MultiRNNCell = _cells.MultiRNNCell
DropoutWrapper = _cells.DropoutWrapper
ResidualWrapper = _cells.ResidualWrapper
DeviceWrapper = _cells.DeviceWrapper
LSTMStateTuple = _cells.LSTMStateTuple
static_rnn = _v1.static_rnn
static_state_saving_rnn = _v1.static_state_saving_rnn
static_bidirectional_rnn = _v1.static_bidirectional_rnn


class FusedRNNCell:
    """A cell that takes all steps of a sequence at once; inputs are (time, batch, depth)."""

    def __call__(
        self,
        inputs: Any,
        initial_state: Any = None,
        dtype: Any = None,
        sequence_length: Any = None,
        scope: Any = None,
    ) -> Any:
        """Returns the outputs, (time, batch, units), and the last state."""
        raise NotImplementedError


class FusedRNNCellAdaptor(FusedRNNCell):
    """A common cell, step after step.

    Args:
      cell: The cell.
      use_dynamic_rnn: Unused: steps are always in a loop.
    """

    def __init__(self, cell: Any, use_dynamic_rnn: bool = False) -> None:
        del use_dynamic_rnn
        self._cell = cell

    def __call__(
        self,
        inputs: Any,
        initial_state: Any = None,
        dtype: Any = None,
        sequence_length: Any = None,
        scope: Any = None,
    ) -> Any:
        """Returns the outputs and the last state."""
        inputs = tf.stack(inputs) if isinstance(inputs, (list, tuple)) else inputs
        return _v1.dynamic_rnn(
            self._cell, inputs, sequence_length, initial_state, dtype, time_major=True, scope=scope
        )


class LSTMBlockFusedCell(FusedRNNCell):
    """An LSTM with the variables `kernel` and `bias` in the scope `lstm_fused_cell`.

    Args:
      num_units: Its units.
      forget_bias: Added to the forget gates.
      cell_clip: Bounds of the cell states, or None.
      use_peephole: Not supported.
      reuse: Whether its variables are there already.
      dtype: Of its variables.
      name: Its scope.
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        cell_clip: float | None = None,
        use_peephole: bool = False,
        reuse: Any = None,
        dtype: Any = None,
        name: str = "lstm_fused_cell",
    ) -> None:
        if use_peephole:
            raise ValueError("LSTMBlockFusedCell(use_peephole=True): use LSTMCell with it instead.")
        del dtype
        self.num_units, self._name = num_units, name
        self._cell = _v1.rnn_cell.LSTMCell(
            num_units, cell_clip=cell_clip, forget_bias=forget_bias, reuse=reuse, name=name
        )

    def __call__(
        self,
        inputs: Any,
        initial_state: Any = None,
        dtype: Any = None,
        sequence_length: Any = None,
        scope: Any = None,
    ) -> Any:
        """Returns the outputs, (time, batch, num_units), and the last (c, h)."""
        inputs = tf.stack(inputs) if isinstance(inputs, (list, tuple)) else inputs
        inputs = tf.convert_to_tensor(inputs)
        if initial_state is not None:
            initial_state = LSTMStateTuple(*initial_state)
        # Without a scope of the loop's own, the variables are named as those of the fused cell.
        state = initial_state or self._cell.zero_state(tf.shape(inputs)[1], inputs.dtype)
        self._cell.build(tf.TensorShape([None, inputs.shape[-1]]))
        outputs, last = _v1.dynamic_rnn(
            self._cell, inputs, sequence_length, state, dtype, time_major=True, scope=scope
        )
        return outputs, last


class TimeReversedFusedRNN(FusedRNNCell):
    """A fused cell that reads sequences from their end.

    Args:
      cell: The fused cell.
    """

    def __init__(self, cell: FusedRNNCell) -> None:
        self._cell = cell

    def __call__(
        self,
        inputs: Any,
        initial_state: Any = None,
        dtype: Any = None,
        sequence_length: Any = None,
        scope: Any = None,
    ) -> Any:
        """Returns the outputs, in the order of the inputs, and the last state."""
        outputs, state = self._cell(
            _reversed(inputs, sequence_length), initial_state, dtype, sequence_length, scope
        )
        return _reversed(outputs, sequence_length), state


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
        return LSTMStateTuple(self._units, self._units)

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
        return hidden, LSTMStateTuple(cell, hidden)

    def _normalized(self, values: tf.Tensor, name: str) -> tf.Tensor:
        if self._norm is None:
            return values
        gain, shift = (tf.compat.v1.constant_initializer(value) for value in self._norm)
        with tf.compat.v1.variable_scope(name):
            gamma = tf.compat.v1.get_variable("gamma", [self._units], initializer=gain)
            beta = tf.compat.v1.get_variable("beta", [self._units], initializer=shift)
        mean, variance = tf.nn.moments(values, [-1], keepdims=True)
        return tf.nn.batch_normalization(values, mean, variance, beta, gamma, 1e-12)


def stack_bidirectional_dynamic_rnn(
    cells_fw: Sequence[Any],
    cells_bw: Sequence[Any],
    inputs: Any,
    initial_states_fw: Sequence[Any] | None = None,
    initial_states_bw: Sequence[Any] | None = None,
    dtype: Any = None,
    sequence_length: Any = None,
    parallel_iterations: int | None = None,
    time_major: bool = False,
    scope: Any = None,
) -> tuple[tf.Tensor, tuple[Any, ...], tuple[Any, ...]]:
    """Layers of cells in both directions, each on the outputs of both directions below.

    Returns:
      The outputs of the last layer, and the last states of all layers, forward and backward.
    """
    states: tuple[list[Any], list[Any]] = ([], [])
    none = [None] * len(cells_fw)
    firsts = zip(initial_states_fw or none, initial_states_bw or none, strict=True)
    with tf.compat.v1.variable_scope(scope or "stack_bidirectional_rnn"):
        for number, (cells, first) in enumerate(
            zip(zip(cells_fw, cells_bw, strict=True), firsts, strict=True)
        ):
            with tf.compat.v1.variable_scope(f"cell_{number}"):
                outputs, last = _v1.bidirectional_dynamic_rnn(
                    *cells,
                    inputs,
                    sequence_length,
                    *first,
                    dtype=dtype,
                    parallel_iterations=parallel_iterations,
                    time_major=time_major,
                )
            inputs = tf.concat(outputs, 2)
            states[0].append(last[0])
            states[1].append(last[1])
    return inputs, tuple(states[0]), tuple(states[1])


_ZEROS = tf.compat.v1.zeros_initializer()


def _reversed(inputs: Any, lengths: Any) -> tf.Tensor:
    inputs = tf.stack(inputs) if isinstance(inputs, (list, tuple)) else inputs
    if lengths is None:
        return tf.reverse(inputs, [0])
    return tf.reverse_sequence(inputs, lengths, seq_axis=0, batch_axis=1)
