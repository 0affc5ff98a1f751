"""`tf.contrib.crf`: linear-chain conditional random fields.

Scores of a sequence of tags are the sum of the potentials of its tags (unary) and of each pair of
neighbours (transitions). Shapes: inputs (batch, time, tags), tag_indices (batch, time),
sequence_lengths (batch).
"""

from typing import Any

import numpy as np
import tensorflow as tf

__all__ = [
    "crf_binary_score",
    "crf_decode",
    "crf_log_likelihood",
    "crf_log_norm",
    "crf_multitag_sequence_score",
    "crf_sequence_score",
    "crf_unary_score",
    "viterbi_decode",
]


def crf_unary_score(tag_indices: Any, sequence_lengths: Any, inputs: Any) -> tf.Tensor:
    """The sum of the unary potentials of given tags, shape (batch,)."""
    tags = tf.cast(tag_indices, tf.int32)
    chosen = tf.gather(inputs, tags, batch_dims=2)
    return tf.reduce_sum(chosen * _mask(sequence_lengths, inputs), 1)


def crf_binary_score(tag_indices: Any, sequence_lengths: Any, transition_params: Any) -> tf.Tensor:
    """The sum of the potentials of given tags' transitions, shape (batch,)."""
    tags = tf.cast(tag_indices, tf.int32)
    pairs = tf.stack([tags[:, :-1], tags[:, 1:]], -1)
    scores = tf.gather_nd(transition_params, pairs)
    lengths = tf.maximum(tf.cast(sequence_lengths, tf.int32) - 1, 0)
    mask = tf.sequence_mask(lengths, tf.shape(scores)[1], dtype=scores.dtype)
    return tf.reduce_sum(scores * mask, 1)


def crf_sequence_score(
    inputs: Any, tag_indices: Any, sequence_lengths: Any, transition_params: Any
) -> tf.Tensor:
    """The score of given tags, not normalized, shape (batch,)."""
    return crf_unary_score(tag_indices, sequence_lengths, inputs) + crf_binary_score(
        tag_indices, sequence_lengths, transition_params
    )


def crf_log_norm(inputs: Any, sequence_lengths: Any, transition_params: Any) -> tf.Tensor:
    """The logarithm of the sum of the exponentials of all sequences' scores, shape (batch,)."""

    def step(alpha: tf.Tensor, now: tuple[tf.Tensor, tf.Tensor]) -> tf.Tensor:
        unary, is_inside = now
        paths = alpha[:, :, None] + transition_params[None]
        return tf.where(is_inside[:, None], tf.reduce_logsumexp(paths, 1) + unary, alpha)

    inside = tf.transpose(_mask(sequence_lengths, inputs) > 0)
    by_time = tf.transpose(inputs, [1, 0, 2])
    alphas = tf.scan(step, (by_time[1:], inside[1:]), initializer=by_time[0])
    last = tf.concat([by_time[:1], alphas], 0)[-1]
    norm = tf.reduce_logsumexp(last, 1)
    return tf.where(tf.cast(sequence_lengths, tf.int32) <= 0, tf.zeros_like(norm), norm)


def crf_multitag_sequence_score(
    inputs: Any, tag_bitmap: Any, sequence_lengths: Any, transition_params: Any
) -> tf.Tensor:
    """The log of the summed exponentials of the scores of all sequences of allowed tags.

    Args:
      inputs: Unary potentials.
      tag_bitmap: Which tags are allowed at each place, shape (batch, time, tags).
      sequence_lengths: The lengths.
      transition_params: Potentials (from, to).
    """
    inputs = tf.convert_to_tensor(inputs)
    allowed = tf.where(tf.cast(tag_bitmap, tf.bool), inputs, inputs.dtype.as_numpy_dtype(-np.inf))
    return crf_log_norm(allowed, sequence_lengths, transition_params)


