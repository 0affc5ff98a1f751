"""Beam search: the likeliest sequences rather than the likeliest next tokens."""

from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from estimator_train.legacy.contrib.seq2seq.decoding import Decoder
from estimator_train.legacy.contrib.seq2seq.helpers import embedding_function


class BeamSearchDecoderState(NamedTuple):
    """The cell's state, scores, ended beams and lengths; the latter three (batch, beams)."""

    cell_state: Any
    log_probs: Any
    finished: Any
    lengths: Any
    accumulated_attention_probs: Any = ()


class BeamSearchDecoderOutput(NamedTuple):
    """Scores, tokens and the beams that they follow on, of one step."""

    scores: Any
    predicted_ids: Any
    parent_ids: Any


class FinalBeamSearchDecoderOutput(NamedTuple):
    """The sequences, (batch, time, beams), the best first; and the steps that led to them."""

    predicted_ids: Any
    beam_search_decoder_output: Any


def tile_batch(t: Any, multiplier: int, name: str | None = None) -> Any:
    """Each example several times, one after the other.

    Args:
      t: A tensor, or a structure of such, of shapes (batch, ...).
      multiplier: How often.
      name: Unused.

    Raises:
      ValueError: A tensor has no batch.
    """
    if any(tensor.shape.rank == 0 for tensor in map(tf.convert_to_tensor, tf.nest.flatten(t))):
        raise ValueError("Numbers have no batch to tile.")
    return tf.nest.map_structure(lambda tensor: tf.repeat(tensor, multiplier, 0), t)


