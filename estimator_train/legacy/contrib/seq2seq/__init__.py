"""`tf.contrib.seq2seq`: decoders, attention, beam search and the loss of sequences."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_train.legacy.contrib.seq2seq.attention import (
    AttentionWrapper,
    AttentionWrapperState,
    BahdanauAttention,
    LuongAttention,
)
from estimator_train.legacy.contrib.seq2seq.beam import (
    BeamSearchDecoder,
    BeamSearchDecoderOutput,
    BeamSearchDecoderState,
    FinalBeamSearchDecoderOutput,
    tile_batch,
)
from estimator_train.legacy.contrib.seq2seq.decoding import (
    BasicDecoder,
    BasicDecoderOutput,
    dynamic_decode,
)
from estimator_train.legacy.contrib.seq2seq.helpers import (
    GreedyEmbeddingHelper,
    Helper,
    SampleEmbeddingHelper,
    TrainingHelper,
)

__all__ = [
    "AttentionWrapper",
    "AttentionWrapperState",
    "BahdanauAttention",
    "BasicDecoder",
    "BasicDecoderOutput",
    "BeamSearchDecoder",
    "BeamSearchDecoderOutput",
    "BeamSearchDecoderState",
    "FinalBeamSearchDecoderOutput",
    "GreedyEmbeddingHelper",
    "Helper",
    "LuongAttention",
    "SampleEmbeddingHelper",
    "TrainingHelper",
    "dynamic_decode",
    "sequence_loss",
    "tile_batch",
]


def sequence_loss(
    logits: Any,
    targets: Any,
    weights: Any,
    average_across_timesteps: bool = True,
    average_across_batch: bool = True,
    softmax_loss_function: Callable[..., Any] | None = None,
    name: str | None = None,
) -> tf.Tensor:
    """Cross entropy of sequences.

    Args:
      logits: Shape (batch, time, classes).
      targets: Class numbers, shape (batch, time).
      weights: Of each place, the same shape.
      average_across_timesteps: Whether to average over time.
      average_across_batch: Whether to average over the batch.
      softmax_loss_function: Function of `labels` and `logits` in place of the cross entropy.
      name: Of the operations.

    Returns:
      The loss: a number, or of shape (batch,), (time,) or (batch, time) where not averaged.
    """
    loss_fn = softmax_loss_function or tf.nn.sparse_softmax_cross_entropy_with_logits
    with tf.name_scope(name or "sequence_loss"):
        losses = loss_fn(labels=targets, logits=logits) * weights
        averaged = (average_across_batch, average_across_timesteps)
        axes = [axis for axis in (0, 1) if averaged[axis]]
        if not axes:
            return losses
        return tf.reduce_sum(losses, axes) / (tf.reduce_sum(weights, axes) + 1e-12)
