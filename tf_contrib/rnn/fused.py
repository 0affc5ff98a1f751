"""Fused cells, which compute all steps of a sequence in one call."""

import tensorflow as tf

from tf_contrib._types import Cell, DType, Nest, Scope, TensorLike
from tf_contrib.rnn.cells import LSTMBlockCell

_v1 = tf.compat.v1.nn


class FusedRNNCell:
    """Cell that computes all steps of a sequence in one call; inputs are (time, batch, depth)."""

    def __call__(
        self,
        inputs: TensorLike | list[tf.Tensor],
        initial_state: Nest | None = None,
        dtype: DType | None = None,
        sequence_length: TensorLike | None = None,
        scope: Scope | None = None,
    ) -> tuple[tf.Tensor | list[tf.Tensor], Nest]:
        """Returns the outputs, (time, batch, units), and the last state."""
        raise NotImplementedError


class FusedRNNCellAdaptor(FusedRNNCell):
    """Fused cell that runs an ordinary cell step by step.

    Args:
      cell: Ordinary cell.
      use_dynamic_rnn: Unused: the steps always run in a loop.
    """

    def __init__(self, cell: Cell, use_dynamic_rnn: bool = False) -> None:
        del use_dynamic_rnn
        self._cell = cell

    def __call__(
        self,
        inputs: TensorLike | list[tf.Tensor],
        initial_state: Nest | None = None,
        dtype: DType | None = None,
        sequence_length: TensorLike | None = None,
        scope: Scope | None = None,
    ) -> tuple[tf.Tensor | list[tf.Tensor], Nest]:
        """Returns the outputs, as a list for a list of inputs, and the last state."""
        steps = tf.stack(inputs) if isinstance(inputs, list) else inputs
        outputs, state = _v1.dynamic_rnn(
            self._cell, steps, sequence_length, initial_state, dtype, time_major=True, scope=scope
        )
        return (tf.unstack(outputs) if isinstance(inputs, list) else outputs), state


class LSTMBlockFusedCell(FusedRNNCell):
    """LSTM with the variables `kernel` and `bias` in the scope `lstm_fused_cell`.

    The arguments are those of `LSTMBlockCell`.
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        cell_clip: float | None = None,
        use_peephole: bool = False,
        reuse: bool | None = None,
        dtype: DType | None = None,
        name: str = "lstm_fused_cell",
    ) -> None:
        self.num_units, self._name = num_units, name
        self._options = (num_units, forget_bias, cell_clip, use_peephole, dtype, reuse)
        self._cell: LSTMBlockCell | None = None

    def __call__(
        self,
        inputs: TensorLike | list[tf.Tensor],
        initial_state: Nest | None = None,
        dtype: DType | None = None,
        sequence_length: TensorLike | None = None,
        scope: str | None = None,
    ) -> tuple[tf.Tensor | list[tf.Tensor], Nest]:
        """Returns the outputs, (time, batch, num_units), and the last (c, h).

        Raises:
          ValueError: initial_state and dtype are both missing, or inputs have another rank.
        """
        inputs = tf.convert_to_tensor(inputs)
        if inputs.shape.rank not in (None, 3):
            raise ValueError(f"inputs must have shape (time, batch, depth), got {inputs.shape}.")
        if initial_state is None and dtype is None:
            raise ValueError("Give initial_state or dtype.")
        if self._cell is None:
            self._cell = LSTMBlockCell(*self._options, name=scope or self._name)
            # Building here keeps the scope of the loop out of the variable names.
            self._cell.build(tf.TensorShape([None, inputs.shape[-1]]))
        if initial_state is None:
            initial_state = self._cell.zero_state(tf.shape(inputs)[1], dtype)
        state = _v1.rnn_cell.LSTMStateTuple(*initial_state)
        return _v1.dynamic_rnn(self._cell, inputs, sequence_length, state, dtype, time_major=True)


class TimeReversedFusedRNN(FusedRNNCell):
    """Fused cell that reads sequences from the end."""

    def __init__(self, cell: FusedRNNCell) -> None:
        self._cell = cell

    def __call__(
        self,
        inputs: TensorLike | list[tf.Tensor],
        initial_state: Nest | None = None,
        dtype: DType | None = None,
        sequence_length: TensorLike | None = None,
        scope: Scope | None = None,
    ) -> tuple[tf.Tensor | list[tf.Tensor], Nest]:
        """Returns the outputs in the order of the inputs, and the last state."""
        outputs, state = self._cell(
            _reverse(inputs, sequence_length), initial_state, dtype, sequence_length, scope
        )
        return _reverse(outputs, sequence_length), state


def _reverse(
    inputs: TensorLike | list[tf.Tensor], lengths: TensorLike | None
) -> tf.Tensor | list[tf.Tensor]:
    if isinstance(inputs, list):
        return tf.unstack(_reverse(tf.stack(inputs), lengths))
    if lengths is None:
        return tf.reverse(inputs, [0])
    return tf.reverse_sequence(inputs, lengths, seq_axis=0, batch_axis=1)