class BeamSearchDecoder(Decoder):
    """A decoder of the likeliest sequences; `dynamic_decode` runs it.

    Args:
      cell: The cell.
      embedding: Vectors of the tokens, or a function of tokens that returns them.
      start_tokens: First tokens, shape (batch,).
      end_token: The number of the token that ends a sequence.
      initial_state: Of the cell, each example `beam_width` times; see `tile_batch`.
      beam_width: Sequences that are followed at a time.
      output_layer: A layer on the cell's outputs.
      length_penalty_weight: How much long sequences are preferred; 0: not at all.
      coverage_penalty_weight: Not supported.
      reorder_tensor_arrays: Whether a history of attention follows the beams back at the end: it
        becomes a tensor (time, batch * beams, places).

    Raises:
      ValueError: coverage_penalty_weight is not zero.
    """

    tracks_own_finished = True

    def __init__(
        self,
        cell: Any,
        embedding: Any,
        start_tokens: Any,
        end_token: Any,
        initial_state: Any,
        beam_width: int,
        output_layer: Any = None,
        length_penalty_weight: float = 0.0,
        coverage_penalty_weight: float = 0.0,
        reorder_tensor_arrays: bool = True,
    ) -> None:
        if coverage_penalty_weight:
            raise ValueError("coverage_penalty_weight is not supported.")
        self._cell, self._layer, self._beams = cell, output_layer, beam_width
        self._embed = embedding_function(embedding)
        self._start = tf.cast(start_tokens, tf.int32)
        self._end = tf.cast(end_token, tf.int32)
        self.batch_size = tf.size(self._start)
        self._state = tf.nest.map_structure(self._split, initial_state)
        self._penalty, self._reorders = length_penalty_weight, reorder_tensor_arrays

    @property
    def output_size(self) -> BeamSearchDecoderOutput:
        """Shapes of the outputs of one example and step."""
        shape = tf.TensorShape([self._beams])
        return BeamSearchDecoderOutput(shape, shape, shape)

    @property
    def output_dtype(self) -> BeamSearchDecoderOutput:
        """Types of the outputs."""
        return BeamSearchDecoderOutput(tf.float32, tf.int32, tf.int32)

    def initialize(self, name: str | None = None) -> tuple[Any, Any, Any]:
        """All beams but the first have ended and are without hope, for they are alike."""
        shape = [self.batch_size, self._beams]
        scores = tf.tile([[0.0] + [-np.inf] * (self._beams - 1)], [self.batch_size, 1])
        finished = tf.tile([[False] + [True] * (self._beams - 1)], [self.batch_size, 1])
        state = BeamSearchDecoderState(self._state, scores, finished, tf.zeros(shape, tf.int32))
        return finished, self._embed(tf.tile(self._start[:, None], [1, self._beams])), state

    def step(
        self, time: Any, inputs: Any, state: Any, name: str | None = None
    ) -> tuple[Any, Any, Any, Any]:
        """One step of all beams, of whose sequences the best go on."""
        merged = tf.nest.map_structure(self._merge, (inputs, state.cell_state))
        logits, cell_state = self._cell(*merged)
        logits = logits if self._layer is None else self._layer(logits)
        cell_state = tf.nest.map_structure(self._split, cell_state)
        words = logits.shape[-1]
        steps = self._split(tf.nn.log_softmax(tf.cast(logits, tf.float32)))
        # A sequence that has ended goes on with the end's token alone, for nothing.
        only_end = tf.one_hot(self._end, words, 0.0, tf.float32.min)
        steps = tf.where(state.finished[..., None], only_end[None, None], steps)
        totals = state.log_probs[..., None] + steps
        is_end = tf.equal(tf.range(words), self._end)[None, None]
        longer = tf.cast(~(state.finished[..., None] | is_end), tf.int32)
        lengths = state.lengths[..., None] + longer
        scores = totals / self._penalized(lengths)
        flat = tf.reshape(scores, [self.batch_size, self._beams * words])
        best, places = tf.math.top_k(flat, self._beams)
        tokens, parents = places % words, places // words

        def chosen(tensor: Any) -> Any:
            return tf.gather(tensor, parents, batch_dims=1) if _has_batch(tensor) else tensor

        flat_totals = tf.reshape(totals, [self.batch_size, self._beams * words])
        ended = chosen(state.finished)
        following = BeamSearchDecoderState(
            tf.nest.map_structure(chosen, cell_state),
            tf.gather(flat_totals, places, batch_dims=1),
            ended | tf.equal(tokens, self._end),
            chosen(state.lengths) + tf.cast(~ended, tf.int32),
        )
        output = BeamSearchDecoderOutput(best, tokens, parents)
        return output, following, self._embed(tokens), following.finished

    def finalize(self, outputs: Any, state: Any, lengths: Any) -> tuple[Any, Any]:
        """Follows each beam back to its start."""

        def back(following: Any, step: Any) -> Any:
            tokens, parents = step
            beams = following[0]
            ancestors = tf.gather(parents, beams, batch_dims=1)
            return ancestors, tf.gather(tokens, beams, batch_dims=1), beams

        last = tf.tile(tf.range(self._beams)[None], [self.batch_size, 1])
        steps = (outputs.predicted_ids, outputs.parent_ids)
        _, tokens, beams = tf.scan(back, steps, (last, last, last), reverse=True)
        # What comes after the end is the end's token too.
        ended = tf.cumsum(tf.cast(tf.equal(tokens, self._end), tf.int32), 0, exclusive=True) > 0
        tokens = tf.where(ended, tf.fill(tf.shape(tokens), self._end), tokens)
        if self._reorders:
            cell_state = tf.nest.map_structure(
                lambda part: self._followed(part, beams), state.cell_state
            )
            state = state._replace(cell_state=cell_state)
        return FinalBeamSearchDecoderOutput(tokens, outputs), state

    def _followed(self, part: Any, beams: Any) -> Any:
        """A history in the order of the beams at the end; other parts of a state as they are."""
        if not isinstance(part, tf.TensorArray):
            return part
        history = part.stack()
        shape = tf.shape(history)
        split = tf.reshape(history, tf.concat([shape[:1], [-1, self._beams], shape[2:]], 0))
        return tf.reshape(tf.gather(split, beams, batch_dims=2), shape)

    def _penalized(self, lengths: Any) -> Any:
        return tf.pow((5.0 + tf.cast(lengths, tf.float32)) / 6.0, self._penalty)

    def _split(self, tensor: Any) -> Any:
        if not _has_batch(tensor):
            return tensor
        shape = tf.concat([[self.batch_size, self._beams], tf.shape(tensor)[1:]], 0)
        result = tf.reshape(tensor, shape)
        result.set_shape([None, self._beams, *tensor.shape[1:]])
        return result

    def _merge(self, tensor: Any) -> Any:
        if not _has_batch(tensor):
            return tensor
        result = tf.reshape(tensor, tf.concat([[-1], tf.shape(tensor)[2:]], 0))
        result.set_shape([None, *tensor.shape[2:]])
        return result


def _has_batch(part: Any) -> bool:
    return not isinstance(part, tf.TensorArray) and part.shape.rank not in (None, 0)
