"""Decoders with attention (Vinyals et al., "Grammar as a Foreign Language", 2014)."""

import copy
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from tf_contrib._types import Cell, Condition, DType, Nest, Scope
from tf_contrib.legacy_seq2seq.feeding import (
    Loop,
    Outputs,
    Projection,
    decode_by_choice,
    make_loop,
)
from tf_contrib.rnn.projections import (
    EmbeddingWrapper,
    OutputProjectionWrapper,
    project,
)

_v1 = tf.compat.v1


class _Attention:
    """Heads that read attention states, with variables of the current scope.

    Args:
      states: Tensor to attend to, shape (batch, positions, size).
      num_heads: Number of heads.
    """

    def __init__(self, states: tf.Tensor, num_heads: int) -> None:
        self._states, size = states, states.shape[2]
        self._heads = []
        for head in range(num_heads):
            kernel = _v1.get_variable(f"AttnW_{head}", [1, 1, size, size], states.dtype)
            vector = _v1.get_variable(f"AttnV_{head}", [size], states.dtype)
            self._heads.append((tf.einsum("bps,sv->bpv", states, kernel[0, 0]), vector))

    def start(self) -> list[tf.Tensor]:
        """Returns zeros, which the first step reads."""
        return [tf.zeros_like(self._states[:, 0]) for _ in self._heads]

    def read(self, state: Nest) -> list[tf.Tensor]:
        """Returns the mean of the attention states for each head, by a cell's state."""
        query, found = tf.concat(tf.nest.flatten(state), 1), []
        for head, (features, vector) in enumerate(self._heads):
            with _v1.variable_scope(f"Attention_{head}"):
                compared = tf.tanh(features + project(query, vector.shape[0])[:, None])
            weights = tf.nn.softmax(tf.reduce_sum(vector * compared, 2))
            found.append(tf.reduce_sum(weights[:, :, None] * self._states, 1))
        return found


def attention_decoder(
    decoder_inputs: Sequence[tf.Tensor],
    initial_state: Nest,
    attention_states: tf.Tensor,
    cell: Cell,
    output_size: int | None = None,
    num_heads: int = 1,
    loop_function: Loop | None = None,
    dtype: DType | None = None,
    scope: Scope | None = None,
    initial_state_attention: bool = False,
) -> Outputs:
    """Applies a cell to inputs, one after the other, with attention.

    Args:
      decoder_inputs: The input of each step, of shape [batch, size].
      initial_state: The state before the first step.
      attention_states: Tensor to attend to, shape [batch, positions, size].
      cell: The cell.
      output_size: Size of the outputs; by default that of the cell's.
      num_heads: Number of heads.
      loop_function: Makes each input but the first from the output of the step before.
      dtype: Not used: the types are those of the inputs.
      scope: Scope of the variables.
      initial_state_attention: Whether the first step attends by the initial state.

    Returns:
      The output of each step, and the last state.

    Raises:
      ValueError: There is no input or no head, or sizes of the attention states are not known.
    """
    del dtype
    if not decoder_inputs:
        raise ValueError("Must provide at least 1 input to attention decoder.")
    if num_heads < 1:
        raise ValueError("With less than 1 heads, use a non-attention decoder.")
    if attention_states.shape.as_list()[2] is None:
        raise ValueError(f"Shape[2] of attention_states must be known: {attention_states.shape}")
    with _v1.variable_scope(scope or "attention_decoder"):
        size = cell.output_size if output_size is None else output_size
        attention, state = _Attention(attention_states, num_heads), initial_state
        outputs: list[tf.Tensor] = []
        read = attention.read(state) if initial_state_attention else attention.start()
        for number, given in enumerate(decoder_inputs):
            if number:
                _v1.get_variable_scope().reuse_variables()
            if loop_function is not None and outputs:
                with _v1.variable_scope("loop_function", reuse=True):
                    given = loop_function(outputs[-1], number)
            x = project(tf.concat([given, *read], 1), given.shape[1])
            output, state = cell(x, state)
            # The initial state has read with the variables that the first step reads with.
            with _v1.variable_scope(
                _v1.get_variable_scope(), reuse=True if initial_state_attention else None
            ):
                read = attention.read(state)
            with _v1.variable_scope("AttnOutputProjection"):
                outputs.append(project(tf.concat([output, *read], 1), size))
    return outputs, state


def embedding_attention_decoder(
    decoder_inputs: Sequence[tf.Tensor],
    initial_state: Nest,
    attention_states: tf.Tensor,
    cell: Cell,
    num_symbols: int,
    embedding_size: int,
    num_heads: int = 1,
    output_size: int | None = None,
    output_projection: Projection | None = None,
    feed_previous: bool = False,
    update_embedding_for_previous: bool = True,
    dtype: DType | None = None,
    scope: Scope | None = None,
    initial_state_attention: bool = False,
) -> Outputs:
    """Embeds symbols and decodes with attention.

    The arguments are those of `attention_decoder`, and `num_symbols`, `embedding_size`,
    `output_projection`, `feed_previous` and `update_embedding_for_previous` those of
    `embedding_rnn_decoder`.
    """
    with _v1.variable_scope(scope or "embedding_attention_decoder"):
        embedding = _v1.get_variable("embedding", [num_symbols, embedding_size])
        loop = make_loop(embedding, output_projection, update_embedding_for_previous)
        return attention_decoder(
            [tf.nn.embedding_lookup(embedding, symbol) for symbol in decoder_inputs],
            initial_state,
            attention_states,
            cell,
            output_size,
            num_heads,
            loop if feed_previous else None,
            dtype,
            initial_state_attention=initial_state_attention,
        )


def embedding_attention_seq2seq(
    encoder_inputs: Sequence[tf.Tensor],
    decoder_inputs: Sequence[tf.Tensor],
    cell: Any,
    num_encoder_symbols: int,
    num_decoder_symbols: int,
    embedding_size: int,
    num_heads: int = 1,
    output_projection: Projection | None = None,
    feed_previous: Condition = False,
    dtype: DType | None = None,
    scope: Scope | None = None,
    initial_state_attention: bool = False,
) -> Outputs:
    """Embeds and encodes symbols, and decodes with attention to the encoder's outputs.

    The arguments are those of `embedding_attention_decoder`; `feed_previous` may be a tensor.
    """
    with _v1.variable_scope(scope or "embedding_attention_seq2seq"):
        encoder = EmbeddingWrapper(copy.deepcopy(cell), num_encoder_symbols, embedding_size)
        encoded, state = _v1.nn.static_rnn(encoder, encoder_inputs, dtype=dtype or tf.float32)
        output_size = None
        if output_projection is None:
            cell = OutputProjectionWrapper(cell, num_decoder_symbols)
            output_size = num_decoder_symbols

        def decode(feeds: bool) -> Outputs:
            return embedding_attention_decoder(
                decoder_inputs,
                state,
                tf.stack(encoded, 1),
                cell,
                num_decoder_symbols,
                embedding_size,
                num_heads,
                output_size,
                output_projection,
                feeds,
                update_embedding_for_previous=False,
                initial_state_attention=initial_state_attention,
            )

        return decode_by_choice(feed_previous, decode)
