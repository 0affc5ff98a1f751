"""Stand-in for `tf.contrib.legacy_seq2seq`: sequences as lists of tensors, one for each time."""

import copy
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from tf_contrib._types import Cell, Condition, DType, Nest, Scope
from tf_contrib.legacy_seq2seq.attention import (
    attention_decoder,
    embedding_attention_decoder,
    embedding_attention_seq2seq,
)
from tf_contrib.legacy_seq2seq.feeding import (
    Loop,
    Outputs,
    Projection,
    decode_by_choice,
    make_loop,
)
from tf_contrib.rnn.projections import EmbeddingWrapper, OutputProjectionWrapper

__all__ = [
    "attention_decoder",
    "basic_rnn_seq2seq",
    "embedding_attention_decoder",
    "embedding_attention_seq2seq",
    "embedding_rnn_decoder",
    "embedding_rnn_seq2seq",
    "embedding_tied_rnn_seq2seq",
    "model_with_buckets",
    "rnn_decoder",
    "sequence_loss",
    "sequence_loss_by_example",
    "tied_rnn_seq2seq",
]
_v1 = tf.compat.v1
_Loss = Callable[..., tf.Tensor]
# Keeps the mean of a sequence without weights finite.
_EPSILON = 1e-12


def rnn_decoder(
    decoder_inputs: Sequence[tf.Tensor],
    initial_state: Nest,
    cell: Cell,
    loop_function: Loop | None = None,
    scope: Scope | None = None,
) -> Outputs:
    """Applies a cell to inputs, one after the other.

    Args:
      decoder_inputs: The input of each step, of shape [batch, size].
      initial_state: The state before the first step.
      cell: The cell.
      loop_function: Makes each input but the first from the output of the step before.
      scope: Scope of the cell's variables.

    Returns:
      The output of each step, and the last state.
    """
    with _v1.variable_scope(scope or "rnn_decoder"):
        outputs: list[tf.Tensor] = []
        state = initial_state
        for number, given in enumerate(decoder_inputs):
            if number:
                _v1.get_variable_scope().reuse_variables()
            if loop_function is not None and outputs:
                with _v1.variable_scope("loop_function", reuse=True):
                    given = loop_function(outputs[-1], number)
            output, state = cell(given, state)
            outputs.append(output)
    return outputs, state


def basic_rnn_seq2seq(
    encoder_inputs: Sequence[tf.Tensor],
    decoder_inputs: Sequence[tf.Tensor],
    cell: Any,
    dtype: DType = tf.float32,
    scope: Scope | None = None,
) -> Outputs:
    """Encodes inputs, and decodes from the last state with a cell of the same kind."""
    with _v1.variable_scope(scope or "basic_rnn_seq2seq"):
        _, state = _v1.nn.static_rnn(copy.deepcopy(cell), encoder_inputs, dtype=dtype)
        return rnn_decoder(decoder_inputs, state, cell)


def tied_rnn_seq2seq(
    encoder_inputs: Sequence[tf.Tensor],
    decoder_inputs: Sequence[tf.Tensor],
    cell: Cell,
    loop_function: Loop | None = None,
    dtype: DType = tf.float32,
    scope: Scope | None = None,
) -> Outputs:
    """Encodes and decodes with one cell."""
    with _v1.variable_scope("combined_tied_rnn_seq2seq"):
        scope = scope or "tied_rnn_seq2seq"
        _, state = _v1.nn.static_rnn(cell, encoder_inputs, dtype=dtype, scope=scope)
        _v1.get_variable_scope().reuse_variables()
        return rnn_decoder(decoder_inputs, state, cell, loop_function, scope)