def crf_log_likelihood(
    inputs: Any, tag_indices: Any, sequence_lengths: Any, transition_params: Any = None
) -> tuple[tf.Tensor, Any]:
    """The log-likelihood of given tags.

    Args:
      inputs: Unary potentials.
      tag_indices: The tags.
      sequence_lengths: The lengths.
      transition_params: Potentials (from, to); by default a new variable "transitions".

    Returns:
      The log-likelihood, shape (batch,), and the transitions.
    """
    inputs = tf.convert_to_tensor(inputs)
    if transition_params is None:
        tags = inputs.shape[2]
        transition_params = tf.compat.v1.get_variable("transitions", [tags, tags])
    score = crf_sequence_score(inputs, tag_indices, sequence_lengths, transition_params)
    return score - crf_log_norm(inputs, sequence_lengths, transition_params), transition_params


def crf_decode(
    potentials: Any, transition_params: Any, sequence_length: Any
) -> tuple[tf.Tensor, tf.Tensor]:
    """The best tags.

    Args:
      potentials: Unary potentials.
      transition_params: Potentials (from, to).
      sequence_length: The lengths.

    Returns:
      The tags, int32 of shape (batch, time), 0 after the end of a sequence; and their scores. Of
      an empty sequence they are those of its first place.
    """
    potentials = tf.convert_to_tensor(potentials)
    count = tf.shape(transition_params)[0]
    inside = tf.transpose(_mask(sequence_length, potentials) > 0)
    by_time = tf.transpose(potentials, [1, 0, 2])

    def forward(
        state: tuple[tf.Tensor, tf.Tensor], now: tuple[tf.Tensor, tf.Tensor]
    ) -> tuple[tf.Tensor, tf.Tensor]:
        unary, is_inside = now
        paths = state[0][:, :, None] + tf.convert_to_tensor(transition_params)[None]
        score = tf.where(is_inside[:, None], tf.reduce_max(paths, 1) + unary, state[0])
        # After the end each tag comes from itself.
        stay = tf.broadcast_to(tf.range(count)[None], tf.shape(score))
        best = tf.argmax(paths, 1, output_type=tf.int32)
        return score, tf.where(is_inside[:, None], best, stay)

    first = (by_time[0], tf.zeros(tf.shape(by_time[0]), tf.int32))
    scores, backpointers = tf.scan(forward, (by_time[1:], inside[1:]), initializer=first)
    final = tf.concat([by_time[:1], scores], 0)[-1]
    last = tf.argmax(final, 1, output_type=tf.int32)

    def backward(tag: tf.Tensor, pointers: tf.Tensor) -> tf.Tensor:
        return tf.gather(pointers, tag, batch_dims=1)

    earlier = tf.scan(backward, backpointers, initializer=last, reverse=True)
    tags = tf.transpose(tf.concat([earlier, last[None]], 0))
    at_least_one = _mask(tf.maximum(sequence_length, 1), potentials)
    return tags * tf.cast(at_least_one, tf.int32), tf.reduce_max(final, 1)


def viterbi_decode(score: Any, transition_params: Any) -> tuple[list[int], float]:
    """The best tags of one sequence, with NumPy.

    Args:
      score: Unary potentials, shape (time, tags).
      transition_params: Potentials (from, to).

    Returns:
      The tags, and their score.
    """
    score = np.asarray(score)
    best = score[0]
    pointers = []
    for unary in score[1:]:
        paths = best[:, None] + transition_params
        pointers.append(np.argmax(paths, 0))
        best = np.max(paths, 0) + unary
    tags = [int(np.argmax(best))]
    for pointer in reversed(pointers):
        tags.append(int(pointer[tags[-1]]))
    return tags[::-1], float(np.max(best))


def _mask(lengths: Any, inputs: Any) -> tf.Tensor:
    inputs = tf.convert_to_tensor(inputs)
    return tf.sequence_mask(lengths, tf.shape(inputs)[1], dtype=inputs.dtype)
