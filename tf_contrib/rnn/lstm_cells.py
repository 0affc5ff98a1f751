"""LSTM cells with coupled gates, groups of units or phases, and a compiled wrapper."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from tf_contrib._types import Cell, Initializer, Nest
from tf_contrib.rnn.projections import CellWrapper, project

_v1 = tf.compat.v1
_StateTuple = _v1.nn.rnn_cell.LSTMStateTuple
_Activation = Callable[[tf.Tensor], tf.Tensor]
_Step = tuple[tf.Tensor, Nest]


class _ProjectedLSTMCell(tf.compat.v1.nn.rnn_cell.RNNCell):
    """Base class of LSTM cells whose outputs may be projected."""

    _units: int
    _num_proj: int | None = None

    @property
    def state_size(self) -> Nest:
        """The sizes of c and h."""
        return _StateTuple(self._units, self.output_size)

    @property
    def output_size(self) -> int:
        """The size of the outputs."""
        return self._num_proj or self._units


class CoupledInputForgetGateLSTMCell(_ProjectedLSTMCell):
    """LSTM cell whose input gate is 1 minus the forget gate (Greff et al., 2015).

    Args:
      num_units: Number of units.
      use_peepholes: Whether the gates read c.
      initializer: Initial values of the weights.
      num_proj: Size of the projected outputs; no projection by default.
      proj_clip: Greatest absolute value of the projected outputs.
      num_unit_shards: Must be 1.
      num_proj_shards: Must be 1.
      forget_bias: Number added to the forget gates.
      state_is_tuple: Whether the state is a tuple; otherwise c and h are one tensor.
      activation: Function of the candidates and of c.
      reuse: Whether to reuse existing variables.
      layer_norm: Whether to normalize the gates and c (Ba et al., 2016).
      norm_gain: Initial scale of the normalized values.
      norm_shift: Initial shift of the normalized values.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        initializer: Initializer | None = None,
        num_proj: int | None = None,
        proj_clip: float | None = None,
        num_unit_shards: int = 1,
        num_proj_shards: int = 1,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: _Activation = tf.tanh,
        reuse: bool | None = None,
        layer_norm: bool = False,
        norm_gain: float = 1.0,
        norm_shift: float = 0.0,
    ) -> None:
        super().__init__(_reuse=reuse)
        if num_unit_shards != 1 or num_proj_shards != 1:
            raise ValueError("Shards of weights are not supported: use a partitioner.")
        self._units, self._num_proj, self._clip = num_units, num_proj, proj_clip
        self._has_peepholes, self._initializer = use_peepholes, initializer
        self._forget_bias, self._activation = forget_bias, activation
        self._is_tuple = state_is_tuple
        self._norm = (norm_gain, norm_shift) if layer_norm else None

    @property
    def state_size(self) -> Nest:
        """The sizes of c and h, or their sum."""
        sizes = super().state_size
        return sizes if self._is_tuple else sum(sizes)

    def call(self, inputs: tf.Tensor, state: Nest) -> _Step:
        """Returns the outputs and the new state."""
        if not self._is_tuple:
            state = tf.split(state, [self._units, self.output_size], 1)
        before, hidden = state
        both = tf.concat([inputs, hidden], 1)
        scope = _v1.get_variable_scope()
        with _v1.variable_scope(scope, initializer=self._initializer):
            kernel = _v1.get_variable("W_0", [both.shape[-1], 3 * self._units], inputs.dtype)
            zeros = _v1.zeros_initializer()
            bias = _v1.get_variable("B", [3 * self._units], inputs.dtype, zeros)
            gates = both @ kernel
            # Normalized gates have the shift of the normalization instead of this bias.
            gates = gates if self._norm else gates + bias
            j, f, o = tf.split(gates, 3, 1)
            names = ("transform", "forget", "output")
            j, f, o = (self._normalize(x, n) for x, n in zip((j, f, o), names, strict=True))
            cell, hidden = self._step(j, f, o, before)
            if self._num_proj is not None:
                shape = [self._units, self._num_proj]
                hidden @= _v1.get_variable("W_P_0", shape, inputs.dtype)
                if self._clip is not None:
                    hidden = tf.clip_by_value(hidden, -self._clip, self._clip)
        return hidden, _StateTuple(cell, hidden) if self._is_tuple else tf.concat([cell, hidden], 1)

    def _step(
        self, j: tf.Tensor, f: tf.Tensor, o: tf.Tensor, before: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns the new c and h, from a candidate, the forget and output gates, and c."""
        forget = tf.sigmoid(f + self._forget_bias + self._peep("W_F_diag", before))
        cell = forget * before + (1 - forget) * self._activation(j)
        cell = self._normalize(cell, "state")
        opened = tf.sigmoid(o + self._peep("W_O_diag", cell))
        return cell, opened * self._activation(cell)

    def _peep(self, name: str, cell: tf.Tensor) -> Any:
        if not self._has_peepholes:
            return 0.0
        return _v1.get_variable(name, [self._units], cell.dtype) * cell

    def _normalize(self, values: tf.Tensor, name: str) -> tf.Tensor:
        if self._norm is None:
            return values
        gain, shift = (_v1.constant_initializer(value) for value in self._norm)
        with _v1.variable_scope(name):
            gamma = _v1.get_variable("gamma", [self._units], initializer=gain)
            beta = _v1.get_variable("beta", [self._units], initializer=shift)
        mean, variance = tf.nn.moments(values, [-1], keepdims=True)
        return tf.nn.batch_normalization(values, mean, variance, beta, gamma, 1e-12)


class GLSTMCell(_ProjectedLSTMCell):
    """LSTM cell whose units are in groups (Kuchaiev and Ginsburg, 2017).

    Args:
      num_units: Number of units.
      initializer: Initial values of the weights.
      num_proj: Size of the projected outputs; no projection by default.
      number_of_groups: Number of groups, each of which reads its part of the inputs and outputs.
      forget_bias: Number added to the forget gates.
      activation: Function of the candidates and of c.
      reuse: Whether to reuse existing variables.

    Raises:
      ValueError: The groups do not divide the units or the projected outputs.
    """

    def __init__(
        self,
        num_units: int,
        initializer: Initializer | None = None,
        num_proj: int | None = None,
        number_of_groups: int = 1,
        forget_bias: float = 1.0,
        activation: _Activation = tf.tanh,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        self._units, self._num_proj, self._groups = num_units, num_proj, number_of_groups
        self._initializer = initializer
        self._forget_bias, self._activation = forget_bias, activation
        if num_units % number_of_groups:
            raise ValueError("num_units must be divisible by number_of_groups")
        if (num_proj or 0) % number_of_groups:
            raise ValueError("num_proj must be divisible by number_of_groups")

    def call(self, inputs: tf.Tensor, state: Nest) -> _Step:
        """Returns the outputs and the new state."""
        cell, hidden = state
        scope = _v1.get_variable_scope()
        with _v1.variable_scope(scope, initializer=self._initializer):
            parts: list[list[tf.Tensor]] = []
            pairs = (tf.split(one, self._groups, 1) for one in (inputs, hidden))
            for number, pair in enumerate(zip(*pairs, strict=True)):
                with _v1.variable_scope(f"group{number}"):
                    both = tf.concat(pair, 1)
                    shape = [both.shape[-1], 4 * self._units // self._groups]
                    kernel = _v1.get_variable("kernel", shape, inputs.dtype)
                    parts.append(tf.split(both @ kernel, 4, 1))
            gates = zip("ijfo", zip(*parts, strict=True), strict=True)
            i, j, f, o = (tf.concat(gate, 1) + self._create_bias(name) for name, gate in gates)
            cell = tf.sigmoid(f + self._forget_bias) * cell + tf.sigmoid(i) * self._activation(j)
            hidden = tf.sigmoid(o) * self._activation(cell)
            if self._num_proj is not None:
                with _v1.variable_scope("projection"):
                    shape = [self._units, self._num_proj]
                    hidden @= _v1.get_variable("kernel", shape, inputs.dtype)
        return hidden, _StateTuple(cell, hidden)

    def _create_bias(self, name: str) -> tf.Tensor:
        zeros = _v1.zeros_initializer()
        return _v1.get_variable(f"bias_{name}", [self._units], initializer=zeros)


class PhasedLSTMCell(_ProjectedLSTMCell):
    """LSTM cell whose units are open in some phases of a period (Neil et al., 2016).

    Inputs are a pair: times of shape (batch, 1), and the values.

    Args:
      num_units: Number of units.
      use_peepholes: Whether the gates read c.
      leak: Share of a gate that is open outside of the phase.
      ratio_on: Initial share of the period in which a unit is open.
      trainable_ratio_on: Whether this share is trained.
      period_init_min: Least initial period, in the unit of the times.
      period_init_max: Greatest initial period.
      reuse: Whether to reuse existing variables.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        leak: float = 0.001,
        ratio_on: float = 0.1,
        trainable_ratio_on: bool = True,
        period_init_min: float = 1.0,
        period_init_max: float = 1000.0,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        self._units, self._has_peepholes, self._leak = num_units, use_peepholes, leak
        self._ratio, self._trains_ratio = ratio_on, trainable_ratio_on
        self._periods = period_init_min, period_init_max

    def call(self, inputs: tuple[tf.Tensor, tf.Tensor], state: Nest) -> _Step:
        """Returns the outputs and the new state."""
        times, x = inputs
        before, hidden = state
        read = [x, hidden]
        with _v1.variable_scope("mask_gates"):
            peeped = [*read, before] if self._has_peepholes else read
            i, f = tf.split(tf.sigmoid(project(tf.concat(peeped, 1), 2 * self._units)), 2, 1)
        with _v1.variable_scope("new_input"):
            candidate = tf.tanh(project(tf.concat(read, 1), self._units))
        cell = f * before + i * candidate
        with _v1.variable_scope("output_gate"):
            peeped = [*read, cell] if self._has_peepholes else read
            o = tf.sigmoid(project(tf.concat(peeped, 1), self._units))
        openness = self._open(times, x.dtype)
        new_hidden = openness * o * tf.tanh(cell) + (1 - openness) * hidden
        cell = openness * cell + (1 - openness) * before
        return new_hidden, _StateTuple(cell, new_hidden)

    def _open(self, times: tf.Tensor, dtype: tf.DType) -> tf.Tensor:
        """Returns how open each unit is; formula: Neil et al., 2016, equations 6 and 7."""
        low, high = self._periods

        def start_period(shape: Any, dtype: tf.DType, partition_info: object = None) -> tf.Tensor:
            del partition_info
            logarithms = tf.math.log([low, high])
            return tf.exp(tf.random.uniform(shape, logarithms[0], logarithms[1], dtype))

        def make(name: str, initializer: Any, trainable: bool = True) -> tf.Tensor:
            return _v1.get_variable(name, [self._units], dtype, initializer, trainable=trainable)

        period = make("period", start_period)
        phase = make("phase", _v1.random_uniform_initializer(0.0, period.initial_value))
        start = _v1.constant_initializer(self._ratio)
        ratio = make("ratio_on", start, self._trains_ratio)
        since = tf.cast(times, dtype) - phase
        # As in 1.15, the gradient of the remainder reaches the times and phases, not the periods.
        place = (since + tf.stop_gradient(tf.math.floormod(since, period) - since)) / period
        rising = 2 * place / ratio
        is_rising, is_falling = place < 0.5 * ratio, place < ratio
        return tf.where(is_rising, rising, tf.where(is_falling, 2 - rising, self._leak * place))


class CompiledWrapper(CellWrapper):
    """Cell that XLA compiles together with another cell.

    Args:
      cell: The inner cell.
      compile_stateful: A function that tells of each operation whether to compile it. If it is a
        bool, XLA compiles all operations that it can.
    """

    def __init__(self, cell: Cell, compile_stateful: bool | Callable[..., bool] = False) -> None:
        super().__init__(cell)
        self._compiles = compile_stateful

    def __call__(self, inputs: tf.Tensor, state: Nest, scope: Any = None) -> _Step:
        """Returns the outputs and the state after one step."""
        choose: Any = self._compiles if callable(self._compiles) else True
        with tf.xla.experimental.jit_scope(compile_ops=choose):
            return self._cell(inputs, state)