def embedding_rnn_decoder(
    decoder_inputs: Sequence[tf.Tensor],
    initial_state: Nest,
    cell: Cell,
    num_symbols: int,
    embedding_size: int,
    output_projection: tuple[tf.Tensor, tf.Tensor] | None = None,
    feed_previous: bool = False,
    update_embedding_for_previous: bool = True,
    scope: Scope | None = None,
) -> Outputs:
    """Embeds symbols and applies a cell to them.

    Args:
      decoder_inputs: The symbol of each step, int32 of shape [batch].
      initial_state: The state before the first step.
      cell: The cell.
      num_symbols: Number of symbols.
      embedding_size: Size of an embedding.
      output_projection: Weights and bias from an output to the logits of symbols.
      feed_previous: Whether the input of a step is the likeliest symbol of the step before.
      update_embedding_for_previous: Whether gradients reach the embeddings of those symbols.
      scope: Scope of the variables.
    """
    with _v1.variable_scope(scope or "embedding_rnn_decoder"):
        embedding = _v1.get_variable("embedding", [num_symbols, embedding_size])
        feed = make_loop(embedding, output_projection, update_embedding_for_previous)
        inputs = [tf.nn.embedding_lookup(embedding, symbol) for symbol in decoder_inputs]
        return rnn_decoder(inputs, initial_state, cell, feed if feed_previous else None)


def embedding_rnn_seq2seq(
    encoder_inputs: Sequence[tf.Tensor],
    decoder_inputs: Sequence[tf.Tensor],
    cell: Any,
    num_encoder_symbols: int,
    num_decoder_symbols: int,
    embedding_size: int,
    output_projection: tuple[tf.Tensor, tf.Tensor] | None = None,
    feed_previous: bool = False,
    dtype: DType | None = None,
    scope: Scope | None = None,
) -> Outputs:
    """Embeds and encodes symbols, and decodes symbols; see `embedding_rnn_decoder`."""
    with _v1.variable_scope(scope or "embedding_rnn_seq2seq"):
        encoder = EmbeddingWrapper(copy.deepcopy(cell), num_encoder_symbols, embedding_size)
        _, state = _v1.nn.static_rnn(encoder, encoder_inputs, dtype=dtype or tf.float32)
        if output_projection is None:
            cell = OutputProjectionWrapper(cell, num_decoder_symbols)
        return embedding_rnn_decoder(
            decoder_inputs,
            state,
            cell,
            num_decoder_symbols,
            embedding_size,
            output_projection,
            feed_previous,
        )


def embedding_tied_rnn_seq2seq(
    encoder_inputs: Sequence[tf.Tensor],
    decoder_inputs: Sequence[tf.Tensor],
    cell: Any,
    num_symbols: int,
    embedding_size: int,
    num_decoder_symbols: int | None = None,
    output_projection: Projection | None = None,
    feed_previous: Condition = False,
    dtype: DType | None = None,
    scope: Scope | None = None,
) -> Outputs:
    """Encodes and decodes symbols with one embedding and one cell.

    Further arguments are those of `embedding_rnn_decoder`; `feed_previous` may be a tensor, and
    `num_decoder_symbols`, the number of symbols of the outputs, is `num_symbols` by default.
    """
    with _v1.variable_scope(scope or "embedding_tied_rnn_seq2seq"):
        dtype = dtype or tf.float32
        embedding = _v1.get_variable("embedding", [num_symbols, embedding_size], dtype)
        encoded, given = (
            [tf.nn.embedding_lookup(embedding, one) for one in symbols]
            for symbols in (encoder_inputs, decoder_inputs)
        )
        if output_projection is None:
            cell = OutputProjectionWrapper(cell, num_decoder_symbols or num_symbols)
        feed = make_loop(embedding, output_projection, True)
        return decode_by_choice(
            feed_previous,
            lambda feeds: tied_rnn_seq2seq(encoded, given, cell, feed if feeds else None, dtype),
        )


