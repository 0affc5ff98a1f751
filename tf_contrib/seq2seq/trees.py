"""Sequences of beams, read from the parents of each step."""

import tensorflow as tf

from tf_contrib._types import TensorLike


def gather_tree(
    step_ids: TensorLike,
    parent_ids: TensorLike,
    max_sequence_lengths: TensorLike,
    end_token: TensorLike,
    name: str | None = None,
) -> tf.Tensor:
    """Traces each beam back to its start.

    Args:
      step_ids: The tokens of each step, int32 of shape (time, batch, beams).
      parent_ids: The beams of the step before that they continue, of the same shape.
      max_sequence_lengths: The number of steps of each batch member, shape (batch,).
      end_token: The token that ends a sequence.
      name: Name scope of the operations.

    Returns:
      The sequences, shape (time, batch, beams), with the end token after their ends.
    """
    with tf.name_scope(name or "gather_tree"):
        tokens, parents = tf.convert_to_tensor(step_ids), tf.convert_to_tensor(parent_ids)
        shape = tf.shape(tokens)
        own = tf.tile(tf.range(shape[2])[None], [shape[1], 1])
        times = tf.range(shape[0])[:, None]
        is_in = tf.broadcast_to((times < max_sequence_lengths)[..., None], shape)
        is_last = tf.broadcast_to((times >= tf.cast(max_sequence_lengths, tf.int32) - 1), shape[:2])

        def step_back(
            following: tuple[tf.Tensor, tf.Tensor], step: tuple[tf.Tensor, ...]
        ) -> tuple[tf.Tensor, tf.Tensor]:
            step_tokens, step_parents, last = step
            beams = tf.where(last[:, None], own, following[0])
            ancestors = tf.gather(step_parents, beams, batch_dims=1)
            return ancestors, tf.gather(step_tokens, beams, batch_dims=1)

        # Parents of the last step may be any numbers, and those before the first are not read.
        steps = (tokens, parents, is_last)
        _, traced = tf.scan(step_back, steps, (own, own), reverse=True)
        ends = tf.cast(tf.equal(traced, end_token), tf.int32)
        is_in = is_in & tf.equal(tf.cumsum(ends, 0, exclusive=True), 0)
        return tf.where(is_in, traced, tf.fill(shape, tf.cast(end_token, traced.dtype)))
