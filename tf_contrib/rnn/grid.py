"""Cells with one LSTM along the frequencies, and one along the time."""

import collections
from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from tf_contrib._types import Initializer, Nest
from tf_contrib.rnn.frequencies import SlicingCell

_v1 = tf.compat.v1
_Step = tuple[tf.Tensor, Nest]
_Pair = tuple[tf.Tensor, tf.Tensor]


class GridLSTMCell(SlicingCell):
    """Two LSTMs over slices of the inputs: along the frequencies, and along the time.

    Both read the outputs of both. The outputs are those of all slices, and the state consists of
    c and m of the LSTM along the time, of all slices (Kalchbrenner et al., 2015).

    Args:
      num_units: Number of units of each LSTM.
      use_peepholes: Whether the gates read c of both LSTMs.
      share_time_frequency_weights: Whether both LSTMs have the same weights.
      cell_clip: Greatest absolute value of c.
      initializer: Initial values of the weights.
      num_unit_shards: Number of variables that the weights are in.
      forget_bias: Number added to the forget gates.
      feature_size: Size of a slice.
      frequency_skip: Distance of two slices.
      num_frequency_blocks: Number of slices of each block; every block has its own weights.
      start_freqindex_list: First input of each block; a single block has all inputs.
      end_freqindex_list: End of the inputs of each block.
      couple_input_forget_gates: Whether the forget gate is 1 minus the input gate.
      state_is_tuple: Whether the state is a tuple; otherwise it is one tensor.
      reuse: Whether to reuse existing variables.

    Raises:
      ValueError: The numbers of slices are not given.
    """

    _tuple_name = "GridLSTMStateTuple"
    _prefixes: tuple[str, ...] = ("",)

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        share_time_frequency_weights: bool = False,
        cell_clip: float | None = None,
        initializer: Initializer | None = None,
        num_unit_shards: int = 1,
        forget_bias: float = 1.0,
        feature_size: int | None = None,
        frequency_skip: int | None = None,
        num_frequency_blocks: list[int] | None = None,
        start_freqindex_list: list[int] | None = None,
        end_freqindex_list: list[int] | None = None,
        couple_input_forget_gates: bool = False,
        state_is_tuple: bool = True,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        if num_frequency_blocks is None:
            raise ValueError("Must specify num_frequency_blocks")
        self._units, self._has_peepholes, self._clip = num_units, use_peepholes, cell_clip
        self._is_shared, self._is_tuple = share_time_frequency_weights, state_is_tuple
        self._initializer, self._shards = initializer, num_unit_shards
        self._forget_bias, self._gates = forget_bias, "ijo" if couple_input_forget_gates else "ijfo"
        self._feature_size, self._skip = feature_size, frequency_skip
        self._blocks = num_frequency_blocks
        self._starts, self._ends = start_freqindex_list, end_freqindex_list
        names = [
            f"{prefix}state_f{index:02d}_b{block:02d}_{part}"
            for prefix in self._prefixes
            for block, number in enumerate(num_frequency_blocks)
            for index in range(number)
            for part in "cm"
        ]
        self._tuple: Any = collections.namedtuple(self._tuple_name, names)  # type: ignore[misc]  # noqa: PYI024

    @property
    def state_tuple_type(self) -> Any:
        """The class of the states."""
        return self._tuple

    @property
    def output_size(self) -> int:
        """The size of the outputs of both LSTMs for all slices."""
        return self._units * len(self._tuple._fields)

    @property
    def state_size(self) -> Nest:
        """The sizes of the parts of the state, or their sum."""
        sizes = self._tuple(*[self._units] * len(self._tuple._fields))
        return sizes if self._is_tuple else sum(sizes)

    def call(self, inputs: tf.Tensor, state: Nest) -> _Step:
        """Returns the outputs and the new state."""
        before = state if self._is_tuple else tf.split(state, len(self._tuple._fields), 1)
        outputs, after = self._run(inputs, list(before))
        return outputs, self._tuple(*after) if self._is_tuple else tf.concat(after, 1)

    def _run(
        self, inputs: tf.Tensor, before: list[tf.Tensor], offset: int = 0, is_backward: bool = False
    ) -> tuple[tf.Tensor, list[tf.Tensor]]:
        """Returns the outputs and the new parts of the state, of one direction."""
        outputs: list[tf.Tensor] = []
        after: list[tf.Tensor] = []
        scope = _v1.get_variable_scope()
        with _v1.variable_scope(scope, initializer=self._initializer):
            for block, slices in enumerate(self._cut_blocks(inputs, offset)):
                weights = [self._create_weights(kind, block) for kind in "ft"]
                along = tf.zeros_like(before[0]), tf.zeros_like(before[0])
                for features in reversed(slices) if is_backward else slices:
                    cell, hidden = before[len(after)], before[len(after) + 1]
                    both = tf.concat([features, hidden, along[1]], 1)
                    gates = [self._split(both, *pair) for pair in weights]
                    along, through = self._step(gates, (along[0], cell), block)
                    after += through
                    outputs += [through[1], along[1]]
        return tf.concat(outputs, 1), after

    def _cut_blocks(self, inputs: tf.Tensor, offset: int) -> Iterator[list[tf.Tensor]]:
        ends = self._ends or [int(inputs.shape[1])]
        for number, start, end in zip(self._blocks, self._starts or [0], ends, strict=True):
            slices = self._cut_slices(inputs, start, end, offset)
            if len(slices) != number:
                raise ValueError(f"{len(slices)} slices of the inputs, in a block of {number}.")
            yield slices

    def _create_weights(self, kind: str, block: int) -> _Pair:
        if self._is_shared:
            kind = "f"
        with _v1.variable_scope(_v1.get_variable_scope(), reuse=_v1.AUTO_REUSE):
            kernel = self._create_kernel(f"W_{kind}_{block}", self._feature_size + 2 * self._units)
            return kernel, self._create_bias(f"B_{kind}_{block}")

    def _step(
        self, gates: list[dict[str, tf.Tensor]], before: _Pair, block: int
    ) -> tuple[_Pair, _Pair]:
        """Returns the new c and m along the frequencies, and those along the time."""
        kinds = "freq", "freq" if self._is_shared else "time"
        cells = []
        for of_kind, kind, cell in zip(gates, kinds, before, strict=True):
            opened = tf.sigmoid(of_kind["i"] + self._peep("I", kind, before, block))
            if "f" in of_kind:
                forget = of_kind["f"] + self._forget_bias
                kept = tf.sigmoid(forget + self._peep("F", kind, before, block))
            else:
                kept = 1 - opened
            cells.append(self._clip_cell(kept * cell + opened * tf.tanh(of_kind["j"])))
        after = cells[0], cells[1]
        hidden = [
            tf.sigmoid(of_kind["o"] + self._peep("O", kind, after, block)) * tf.tanh(cell)
            for of_kind, kind, cell in zip(gates, kinds, after, strict=True)
        ]
        return (after[0], hidden[0]), (after[1], hidden[1])

    def _peep(self, gate: str, kind: str, cells: _Pair, block: int) -> Any:
        if not self._has_peepholes:
            return 0.0
        with _v1.variable_scope(_v1.get_variable_scope(), reuse=_v1.AUTO_REUSE):
            along, through = (
                _v1.get_variable(f"W_{gate}_diag_{kind}{letter}_{block}", [self._units])
                for letter in "ft"
            )
        return along * cells[0] + through * cells[1]


