"""Cells that take all steps of a sequence at once."""

from typing import Any

import tensorflow as tf

from estimator_train.legacy.contrib.rnn.cells import LSTMBlockCell

_v1 = tf.compat.v1.nn


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
        """Returns the outputs, a list where inputs are one, and the last state."""
        steps = tf.stack(inputs) if isinstance(inputs, list) else inputs
        outputs, state = _v1.dynamic_rnn(
            self._cell, steps, sequence_length, initial_state, dtype, time_major=True, scope=scope
        )
        return (tf.unstack(outputs) if isinstance(inputs, list) else outputs), state


class LSTMBlockFusedCell(FusedRNNCell):
    """An LSTM with the variables `kernel` and `bias` in the scope `lstm_fused_cell`.

    Arguments are those of `LSTMBlockCell`.
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
        self.num_units, self._name = num_units, name
        self._options = (num_units, forget_bias, cell_clip, use_peephole, dtype, reuse)
        self._cell: LSTMBlockCell | None = None

    def __call__(
        self,
        inputs: Any,
        initial_state: Any = None,
        dtype: Any = None,
        sequence_length: Any = None,
        scope: str | None = None,
    ) -> Any:
        """Returns the outputs, (time, batch, num_units), and the last (c, h).

        Raises:
          ValueError: There is neither a state nor a type, or inputs are of another rank.
        """
        inputs = tf.convert_to_tensor(inputs)
        if inputs.shape.rank not in (None, 3):
            raise ValueError(f"inputs must be (time, batch, depth), are of shape {inputs.shape}.")
        if initial_state is None and dtype is None:
            raise ValueError("Give initial_state or dtype.")
        if self._cell is None:
            self._cell = LSTMBlockCell(*self._options, name=scope or self._name)
            # Without a scope of the loop's own, the variables are named as the fused cell's.
            self._cell.build(tf.TensorShape([None, inputs.shape[-1]]))
        if initial_state is None:
            initial_state = self._cell.zero_state(tf.shape(inputs)[1], dtype)
        state = _v1.rnn_cell.LSTMStateTuple(*initial_state)
        return _v1.dynamic_rnn(self._cell, inputs, sequence_length, state, dtype, time_major=True)


class TimeReversedFusedRNN(FusedRNNCell):
    """A fused cell that reads sequences from their end."""

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


def _reversed(inputs: Any, lengths: Any) -> Any:
    if isinstance(inputs, list):
        return tf.unstack(_reversed(tf.stack(inputs), lengths))
    if lengths is None:
        return tf.reverse(inputs, [0])
    return tf.reverse_sequence(inputs, lengths, seq_axis=0, batch_axis=1)
