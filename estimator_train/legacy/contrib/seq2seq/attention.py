"""Cells that look back at a memory: the outputs of an encoder."""

from collections.abc import Callable
from typing import Any, NamedTuple

import tensorflow as tf

_v1 = tf.compat.v1


class _Attention:
    """Scores each place of a memory for a query.

    Args:
      memory: Shape (batch, places, depth).
      memory_sequence_length: Places that count, shape (batch,); None: all.
      num_units: Size of the keys.
      probability_fn: From scores to shares; softmax by default.
      score_mask_value: Score of the places that do not count.
      dtype: Of the layers.
      name: Their scope.
    """

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        probability_fn: Callable[[Any], Any] | None = None,
        score_mask_value: float | None = None,
        dtype: Any = None,
        name: str | None = None,
    ) -> None:
        self._num_units, self._name = num_units, name
        self._probability_fn = probability_fn or tf.nn.softmax
        self.dtype = dtype or tf.float32
        self._masked = self.dtype.min if score_mask_value is None else score_mask_value
        memory = tf.convert_to_tensor(memory)
        self._mask = None
        if memory_sequence_length is not None:
            places = tf.shape(memory)[1]
            self._mask = tf.sequence_mask(memory_sequence_length, places)
            memory *= tf.cast(self._mask, memory.dtype)[..., None]
        self.values = memory
        layer = _v1.layers.Dense(num_units, use_bias=False, name="memory_layer", dtype=self.dtype)
        with _v1.variable_scope(name):
            self.keys = layer(memory)
        self.batch_size = tf.shape(memory)[0]
        self.alignments_size = memory.shape[1] or tf.shape(memory)[1]

    def initial_alignments(self, batch_size: Any, dtype: Any) -> tf.Tensor:
        """Shares of before the first step, zeros of shape (batch, places)."""
        return tf.zeros([batch_size, self.alignments_size], dtype)

    def __call__(self, query: Any, state: Any = None) -> tuple[tf.Tensor, tf.Tensor]:
        """The share of each place, shape (batch, places); and the same as the state."""
        with _v1.variable_scope(self._name, reuse=_v1.AUTO_REUSE):
            scores = self._scores(query)
        if self._mask is not None:
            scores = tf.where(self._mask, scores, tf.fill(tf.shape(scores), self._masked))
        shares = self._probability_fn(scores)
        return shares, shares

    def _scores(self, query: Any) -> tf.Tensor:
        raise NotImplementedError


class BahdanauAttention(_Attention):
    """Scores by a small network of query and key.

    Args:
      num_units: Its units.
      memory: The memory.
      memory_sequence_length: Its lengths.
      normalize: Whether its last weights have a length of their own, and a bias before.
      **arguments: probability_fn, score_mask_value, dtype.
    """

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        normalize: bool = False,
        probability_fn: Callable[[Any], Any] | None = None,
        score_mask_value: float | None = None,
        dtype: Any = None,
        name: str = "BahdanauAttention",
    ) -> None:
        self._normalize = normalize
        arguments = (memory_sequence_length, probability_fn, score_mask_value, dtype, name)
        super().__init__(num_units, memory, *arguments)

    def _scores(self, query: Any) -> tf.Tensor:
        units = self._num_units
        layer = _v1.layers.Dense(units, use_bias=False, name="query_layer", dtype=self.dtype)
        hidden = self.keys + layer(query)[:, None]
        v = _v1.get_variable("attention_v", [units], self.dtype)
        if self._normalize:
            start = _v1.constant_initializer((1.0 / units) ** 0.5)
            g = _v1.get_variable("attention_g", [], self.dtype, start)
            hidden += _v1.get_variable("attention_b", [units], self.dtype, _v1.zeros_initializer())
            v = g * v * tf.math.rsqrt(tf.reduce_sum(tf.square(v)))
        return tf.reduce_sum(v * tf.tanh(hidden), -1)


