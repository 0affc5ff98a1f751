"""Monotonic attention (Raffel et al., "Online and Linear-Time Attention", 2017)."""

from typing import Any

import numpy as np
import tensorflow as tf

from tf_contrib._types import DType, Nest, TensorLike
from tf_contrib.seq2seq.attention import (
    AttentionMechanism,
    BahdanauAttention,
    LuongAttention,
)

_v1 = tf.compat.v1


def safe_cumprod(x: TensorLike, *args: Any, **kwargs: Any) -> tf.Tensor:
    """Computes cumulative products of numbers from 0 to 1, with finite gradients.

    Args:
      x: The numbers; those outside of the range are clipped.
      *args: Further arguments of `tf.cumsum`.
      **kwargs: Further arguments of `tf.cumsum`.
    """
    with tf.name_scope("SafeCumprod"):
        x = tf.convert_to_tensor(x)
        tiny = np.finfo(x.dtype.as_numpy_dtype).tiny
        return tf.exp(tf.cumsum(tf.math.log(tf.clip_by_value(x, tiny, 1)), *args, **kwargs))


def monotonic_attention(
    p_choose_i: TensorLike, previous_attention: TensorLike, mode: str
) -> tf.Tensor:
    """Computes the distribution of the position that a monotonic attention stops at.

    Args:
      p_choose_i: Probability to stop at each position that is reached, shape (batch, positions).
      previous_attention: The distribution of the step before, which this step starts from.
      mode: "recursive", which is exact; "parallel", which divides by products that may be tiny;
        or "hard", if all numbers are 0 or 1.

    Returns:
      The distribution, shape (batch, positions); it sums to less than 1 if no position may be
      chosen. Formulas: Raffel et al., 2017, equations 8, 9 and 12.

    Raises:
      ValueError: There is no such mode.
    """
    chosen, before = tf.convert_to_tensor(p_choose_i), tf.convert_to_tensor(previous_attention)
    if mode == "recursive":
        return _stop_recursively(chosen, before)
    if mode == "parallel":
        passed = safe_cumprod(1 - chosen, axis=1, exclusive=True)
        return chosen * passed * tf.cumsum(before / tf.clip_by_value(passed, 1e-10, 1.0), axis=1)
    if mode == "hard":
        chosen *= tf.cumsum(before, axis=1)
        return chosen * tf.math.cumprod(1 - chosen, axis=1, exclusive=True)
    raise ValueError("mode must be 'recursive', 'parallel', or 'hard'.")


def _stop_recursively(chosen: tf.Tensor, before: tf.Tensor) -> tf.Tensor:
    """Returns the distribution, from the probabilities to reach each position."""
    shape = tf.shape(chosen)
    left = tf.concat([tf.ones([shape[0], 1], chosen.dtype), 1 - chosen[:, :-1]], 1)
    steps = tf.transpose(left), tf.transpose(before)
    reached = tf.scan(lambda past, now: now[0] * past + now[1], steps, tf.zeros_like(before[:, 0]))
    return chosen * tf.ensure_shape(tf.transpose(reached), before.shape)


class _MonotonicAttention(AttentionMechanism):
    """Mechanism that stops at one position and continues there at the next step."""

    _mode: str
    _noise: tuple[float, int | None]
    _score_bias: float

    def initial_alignments(self, batch_size: int | tf.Tensor, dtype: DType) -> tf.Tensor:
        """Returns the weights before the first step: 1 at the first position."""
        return tf.one_hot(tf.zeros([batch_size], tf.int32), self.alignments_size, dtype=dtype)

    def _compute_scores(self, query: tf.Tensor) -> tf.Tensor:
        scores = super()._compute_scores(query)
        initializer = _v1.constant_initializer(self._score_bias)
        return scores + _v1.get_variable("attention_score_bias", [], self.dtype, initializer)

    def _align(self, scores: tf.Tensor, state: Nest | None) -> tf.Tensor:
        scale, seed = self._noise
        if scale > 0:
            scores += scale * tf.random.normal(tf.shape(scores), dtype=scores.dtype, seed=seed)
        is_hard = self._mode == "hard"
        chosen = tf.cast(scores > 0, scores.dtype) if is_hard else tf.sigmoid(scores)
        return monotonic_attention(chosen, state, self._mode)


class BahdanauMonotonicAttention(_MonotonicAttention, BahdanauAttention):
    """`BahdanauAttention` that is monotonic.

    Args:
      num_units: Number of units of the network.
      memory: Shape (batch, positions, depth).
      memory_sequence_length: Number of valid positions, shape (batch,); None: all.
      normalize: Whether to normalize the last weights and add a bias.
      score_mask_value: Score of invalid positions; minus infinity by default.
      sigmoid_noise: Standard deviation of noise that is added to the scores.
      sigmoid_noise_seed: Random seed of the noise.
      score_bias_init: Initial value of the number that is added to the scores.
      mode: See `monotonic_attention`.
      dtype: Type of the layers.
      name: Name scope of the operations.
    """

    _scope_name = "bahdanau_monotonic_attention"

    def __init__(
        self,
        num_units: int,
        memory: TensorLike,
        memory_sequence_length: TensorLike | None = None,
        normalize: bool = False,
        score_mask_value: float | None = None,
        sigmoid_noise: float = 0.0,
        sigmoid_noise_seed: int | None = None,
        score_bias_init: float = 0.0,
        mode: str = "parallel",
        dtype: DType | None = None,
        name: str = "BahdanauMonotonicAttention",
    ) -> None:
        self._mode, self._score_bias = mode, score_bias_init
        self._noise = sigmoid_noise, sigmoid_noise_seed
        arguments = (memory_sequence_length, normalize, None, score_mask_value, dtype)
        BahdanauAttention.__init__(self, num_units, memory, *arguments, name=name)


class LuongMonotonicAttention(_MonotonicAttention, LuongAttention):
    """`LuongAttention` that is monotonic.

    Args:
      num_units: Size of the queries and keys.
      memory: Shape (batch, positions, depth).
      memory_sequence_length: Number of valid positions, shape (batch,); None: all.
      scale: Whether to multiply scores by a trained factor.
      score_mask_value: Score of invalid positions; minus infinity by default.
      sigmoid_noise: Standard deviation of noise that is added to the scores.
      sigmoid_noise_seed: Random seed of the noise.
      score_bias_init: Initial value of the number that is added to the scores.
      mode: See `monotonic_attention`.
      dtype: Type of the layers.
      name: Name scope of the operations.
    """

    _scope_name = "luong_monotonic_attention"

    def __init__(
        self,
        num_units: int,
        memory: TensorLike,
        memory_sequence_length: TensorLike | None = None,
        scale: bool = False,
        score_mask_value: float | None = None,
        sigmoid_noise: float = 0.0,
        sigmoid_noise_seed: int | None = None,
        score_bias_init: float = 0.0,
        mode: str = "parallel",
        dtype: DType | None = None,
        name: str = "LuongMonotonicAttention",
    ) -> None:
        self._mode, self._score_bias = mode, score_bias_init
        self._noise = sigmoid_noise, sigmoid_noise_seed
        arguments = (memory_sequence_length, scale, None, score_mask_value, dtype)
        LuongAttention.__init__(self, num_units, memory, *arguments, name=name)
