"""An LSTM cell that reads slices of the inputs one after the other, along the frequencies."""

from typing import Any

import tensorflow as tf

from tf_contrib._types import Initializer, Nest

_v1 = tf.compat.v1
_Step = tuple[tf.Tensor, Nest]
_Pair = tuple[tf.Tensor, tf.Tensor]


class SlicingCell(tf.compat.v1.nn.rnn_cell.RNNCell):
    """Base class: variables and equations of LSTMs that read slices of the inputs."""

    _units: int
    _shards: int
    _clip: float | None
    _forget_bias: float
    _feature_size: Any
    _skip: Any
    _initializer: Initializer | None
    _gates = "ijfo"

    def _cut_slices(
        self, inputs: tf.Tensor, start: int, end: int, offset: int = 0
    ) -> list[tf.Tensor]:
        """Returns as many slices as there are from start to end, each moved by the offset."""
        number = (end - start - self._feature_size) // self._skip + 1
        starts = [start + offset + index * self._skip for index in range(number)]
        return [tf.slice(inputs, [0, first], [-1, self._feature_size]) for first in starts]

    def _create_kernel(self, name: str, rows: int) -> tf.Tensor:
        """Returns weights; a variable of each shard has a part of the rows."""
        size, more = divmod(rows, self._shards)
        shapes = [[size + (index < more), len(self._gates) * self._units] for index in range(rows)]
        shards = [
            _v1.get_variable(f"{name}_{index}", shape)
            for index, shape in enumerate(shapes[: self._shards])
        ]
        return shards[0] if len(shards) == 1 else tf.concat(shards, 0)

    def _create_bias(self, name: str) -> tf.Tensor:
        zeros = _v1.zeros_initializer()
        return _v1.get_variable(name, [len(self._gates) * self._units], initializer=zeros)

    def _split(self, both: tf.Tensor, kernel: tf.Tensor, bias: tf.Tensor) -> dict[str, tf.Tensor]:
        parts = tf.split(both @ kernel + bias, len(self._gates), 1)
        return dict(zip(self._gates, parts, strict=True))

    def _clip_cell(self, cell: tf.Tensor) -> tf.Tensor:
        return cell if self._clip is None else tf.clip_by_value(cell, -self._clip, self._clip)


class TimeFreqLSTMCell(SlicingCell):
    """LSTM cell that reads slices of the inputs, each with the outputs of the slice before.

    The state has the size that `state_size` tells for each slice.

    Args:
      num_units: Number of units.
      use_peepholes: Whether the gates read c.
      cell_clip: Greatest absolute value of c.
      initializer: Initial values of the weights.
      num_unit_shards: Number of variables that the weights are in.
      forget_bias: Number added to the forget gates.
      feature_size: Size of a slice.
      frequency_skip: Distance of two slices.
      reuse: Whether to reuse existing variables.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        cell_clip: float | None = None,
        initializer: Initializer | None = None,
        num_unit_shards: int = 1,
        forget_bias: float = 1.0,
        feature_size: int | None = None,
        frequency_skip: int = 1,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        self._units, self._has_peepholes, self._clip = num_units, use_peepholes, cell_clip
        self._initializer, self._shards = initializer, num_unit_shards
        self._forget_bias = forget_bias
        self._feature_size, self._skip = feature_size, frequency_skip

    @property
    def output_size(self) -> int:
        """The size of the outputs for one slice."""
        return self._units

    @property
    def state_size(self) -> int:
        """The size of c and h for one slice."""
        return 2 * self._units

    def call(self, inputs: tf.Tensor, state: tf.Tensor) -> _Step:
        """Returns the outputs and the new state, those of the slices side by side."""
        slices = self._cut_slices(inputs, 0, int(inputs.shape[1]))
        before = tf.split(state, 2 * len(slices), 1)
        scope = _v1.get_variable_scope()
        with _v1.variable_scope(scope, initializer=self._initializer):
            kernel = self._create_kernel("W", self._feature_size + 2 * self._units)
            bias = self._create_bias("B")
            hidden, pairs = tf.zeros_like(before[0]), []
            for index, features in enumerate(slices):
                cell, of_before = before[2 * index : 2 * index + 2]
                both = tf.concat([features, of_before, hidden], 1)
                cell, hidden = self._step(self._split(both, kernel, bias), cell)
                pairs.append((cell, hidden))
        outputs = tf.concat([hidden for _, hidden in pairs], 1)
        return outputs, tf.concat([part for pair in pairs for part in pair], 1)

    def _step(self, gates: dict[str, tf.Tensor], cell: tf.Tensor) -> _Pair:
        kept = tf.sigmoid(gates["f"] + self._forget_bias + self._peep("F", cell)) * cell
        added = tf.sigmoid(gates["i"] + self._peep("I", cell)) * tf.tanh(gates["j"])
        new = self._clip_cell(kept + added)
        return new, tf.sigmoid(gates["o"] + self._peep("O", new)) * tf.tanh(new)

    def _peep(self, gate: str, cell: tf.Tensor) -> Any:
        if not self._has_peepholes:
            return 0.0
        with _v1.variable_scope(_v1.get_variable_scope(), reuse=_v1.AUTO_REUSE):
            return _v1.get_variable(f"W_{gate}_diag", [self._units]) * cell
