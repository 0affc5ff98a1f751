"""Attention mechanisms: the weights of a memory's positions for a query."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from tf_contrib._types import DType, Nest, TensorLike

_v1 = tf.compat.v1


class AttentionMechanism:
    """Base class of mechanisms, which score each position of a memory for a query.

    Args:
      num_units: Size of the keys.
      memory: Shape (batch, positions, depth).
      memory_sequence_length: Number of valid positions, shape (batch,); None: all.
      probability_fn: Function that converts scores to weights; softmax by default.
      score_mask_value: Score of invalid positions; minus infinity by default.
      dtype: Type of the layers.
      custom_key_value_fn: Function that converts keys and values.
      name: Name scope of the operations.
      scope: Scope of the variables that compute scores.
    """

    def __init__(
        self,
        num_units: int,
        memory: TensorLike,
        memory_sequence_length: TensorLike | None = None,
        probability_fn: Callable[[Any], Any] | None = None,
        score_mask_value: float | None = None,
        dtype: DType | None = None,
        custom_key_value_fn: Callable[..., tuple[Any, Any]] | None = None,
        name: str | None = None,
        scope: str | None = None,
    ) -> None:
        self._num_units, self._scope, self._name = num_units, scope, name
        self._normalize_scores = probability_fn or tf.nn.softmax
        self.dtype = dtype or tf.float32
        self._mask_value = -float("inf") if score_mask_value is None else score_mask_value
        with tf.name_scope(name):
            self._values, self._mask = _mask_memory(memory, memory_sequence_length)
            self._memory_layer = self._make_layer("memory_layer")
            self._keys = self._memory_layer(self._values)
        if custom_key_value_fn is not None:
            self._keys, self._values = custom_key_value_fn(self._keys, self._values)
        batch_size, positions = self._keys.shape.as_list()[:2]
        self._batch_size = batch_size or tf.shape(self._keys)[0]
        self._alignments_size = positions or tf.shape(self._keys)[1]

    # Programs override these properties and the fields behind them: other forms of attention.
    @property
    def keys(self) -> tf.Tensor:
        """The memory after its layer."""
        return self._keys

    @property
    def values(self) -> tf.Tensor:
        """The memory, zero at invalid positions."""
        return self._values

    @property
    def batch_size(self) -> int | tf.Tensor:
        """The number of sequences in the memory."""
        return self._batch_size

    @property
    def alignments_size(self) -> int | tf.Tensor:
        """The number of positions."""
        return self._alignments_size

    @property
    def state_size(self) -> Any:
        """The size of the state: the number of positions."""
        return self._alignments_size

    @property
    def memory_layer(self) -> Callable[[Any], Any]:
        """The layer that computes the keys."""
        return self._memory_layer

    @property
    def query_layer(self) -> Callable[[Any], Any] | None:
        """The layer of the query, or None."""
        return self._query_layer

    _query_layer: Callable[[Any], Any] | None = None

    def _make_layer(self, name: str) -> Callable[[Any], Any]:
        return _v1.layers.Dense(self._num_units, use_bias=False, name=name, dtype=self.dtype)

    def initial_alignments(self, batch_size: int | tf.Tensor, dtype: DType) -> tf.Tensor:
        """Returns the weights before the first step: zeros of shape (batch, positions)."""
        return tf.zeros([batch_size, self.alignments_size], dtype)

    def initial_state(self, batch_size: int | tf.Tensor, dtype: DType) -> tf.Tensor:
        """Returns the state before the first step: the weights."""
        return self.initial_alignments(batch_size, dtype)

    def __call__(self, query: tf.Tensor, state: Nest | None = None) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns the weights, shape (batch, positions), twice: as alignments and as the state."""
        with _v1.variable_scope(None, self._scope, [query]):
            scores = self._compute_scores(query)
        alignments = self._probability_fn(scores, state)
        return alignments, alignments

    def _probability_fn(self, scores: tf.Tensor, state: Nest | None) -> tf.Tensor:
        """Returns the weights of scores: zeros at invalid positions."""
        if self._mask is not None:
            masked = tf.constant(self._mask_value, scores.dtype)
            scores = tf.where(self._mask, scores, tf.fill(tf.shape(scores), masked))
        return self._align(scores, state)

    def _align(self, scores: tf.Tensor, state: Nest | None) -> tf.Tensor:
        """Returns the weights of masked scores; the state is that of the step before."""
        del state
        return self._normalize_scores(scores)

    def _compute_scores(self, query: tf.Tensor) -> tf.Tensor:
        raise NotImplementedError