class LuongAttention(_Attention):
    """Scores by the product of query and key, whose sizes are one.

    Args:
      num_units: Size of the queries.
      memory: The memory.
      memory_sequence_length: Its lengths.
      scale: Whether scores have a factor that is learned.
      **arguments: probability_fn, score_mask_value, dtype.
    """

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        scale: bool = False,
        probability_fn: Callable[[Any], Any] | None = None,
        score_mask_value: float | None = None,
        dtype: Any = None,
        name: str = "LuongAttention",
    ) -> None:
        self._scale = scale
        arguments = (memory_sequence_length, probability_fn, score_mask_value, dtype, name)
        super().__init__(num_units, memory, *arguments)

    def _scores(self, query: Any) -> tf.Tensor:
        scores = tf.squeeze(tf.matmul(query[:, None], self.keys, transpose_b=True), 1)
        if self._scale:
            scores *= _v1.get_variable("attention_g", [], self.dtype, _v1.ones_initializer())
        return scores


class AttentionWrapperState(NamedTuple):
    """The state of the cell, what it attended to last, and how."""

    cell_state: Any
    attention: Any
    time: Any
    alignments: Any
    alignment_history: Any
    attention_state: Any

    def clone(self, **fields: Any) -> "AttentionWrapperState":
        """The same with some fields replaced."""
        return self._replace(**fields)


class AttentionWrapper(tf.compat.v1.nn.rnn_cell.RNNCell):
    """A cell that reads, beside its inputs, what it attended to in the step before.

    Args:
      cell: The cell.
      attention_mechanism: The attention.
      attention_layer_size: Size of what it attends to; None: the memory's depth.
      alignment_history: Whether the state keeps the shares of all steps, a TensorArray.
      cell_input_fn: From inputs and attention to the cell's inputs; by default both joined.
      output_attention: Whether its output is the attention rather than the cell's output.
      initial_cell_state: State of the cell in `zero_state`.
      name: Its scope.
    """

    def __init__(
        self,
        cell: Any,
        attention_mechanism: Any,
        attention_layer_size: int | None = None,
        alignment_history: bool = False,
        cell_input_fn: Callable[..., Any] | None = None,
        output_attention: bool = True,
        initial_cell_state: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(name=name)
        self._cell, self._mechanism = cell, attention_mechanism
        self._keeps_history, self._gives_attention = alignment_history, output_attention
        self._joined = cell_input_fn or (
            lambda inputs, attention: tf.concat([inputs, attention], -1)
        )
        self._first_state = initial_cell_state
        self._layer_size = attention_layer_size
        self._size = attention_layer_size or attention_mechanism.values.shape[-1]

    @property
    def output_size(self) -> Any:
        """Size of the output."""
        return self._size if self._gives_attention else self._cell.output_size

    @property
    def state_size(self) -> AttentionWrapperState:
        """Sizes of the state's parts."""
        places = self._mechanism.alignments_size
        return AttentionWrapperState(
            self._cell.state_size, self._size, tf.TensorShape([]), places, (), places
        )

    def zero_state(self, batch_size: Any, dtype: Any) -> AttentionWrapperState:
        """The state of before the first step."""
        first = self._first_state
        if first is None:
            first = self._cell.zero_state(batch_size, dtype)
        shares = self._mechanism.initial_alignments(batch_size, dtype)
        history: Any = ()
        if self._keeps_history:
            history = tf.TensorArray(
                dtype, 0, dynamic_size=True, element_shape=tf.TensorShape([None, None])
            )
        attention = tf.zeros([batch_size, self._size], dtype)
        time = tf.zeros([], tf.int32)
        first = tf.nest.map_structure(tf.identity, first)
        return AttentionWrapperState(first, attention, time, shares, history, shares)

    def call(self, inputs: Any, state: AttentionWrapperState) -> tuple[Any, AttentionWrapperState]:
        """One step."""
        output, cell_state = self._cell(self._joined(inputs, state.attention), state.cell_state)
        shares, attention_state = self._mechanism(output, state.attention_state)
        context = tf.squeeze(tf.matmul(shares[:, None], self._mechanism.values), 1)
        attention = context
        if self._layer_size is not None:
            layer = _v1.layers.Dense(self._layer_size, use_bias=False, name="attention_layer")
            attention = layer(tf.concat([output, context], 1))
        history = state.alignment_history
        if self._keeps_history:
            history = history.write(state.time, shares)
        shares.set_shape(state.alignments.shape)
        following = AttentionWrapperState(
            cell_state, attention, state.time + 1, shares, history, shares
        )
        return (attention if self._gives_attention else output), following
