"""Stand-in for `tf.contrib.seq2seq`: decoders, attention, beam search and sequence loss."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from tf_contrib.seq2seq.attention import (
    AttentionMechanism,
    BahdanauAttention,
    LuongAttention,
    hardmax,
)
from tf_contrib.seq2seq.beam import (
    BeamSearchDecoder,
    BeamSearchDecoderOutput,
    BeamSearchDecoderState,
    FinalBeamSearchDecoderOutput,
    tile_batch,
)
from tf_contrib.seq2seq.decoding import (
    BasicDecoder,
    BasicDecoderOutput,
    Decoder,
    dynamic_decode,
)
from tf_contrib.seq2seq.helpers import (
    GreedyEmbeddingHelper,
    Helper,
    SampleEmbeddingHelper,
    ScheduledEmbeddingTrainingHelper,
    TrainingHelper,
)
from tf_contrib.seq2seq.monotonic import (
    BahdanauMonotonicAttention,
    LuongMonotonicAttention,
    monotonic_attention,
    safe_cumprod,
)
from tf_contrib.seq2seq.own_helpers import (
    CustomHelper,
    InferenceHelper,
    ScheduledOutputTrainingHelper,
)
from tf_contrib.seq2seq.trees import gather_tree
from tf_contrib.seq2seq.wrapper import AttentionWrapper, AttentionWrapperState

__all__ = [
    "AttentionMechanism",
    "AttentionWrapper",
    "AttentionWrapperState",
    "BahdanauAttention",
    "BahdanauMonotonicAttention",
    "BasicDecoder",
    "BasicDecoderOutput",
    "BeamSearchDecoder",
    "BeamSearchDecoderOutput",
    "BeamSearchDecoderState",
    "CustomHelper",
    "Decoder",
    "FinalBeamSearchDecoderOutput",
    "GreedyEmbeddingHelper",
    "Helper",
    "InferenceHelper",
    "LuongAttention",
    "LuongMonotonicAttention",
    "SampleEmbeddingHelper",
    "ScheduledEmbeddingTrainingHelper",
    "ScheduledOutputTrainingHelper",
    "TrainingHelper",
    "dynamic_decode",
    "gather_tree",
    "hardmax",
    "monotonic_attention",
    "safe_cumprod",
    "sequence_loss",
    "tile_batch",
]


def sequence_loss(
    logits: tf.Tensor,
    targets: tf.Tensor,
    weights: tf.Tensor,
    average_across_timesteps: bool = True,
    average_across_batch: bool = True,
    sum_over_timesteps: bool = False,
    sum_over_batch: bool = False,
    softmax_loss_function: Callable[..., Any] | None = None,
    name: str | None = None,
) -> tf.Tensor:
    """Computes the cross entropy of sequences.

    Args:
      logits: Shape (batch, time, classes).
      targets: Class numbers, shape (batch, time).
      weights: Weights of the targets, shape (batch, time).
      average_across_timesteps: Whether to average over time.
      average_across_batch: Whether to average over the batch.
      sum_over_timesteps: Whether to sum over time and divide by the number of nonzero weights, if
        nothing is averaged.
      sum_over_batch: Whether to sum over the batch in the same way.
      softmax_loss_function: Function of `labels` and `logits` to use instead of the cross entropy.
      name: Name scope of the operations.

    Returns:
      The loss: a scalar, or of shape (batch,), (time,) or (batch, time) if an axis is kept.

    Raises:
      ValueError: A tensor has another rank, or an axis is both averaged and summed.
    """
    for tensor, rank in ((logits, 3), (targets, 2), (weights, 2)):
        if len(tensor.shape) != rank:
            raise ValueError(f"Expected a tensor with {rank} axes, got shape {tensor.shape}.")
    if average_across_timesteps and sum_over_timesteps or average_across_batch and sum_over_batch:
        raise ValueError("An axis can be averaged or summed, not both.")
    loss_fn = softmax_loss_function or tf.nn.sparse_softmax_cross_entropy_with_logits
    with tf.name_scope(name or "sequence_loss"):
        losses = loss_fn(labels=targets, logits=logits) * weights
        averaged_axes = [i for i in (0, 1) if (average_across_batch, average_across_timesteps)[i]]
        summed_axes = [i for i in (0, 1) if (sum_over_batch, sum_over_timesteps)[i]]
        axes = averaged_axes or summed_axes
        if not axes:
            return losses
        counts = weights if averaged_axes else tf.cast(weights > 0, losses.dtype)
        return tf.math.divide_no_nan(tf.reduce_sum(losses, axes), tf.reduce_sum(counts, axes))