class BahdanauAttention(AttentionMechanism):
    """Mechanism that scores by a small network; see `AttentionMechanism` for other arguments.

    Args:
      num_units: Number of units of the network.
      normalize: Whether to normalize the last weights and add a bias.
    """

    _scope_name = "bahdanau_attention"

    def __init__(
        self,
        num_units: int,
        memory: TensorLike,
        memory_sequence_length: TensorLike | None = None,
        normalize: bool = False,
        probability_fn: Callable[[Any], Any] | None = None,
        score_mask_value: float | None = None,
        dtype: DType | None = None,
        custom_key_value_fn: Callable[..., tuple[Any, Any]] | None = None,
        name: str = "BahdanauAttention",
    ) -> None:
        self._normalize = normalize
        arguments = (memory_sequence_length, probability_fn, score_mask_value, dtype)
        names = (custom_key_value_fn, name, self._scope_name)
        super().__init__(num_units, memory, *arguments, *names)
        self._query_layer = self._make_layer("query_layer")

    def _compute_scores(self, query: tf.Tensor) -> tf.Tensor:
        units = self._num_units
        layer = self.query_layer
        hidden = self.keys + (layer(query) if layer else query)[:, None]
        v = _v1.get_variable("attention_v", [units], self.dtype)
        if self._normalize:
            initializer = _v1.constant_initializer((1.0 / units) ** 0.5)
            g = _v1.get_variable("attention_g", [], self.dtype, initializer)
            hidden += _v1.get_variable("attention_b", [units], self.dtype, _v1.zeros_initializer())
            v = g * v * tf.math.rsqrt(tf.reduce_sum(tf.square(v)))
        return tf.reduce_sum(v * tf.tanh(hidden), -1)


class LuongAttention(AttentionMechanism):
    """Mechanism that scores by dot product; see `AttentionMechanism` for other arguments.

    Args:
      num_units: Size of the queries and keys.
      scale: Whether to multiply scores by a trained factor.
    """

    _scope_name = "luong_attention"

    def __init__(
        self,
        num_units: int,
        memory: TensorLike,
        memory_sequence_length: TensorLike | None = None,
        scale: bool = False,
        probability_fn: Callable[[Any], Any] | None = None,
        score_mask_value: float | None = None,
        dtype: DType | None = None,
        custom_key_value_fn: Callable[..., tuple[Any, Any]] | None = None,
        name: str = "LuongAttention",
    ) -> None:
        self._scale = scale
        arguments = (memory_sequence_length, probability_fn, score_mask_value, dtype)
        names = (custom_key_value_fn, name, self._scope_name)
        super().__init__(num_units, memory, *arguments, *names)

    def _compute_scores(self, query: tf.Tensor) -> tf.Tensor:
        if query.shape[-1] != self.keys.shape[-1]:
            raise ValueError(
                f"Queries must have the size of the keys, {self.keys.shape[-1]}, got "
                f"{query.shape[-1]}."
            )
        scores = tf.squeeze(tf.matmul(query[:, None], self.keys, transpose_b=True), 1)
        if self._scale:
            scores *= _v1.get_variable("attention_g", [], self.dtype, _v1.ones_initializer())
        return scores


def hardmax(logits: TensorLike, name: str | None = None) -> tf.Tensor:
    """Returns 1 at the first maximum of the logits and 0 elsewhere."""
    logits = tf.convert_to_tensor(logits)
    return tf.one_hot(tf.argmax(logits, -1), tf.shape(logits)[-1], dtype=logits.dtype, name=name)


def _mask_memory(
    memory: TensorLike, lengths: TensorLike | None
) -> tuple[tf.Tensor, tf.Tensor | None]:
    """Returns the memory with zeros at invalid positions, and the mask of valid ones."""
    memory = tf.convert_to_tensor(memory)
    if lengths is None:
        return memory, None
    positive = _v1.assert_positive(lengths, message="memory_sequence_length must be positive.")
    with tf.control_dependencies([positive]):
        mask = tf.sequence_mask(lengths, tf.shape(memory)[1])
    return memory * tf.cast(mask, memory.dtype)[..., None], mask
