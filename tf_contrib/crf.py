"""Stand-in for `tf.contrib.crf`: linear-chain conditional random fields.

The score of a sequence of tags is the sum of the unary potentials of its tags and of the transition
potentials of neighbouring tags. Shapes: inputs (batch, time, tags), tag_indices (batch, time),
sequence_lengths (batch,), transition_params (from_tag, to_tag).
"""

from typing import Any

import numpy as np
import tensorflow as tf

from tf_contrib._types import TensorLike

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


def crf_unary_score(
    tag_indices: TensorLike, sequence_lengths: TensorLike, inputs: TensorLike
) -> tf.Tensor:
    """Returns the sum of the unary potentials of the given tags, shape (batch,)."""
    tags = tf.cast(tag_indices, tf.int32)
    potentials = tf.gather(inputs, tags, batch_dims=2)
    return tf.reduce_sum(potentials * _mask(sequence_lengths, inputs), 1)


def crf_binary_score(
    tag_indices: TensorLike, sequence_lengths: TensorLike, transition_params: TensorLike
) -> tf.Tensor:
    """Returns the sum of the transition potentials of the given tags, shape (batch,)."""
    tags = tf.cast(tag_indices, tf.int32)
    pairs = tf.stack([tags[:, :-1], tags[:, 1:]], -1)
    scores = tf.gather_nd(transition_params, pairs)
    lengths = tf.maximum(tf.cast(sequence_lengths, tf.int32) - 1, 0)
    mask = tf.sequence_mask(lengths, tf.shape(scores)[1], dtype=scores.dtype)
    return tf.reduce_sum(scores * mask, 1)


def crf_sequence_score(
    inputs: TensorLike,
    tag_indices: TensorLike,
    sequence_lengths: TensorLike,
    transition_params: TensorLike,
) -> tf.Tensor:
    """Returns the unnormalized score of the given tags, shape (batch,)."""
    return crf_unary_score(tag_indices, sequence_lengths, inputs) + crf_binary_score(
        tag_indices, sequence_lengths, transition_params
    )


def crf_log_norm(
    inputs: TensorLike, sequence_lengths: TensorLike, transition_params: TensorLike
) -> tf.Tensor:
    """Returns log(sum(exp(score))) over all sequences of tags, shape (batch,)."""

    def step(alpha: tf.Tensor, element: tuple[tf.Tensor, tf.Tensor]) -> tf.Tensor:
        unary, is_inside = element
        paths = alpha[:, :, None] + transition_params[None]
        return tf.where(is_inside[:, None], tf.reduce_logsumexp(paths, 1) + unary, alpha)

    inside = tf.transpose(_mask(sequence_lengths, inputs) > 0)
    by_time = tf.transpose(inputs, [1, 0, 2])
    alphas = tf.scan(step, (by_time[1:], inside[1:]), initializer=by_time[0])
    last = tf.concat([by_time[:1], alphas], 0)[-1]
    norm = tf.reduce_logsumexp(last, 1)
    return tf.where(tf.cast(sequence_lengths, tf.int32) <= 0, tf.zeros_like(norm), norm)


def crf_multitag_sequence_score(
    inputs: TensorLike,
    tag_bitmap: TensorLike,
    sequence_lengths: TensorLike,
    transition_params: TensorLike,
) -> tf.Tensor:
    """Returns log(sum(exp(score))) over all sequences of allowed tags, shape (batch,).

    Args:
      inputs: Unary potentials.
      tag_bitmap: Mask of the tags that are allowed at each time step, shape (batch, time, tags).
      sequence_lengths: Lengths of the sequences.
      transition_params: Transition potentials.
    """
    inputs = tf.convert_to_tensor(inputs)
    allowed = tf.where(tf.cast(tag_bitmap, tf.bool), inputs, inputs.dtype.as_numpy_dtype(-np.inf))
    return crf_log_norm(allowed, sequence_lengths, transition_params)


def crf_log_likelihood(
    inputs: TensorLike,
    tag_indices: TensorLike,
    sequence_lengths: TensorLike,
    transition_params: TensorLike | None = None,
) -> tuple[tf.Tensor, Any]:
    """Returns the log-likelihood of the given tags.

    Args:
      inputs: Unary potentials.
      tag_indices: Tags.
      sequence_lengths: Lengths of the sequences.
      transition_params: Transition potentials; by default a new variable "transitions".

    Returns:
      The log-likelihood, shape (batch,), and the transition potentials.
    """
    inputs = tf.convert_to_tensor(inputs)
    if transition_params is None:
        tags = inputs.shape[2]
        transition_params = tf.compat.v1.get_variable("transitions", [tags, tags])
    score = crf_sequence_score(inputs, tag_indices, sequence_lengths, transition_params)
    return score - crf_log_norm(inputs, sequence_lengths, transition_params), transition_params


def crf_decode(
    potentials: TensorLike, transition_params: TensorLike, sequence_length: TensorLike
) -> tuple[tf.Tensor, tf.Tensor]:
    """Finds the sequence of tags with the highest score.

    Args:
      potentials: Unary potentials.
      transition_params: Transition potentials.
      sequence_length: Lengths of the sequences.

    Returns:
      The tags, int32 of shape (batch, time), with 0 after the end of a sequence; and their scores.
      An empty sequence gets the tag and the score of its first time step.
    """
    potentials = tf.convert_to_tensor(potentials)
    count = tf.shape(transition_params)[0]
    inside = tf.transpose(_mask(sequence_length, potentials) > 0)
    by_time = tf.transpose(potentials, [1, 0, 2])

    def forward(
        state: tuple[tf.Tensor, tf.Tensor], element: tuple[tf.Tensor, tf.Tensor]
    ) -> tuple[tf.Tensor, tf.Tensor]:
        unary, is_inside = element
        paths = state[0][:, :, None] + tf.convert_to_tensor(transition_params)[None]
        score = tf.where(is_inside[:, None], tf.reduce_max(paths, 1) + unary, state[0])
        # Tags after the end of a sequence point to themselves.
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
    valid = _mask(tf.maximum(sequence_length, 1), potentials)
    return tags * tf.cast(valid, tf.int32), tf.reduce_max(final, 1)


def viterbi_decode(score: TensorLike, transition_params: TensorLike) -> tuple[list[int], float]:
    """Finds the tags of one sequence with the highest score, with NumPy.

    Args:
      score: Unary potentials, shape (time, tags).
      transition_params: Transition potentials.

    Returns:
      The tags and their score.
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


def _mask(lengths: TensorLike, inputs: TensorLike) -> tf.Tensor:
    inputs = tf.convert_to_tensor(inputs)
    return tf.sequence_mask(lengths, tf.shape(inputs)[1], dtype=inputs.dtype)
