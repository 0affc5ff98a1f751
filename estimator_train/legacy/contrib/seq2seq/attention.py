"""Mechanisms of attention: the shares of the places of a memory for a query."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

_v1 = tf.compat.v1


class AttentionMechanism:
    """Scores each place of a memory for a query.

    Args:
      num_units: Size of the keys.
      memory: Shape (batch, places, depth).
      memory_sequence_length: Places that count, shape (batch,); None: all.
      probability_fn: From scores to shares; softmax by default.
      score_mask_value: Score of the places that do not count; minus infinity by default.
      dtype: Of the layers.
      custom_key_value_fn: From keys and values to those to use.
      name: Of the operations.
      scope: Scope of the variables that scores need.
    """

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        probability_fn: Callable[[Any], Any] | None = None,
        score_mask_value: float | None = None,
        dtype: Any = None,
        custom_key_value_fn: Callable[..., tuple[Any, Any]] | None = None,
        name: str | None = None,
        scope: str | None = None,
    ) -> None:
        self._num_units, self._scope = num_units, scope
        self._probability_fn = probability_fn or tf.nn.softmax
        self.dtype = dtype or tf.float32
        self._masked = -float("inf") if score_mask_value is None else score_mask_value
        with tf.name_scope(name):
            self.values, self._mask = _masked(memory, memory_sequence_length)
            layer = _v1.layers.Dense(
                num_units, use_bias=False, name="memory_layer", dtype=self.dtype
            )
            self.keys = layer(self.values)
        if custom_key_value_fn is not None:
            self.keys, self.values = custom_key_value_fn(self.keys, self.values)
        self.batch_size = tf.shape(self.keys)[0]
        self.alignments_size = self.keys.shape.as_list()[1] or tf.shape(self.keys)[1]
        self.state_size = self.alignments_size

    def initial_alignments(self, batch_size: Any, dtype: Any) -> tf.Tensor:
        """Shares of before the first step, zeros of shape (batch, places)."""
        return tf.zeros([batch_size, self.alignments_size], dtype)

    def initial_state(self, batch_size: Any, dtype: Any) -> tf.Tensor:
        """The state of before the first step: the shares."""
        return self.initial_alignments(batch_size, dtype)

    def __call__(self, query: Any, state: Any = None) -> tuple[tf.Tensor, tf.Tensor]:
        """The share of each place, shape (batch, places); and the same as the state."""
        with _v1.variable_scope(None, self._scope, [query]):
            scores = self._scores(query)
        if self._mask is not None:
            masked = tf.constant(self._masked, scores.dtype)
            scores = tf.where(self._mask, scores, tf.fill(tf.shape(scores), masked))
        shares = self._probability_fn(scores)
        return shares, shares

    def _scores(self, query: Any) -> tf.Tensor:
        raise NotImplementedError


class BahdanauAttention(AttentionMechanism):
    """Scores by a small network of query and key; see `AttentionMechanism` for other arguments.

    Args:
      num_units: Its units.
      normalize: Whether its last weights have a length of their own, and a bias before.
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
        custom_key_value_fn: Callable[..., tuple[Any, Any]] | None = None,
        name: str = "BahdanauAttention",
    ) -> None:
        self._normalize = normalize
        arguments = (memory_sequence_length, probability_fn, score_mask_value, dtype)
        names = (custom_key_value_fn, name, "bahdanau_attention")
        super().__init__(num_units, memory, *arguments, *names)
        self._query_layer = _v1.layers.Dense(
            num_units, use_bias=False, name="query_layer", dtype=self.dtype
        )

    def _scores(self, query: Any) -> tf.Tensor:
        units = self._num_units
        hidden = self.keys + self._query_layer(query)[:, None]
        v = _v1.get_variable("attention_v", [units], self.dtype)
        if self._normalize:
            start = _v1.constant_initializer((1.0 / units) ** 0.5)
            g = _v1.get_variable("attention_g", [], self.dtype, start)
            hidden += _v1.get_variable("attention_b", [units], self.dtype, _v1.zeros_initializer())
            v = g * v * tf.math.rsqrt(tf.reduce_sum(tf.square(v)))
        return tf.reduce_sum(v * tf.tanh(hidden), -1)


class LuongAttention(AttentionMechanism):
    """Scores by the product of query and key, whose sizes are one; see `AttentionMechanism`.

    Args:
      num_units: Size of the queries.
      scale: Whether scores have a factor that is learned.
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
        custom_key_value_fn: Callable[..., tuple[Any, Any]] | None = None,
        name: str = "LuongAttention",
    ) -> None:
        self._scale = scale
        arguments = (memory_sequence_length, probability_fn, score_mask_value, dtype)
        names = (custom_key_value_fn, name, "luong_attention")
        super().__init__(num_units, memory, *arguments, *names)

    def _scores(self, query: Any) -> tf.Tensor:
        if query.shape[-1] != self.keys.shape[-1]:
            raise ValueError(f"Queries are {query.shape[-1]} wide, keys {self.keys.shape[-1]}.")
        scores = tf.squeeze(tf.matmul(query[:, None], self.keys, transpose_b=True), 1)
        if self._scale:
            scores *= _v1.get_variable("attention_g", [], self.dtype, _v1.ones_initializer())
        return scores


def hardmax(logits: Any, name: str | None = None) -> tf.Tensor:
    """One at the first of the highest logits, zero elsewhere."""
    logits = tf.convert_to_tensor(logits)
    return tf.one_hot(tf.argmax(logits, -1), tf.shape(logits)[-1], dtype=logits.dtype, name=name)


def _masked(memory: Any, lengths: Any) -> tuple[tf.Tensor, tf.Tensor | None]:
    """The memory with zeros after the ends, and where it counts."""
    memory = tf.convert_to_tensor(memory)
    if lengths is None:
        return memory, None
    positive = _v1.assert_positive(lengths, message="memory_sequence_length must be positive.")
    with tf.control_dependencies([positive]):
        mask = tf.sequence_mask(lengths, tf.shape(memory)[1])
    return memory * tf.cast(mask, memory.dtype)[..., None], mask