class BidirectionalGridLSTMCell(GridLSTMCell):
    """Two grid cells, of which one reads the slices from the last to the first.

    Args:
      num_units: Number of units of each LSTM.
      use_peepholes: Whether the gates read c of both LSTMs.
      share_time_frequency_weights: Whether both LSTMs of a grid have the same weights.
      cell_clip: Greatest absolute value of c.
      initializer: Initial values of the weights.
      num_unit_shards: Number of variables that the weights are in.
      forget_bias: Number added to the forget gates.
      feature_size: Size of a slice.
      frequency_skip: Distance of two slices.
      num_frequency_blocks: Number of slices of each block; every block has its own weights.
      start_freqindex_list: First input of each block; a single block has all inputs.
      end_freqindex_list: End of the inputs of each block.
      couple_input_forget_gates: Whether the forget gate is 1 minus the input gate.
      backward_slice_offset: First input of the slices that are read backward.
      reuse: Whether to reuse existing variables.
    """

    _tuple_name = "BidirectionalGridLSTMStateTuple"
    _prefixes = ("fwd_", "bwd_")

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        share_time_frequency_weights: bool = False,
        cell_clip: float | None = None,
        initializer: Initializer | None = None,
        num_unit_shards: int = 1,
        forget_bias: float = 1.0,
        feature_size: int | None = None,
        frequency_skip: int | None = None,
        num_frequency_blocks: list[int] | None = None,
        start_freqindex_list: list[int] | None = None,
        end_freqindex_list: list[int] | None = None,
        couple_input_forget_gates: bool = False,
        backward_slice_offset: int = 0,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(
            num_units,
            use_peepholes,
            share_time_frequency_weights,
            cell_clip,
            initializer,
            num_unit_shards,
            forget_bias,
            feature_size,
            frequency_skip,
            num_frequency_blocks,
            start_freqindex_list,
            end_freqindex_list,
            couple_input_forget_gates,
            reuse=reuse,
        )
        self._offset = backward_slice_offset

    def call(self, inputs: tf.Tensor, state: Nest) -> _Step:
        """Returns the outputs and the new state."""
        half = len(state) // 2
        with _v1.variable_scope("fwd"):
            outputs, after = self._run(inputs, list(state[:half]))
        with _v1.variable_scope("bwd"):
            backward, more = self._run(inputs, list(state[half:]), self._offset, True)
        return tf.concat([outputs, backward], 1), self._tuple(*after, *more)
