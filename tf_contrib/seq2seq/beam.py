"""Beam search for the most probable sequences."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from tf_contrib._types import Cell, Layer, Nest, TensorLike
from tf_contrib.seq2seq.decoding import Decoder
from tf_contrib.seq2seq.helpers import embedding_function


class BeamSearchDecoderState(NamedTuple):
    """State of the cell, and log-probabilities, end flags and lengths of shape (batch, beams)."""

    cell_state: Any
    log_probs: Any
    finished: Any
    lengths: Any
    accumulated_attention_probs: Any = ()


class BeamSearchDecoderOutput(NamedTuple):
    """Scores, tokens and parent beams of one step."""

    scores: Any
    predicted_ids: Any
    parent_ids: Any


class FinalBeamSearchDecoderOutput(NamedTuple):
    """Sequences, (batch, time, beams), the best first, and the outputs of all steps."""

    predicted_ids: Any
    beam_search_decoder_output: Any


def tile_batch(t: Nest, multiplier: int, name: str | None = None) -> Nest:
    """Repeats each example of a batch.

    Args:
      t: Nest of tensors of shape (batch, ...).
      multiplier: Number of repetitions.
      name: Unused.

    Raises:
      ValueError: A tensor is a scalar.
    """
    if any(tensor.shape.rank == 0 for tensor in map(tf.convert_to_tensor, tf.nest.flatten(t))):
        raise ValueError("t must have a batch dimension, got a scalar.")
    return tf.nest.map_structure(lambda tensor: tf.repeat(tensor, multiplier, 0), t)


class BeamSearchDecoder(Decoder):
    """Decoder that finds the most probable sequences; run it with `dynamic_decode`.

    Args:
      cell: Recurrent cell.
      embedding: Matrix of token embeddings, or a function of tokens.
      start_tokens: First tokens, shape (batch,).
      end_token: Token that ends a sequence.
      initial_state: Initial state of the cell, with each example repeated `beam_width` times; see
        `tile_batch`.
      beam_width: Number of beams.
      output_layer: Layer to apply to the outputs of the cell.
      length_penalty_weight: Preference for long sequences; 0: none.
      coverage_penalty_weight: Not supported.
      reorder_tensor_arrays: Whether to convert a history of attention to a tensor (time, batch *
        beams, positions) in the order of the final beams.

    Raises:
      ValueError: coverage_penalty_weight is not zero.
    """

    tracks_own_finished = True

    def __init__(
        self,
        cell: Cell,
        embedding: TensorLike | Callable[[tf.Tensor], tf.Tensor],
        start_tokens: TensorLike,
        end_token: TensorLike,
        initial_state: Nest,
        beam_width: int,
        output_layer: Layer | None = None,
        length_penalty_weight: float = 0.0,
        coverage_penalty_weight: float = 0.0,
        reorder_tensor_arrays: bool = True,
    ) -> None:
        if coverage_penalty_weight:
            raise ValueError("coverage_penalty_weight is not supported.")
        self._cell, self._output_layer, self._beam_width = cell, output_layer, beam_width
        self._embedding_fn = embedding_function(embedding)
        self._start_tokens = tf.cast(start_tokens, tf.int32)
        self._end_token = tf.cast(end_token, tf.int32)
        self._batch_size = tf.size(self._start_tokens)
        # Here, because variables of the embedding belong to the scope of the caller.
        tiled = tf.tile(self._start_tokens[:, None], [1, beam_width])
        self._start_inputs = self._embedding_fn(tiled)
        self._initial_state = tf.nest.map_structure(self._split, initial_state)
        self._penalty, self._reorders = length_penalty_weight, reorder_tensor_arrays

    @property
    def batch_size(self) -> tf.Tensor:
        """Number of sequences in a batch."""
        return self._batch_size

    @property
    def output_size(self) -> BeamSearchDecoderOutput:
        """Shapes of the outputs for one example and step."""
        shape = tf.TensorShape([self._beam_width])
        return BeamSearchDecoderOutput(shape, shape, shape)

    @property
    def output_dtype(self) -> BeamSearchDecoderOutput:
        """Types of the outputs."""
        return BeamSearchDecoderOutput(tf.float32, tf.int32, tf.int32)

    def initialize(self, name: str | None = None) -> tuple[Any, Any, Any]:
        """Returns the end flags, inputs and state; of the equal beams, only the first is open."""
        shape = [self.batch_size, self._beam_width]
        scores = tf.tile([[0.0] + [-np.inf] * (self._beam_width - 1)], [self.batch_size, 1])
        finished = tf.tile([[False] + [True] * (self._beam_width - 1)], [self.batch_size, 1])
        state = BeamSearchDecoderState(
            self._initial_state, scores, finished, tf.zeros(shape, tf.int32)
        )
        return finished, self._start_inputs, state

    def step(
        self, time: tf.Tensor, inputs: Nest, state: Nest, name: str | None = None
    ) -> tuple[Any, Any, Any, Any]:
        """Advances all beams by one token and keeps the best ones."""
        merged = tf.nest.map_structure(self._merge, (inputs, state.cell_state))
        logits, cell_state = self._cell(*merged)
        logits = logits if self._output_layer is None else self._output_layer(logits)
        cell_state = tf.nest.map_structure(self._split, cell_state)
        vocabulary_size = logits.shape[-1]
        steps = self._split(tf.nn.log_softmax(tf.cast(logits, tf.float32)))
        # A sequence that has ended continues with end tokens of probability 1.
        only_end = tf.one_hot(self._end_token, vocabulary_size, 0.0, tf.float32.min)
        steps = tf.where(state.finished[..., None], only_end[None, None], steps)
        totals = state.log_probs[..., None] + steps
        is_end = tf.equal(tf.range(vocabulary_size), self._end_token)[None, None]
        adds_token = tf.cast(~(state.finished[..., None] | is_end), tf.int32)
        lengths = state.lengths[..., None] + adds_token
        scores = totals / self._compute_length_penalty(lengths)
        flat = tf.reshape(scores, [self.batch_size, self._beam_width * vocabulary_size])
        best, indices = tf.math.top_k(flat, self._beam_width)
        tokens, parents = indices % vocabulary_size, indices // vocabulary_size

        def select(tensor: Nest) -> Nest:
            return tf.gather(tensor, parents, batch_dims=1) if _has_batch(tensor) else tensor

        flat_totals = tf.reshape(totals, [self.batch_size, self._beam_width * vocabulary_size])
        has_ended = select(state.finished)
        next_state = BeamSearchDecoderState(
            tf.nest.map_structure(select, cell_state),
            tf.gather(flat_totals, indices, batch_dims=1),
            has_ended | tf.equal(tokens, self._end_token),
            select(state.lengths) + tf.cast(~has_ended, tf.int32),
        )
        output = BeamSearchDecoderOutput(best, tokens, parents)
        return output, next_state, self._embedding_fn(tokens), next_state.finished

    def finalize(self, outputs: Nest, state: Nest, lengths: tf.Tensor) -> tuple[Any, Any]:
        """Traces each beam back to its start and returns the sequences."""

        def step_back(next_state: Nest, step: tuple[tf.Tensor, tf.Tensor]) -> Nest:
            tokens, parents = step
            beams = next_state[0]
            ancestors = tf.gather(parents, beams, batch_dims=1)
            return ancestors, tf.gather(tokens, beams, batch_dims=1), beams

        last = tf.tile(tf.range(self._beam_width)[None], [self.batch_size, 1])
        steps = (outputs.predicted_ids, outputs.parent_ids)
        _, tokens, beams = tf.scan(step_back, steps, (last, last, last), reverse=True)
        # Tokens after the end become end tokens.
        has_ended = (
            tf.cumsum(tf.cast(tf.equal(tokens, self._end_token), tf.int32), 0, exclusive=True) > 0
        )
        tokens = tf.where(has_ended, tf.fill(tf.shape(tokens), self._end_token), tokens)
        if self._reorders:
            cell_state = tf.nest.map_structure(
                lambda part: self._reorder_history(part, beams), state.cell_state
            )
            state = state._replace(cell_state=cell_state)
        return FinalBeamSearchDecoderOutput(tokens, outputs), state

    def _reorder_history(self, part: Nest, beams: tf.Tensor) -> Nest:
        """Returns a history in the order of the final beams, and other parts unchanged."""
        if not isinstance(part, tf.TensorArray):
            return part
        history = part.stack()
        shape = tf.shape(history)
        split = tf.reshape(history, tf.concat([shape[:1], [-1, self._beam_width], shape[2:]], 0))
        return tf.reshape(tf.gather(split, beams, batch_dims=2), shape)

    def _compute_length_penalty(self, lengths: tf.Tensor) -> tf.Tensor:
        return tf.pow((5.0 + tf.cast(lengths, tf.float32)) / 6.0, self._penalty)

    def _split(self, tensor: Nest) -> Nest:
        if not _has_batch(tensor):
            return tensor
        shape = tf.concat([[self.batch_size, self._beam_width], tf.shape(tensor)[1:]], 0)
        result = tf.reshape(tensor, shape)
        result.set_shape([None, self._beam_width, *tensor.shape[1:]])
        return result

    def _merge(self, tensor: Nest) -> Nest:
        if not _has_batch(tensor):
            return tensor
        result = tf.reshape(tensor, tf.concat([[-1], tf.shape(tensor)[2:]], 0))
        result.set_shape([None, *tensor.shape[2:]])
        return result


def _has_batch(part: Nest) -> bool:
    return not isinstance(part, tf.TensorArray) and part.shape.rank not in (None, 0)