def model_with_buckets(
    encoder_inputs: Sequence[tf.Tensor],
    decoder_inputs: Sequence[tf.Tensor],
    targets: Sequence[tf.Tensor],
    weights: Sequence[tf.Tensor],
    buckets: Sequence[tuple[int, int]],
    seq2seq: Callable[..., Outputs],
    softmax_loss_function: _Loss | None = None,
    per_example_loss: bool = False,
    name: str | None = None,
) -> tuple[list[list[tf.Tensor]], list[tf.Tensor]]:
    """Makes a model for each of several lengths, with the same variables.

    Args:
      encoder_inputs: The inputs of the encoder.
      decoder_inputs: The inputs of the decoder.
      targets: The symbols to predict.
      weights: Their weights.
      buckets: Pairs of the lengths of inputs and outputs, the longest last.
      seq2seq: Makes outputs and a state from the inputs of both.
      softmax_loss_function: Computes a step's losses from `labels` and `logits`.
      per_example_loss: Whether each sequence has its own loss.
      name: Name scope of the operations.

    Returns:
      The outputs and the loss of each bucket.

    Raises:
      ValueError: A list is shorter than the last bucket.
    """
    lists = {"encoder_inputs": encoder_inputs, "targets": targets, "weights": weights}
    for title, values in lists.items():
        needed = buckets[-1][0 if title == "encoder_inputs" else 1]
        if len(values) < needed:
            raise ValueError(
                f"Length of {title} ({len(values)}) must be at least that of last bucket "
                f"({needed})."
            )
    compute = sequence_loss_by_example if per_example_loss else sequence_loss
    outputs, losses = [], []
    with tf.name_scope(name or "model_with_buckets"):
        for number, (inputs, steps) in enumerate(buckets):
            with _v1.variable_scope(_v1.get_variable_scope(), reuse=True if number else None):
                found, _ = seq2seq(encoder_inputs[:inputs], decoder_inputs[:steps])
                outputs.append(found)
                pair = targets[:steps], weights[:steps]
                loss = compute(found, *pair, softmax_loss_function=softmax_loss_function)
                losses.append(loss)
    return outputs, losses


def sequence_loss_by_example(
    logits: Sequence[tf.Tensor],
    targets: Sequence[tf.Tensor],
    weights: Sequence[tf.Tensor],
    average_across_timesteps: bool = True,
    softmax_loss_function: _Loss | None = None,
    name: str | None = None,
) -> tf.Tensor:
    """Returns the weighted cross entropy of each sequence, of shape [batch].

    Args:
      logits: The logits of each step, of shape [batch, symbols].
      targets: The symbol of each step, int32 of shape [batch].
      weights: The weights of each step, of shape [batch].
      average_across_timesteps: Whether to divide by the sum of the weights.
      softmax_loss_function: Computes a step's losses from `labels` and `logits`.
      name: Name scope of the operations.

    Raises:
      ValueError: The lists have several lengths.
    """
    if not len(logits) == len(targets) == len(weights):
        raise ValueError(
            "Lengths of logits, weights, and targets must be the same "
            f"{len(logits)}, {len(weights)}, {len(targets)}."
        )
    compute = softmax_loss_function or tf.nn.sparse_softmax_cross_entropy_with_logits
    with tf.name_scope(name or "sequence_loss_by_example"):
        steps = zip(logits, targets, weights, strict=True)
        total = tf.add_n([compute(labels=t, logits=one) * weight for one, t, weight in steps])
        return total / (tf.add_n(list(weights)) + _EPSILON) if average_across_timesteps else total


def sequence_loss(
    logits: Sequence[tf.Tensor],
    targets: Sequence[tf.Tensor],
    weights: Sequence[tf.Tensor],
    average_across_timesteps: bool = True,
    average_across_batch: bool = True,
    softmax_loss_function: _Loss | None = None,
    name: str | None = None,
) -> tf.Tensor:
    """Returns the sum of `sequence_loss_by_example`, by default its mean over the batch."""
    with tf.name_scope(name or "sequence_loss"):
        losses = sequence_loss_by_example(
            logits, targets, weights, average_across_timesteps, softmax_loss_function
        )
        return tf.reduce_mean(losses) if average_across_batch else tf.reduce_sum(losses)
