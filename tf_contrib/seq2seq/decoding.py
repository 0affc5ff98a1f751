"""Decoders and the loop that runs them."""

import functools
from typing import Any, NamedTuple

import tensorflow as tf

from tf_contrib._types import Cell, DType, Layer, Nest, Scope, Shape, TensorLike
from tf_contrib.seq2seq.helpers import Helper

_v1 = tf.compat.v1


class BasicDecoderOutput(NamedTuple):
    """Outputs of the cell and the tokens sampled from them."""

    rnn_output: Any
    sample_id: Any


class Decoder:
    """Base class of the decoders of `dynamic_decode`.

    Attributes:
      tracks_own_finished: Whether the end flags of `step` include sequences that ended in earlier
        steps.
    """

    tracks_own_finished = False
    batch_size: Any
    output_size: Any
    output_dtype: Any

    def initialize(self, name: str | None = None) -> tuple[Any, Any, Any]:
        """Returns the end flags, the first inputs and the first state."""
        raise NotImplementedError

    def step(
        self, time: tf.Tensor, inputs: Nest, state: Nest, name: str | None = None
    ) -> tuple[Any, Any, Any, Any]:
        """Returns the outputs, the next state, the next inputs and the end flags."""
        raise NotImplementedError


class BasicDecoder(Decoder):
    """Decoder that runs a cell on the inputs of a helper.

    Args:
      cell: Recurrent cell.
      helper: Helper that chooses the inputs.
      initial_state: Initial state of the cell.
      output_layer: Layer to apply to the outputs of the cell before sampling.

    Raises:
      TypeError: helper is not a Helper.
    """

    def __init__(
        self, cell: Cell, helper: Helper, initial_state: Nest, output_layer: Layer | None = None
    ) -> None:
        if not isinstance(helper, Helper):
            raise TypeError(f"helper must be a Helper, got {helper}.")
        self._cell, self._helper, self._output_layer = cell, helper, output_layer
        self._initial_state = initial_state

    @property
    def batch_size(self) -> tf.Tensor:
        """Number of sequences in a batch."""
        return self._helper.batch_size

    @property
    def output_size(self) -> BasicDecoderOutput:
        """Shapes or sizes of the outputs for one sequence and step, in the cell's structure."""
        size = self._cell.output_size
        if self._output_layer is not None:
            size = self._output_layer.compute_output_shape(_add_batch_dimension(size))[1:]
        return BasicDecoderOutput(size, self._helper.sample_ids_shape)

    @property
    def output_dtype(self) -> BasicDecoderOutput:
        """Types of the outputs, one for each output of the cell."""
        dtype = tf.nest.flatten(self._initial_state)[0].dtype
        dtypes = tf.nest.map_structure(lambda _: dtype, self._cell.output_size)
        is_single = self._output_layer is not None
        return BasicDecoderOutput(dtype if is_single else dtypes, self._helper.sample_ids_dtype)

    def initialize(self, name: str | None = None) -> tuple[Any, Any, Any]:
        """Returns the end flags, the first inputs and the first state."""
        return (*self._helper.initialize(), self._initial_state)

    def step(
        self, time: tf.Tensor, inputs: Nest, state: Nest, name: str | None = None
    ) -> tuple[Any, Any, Any, Any]:
        """Returns the outputs, the next state, the next inputs and the end flags."""
        outputs, state = self._cell(inputs, state)
        if self._output_layer is not None:
            outputs = self._output_layer(outputs)
        tokens = self._helper.sample(time, outputs, state)
        finished, inputs, state = self._helper.next_inputs(time, outputs, state, tokens)
        return BasicDecoderOutput(outputs, tokens), state, inputs, finished


def dynamic_decode(
    decoder: Decoder,
    output_time_major: bool = False,
    impute_finished: bool = False,
    maximum_iterations: TensorLike | None = None,
    parallel_iterations: int = 32,
    swap_memory: bool = False,
    scope: Scope | None = None,
) -> tuple[Any, Any, Any]:
    """Runs a decoder until all sequences have ended.

    Args:
      decoder: Decoder.
      output_time_major: Whether outputs are (time, batch, ...) instead of (batch, time, ...).
      impute_finished: Whether ended sequences have outputs of zero and keep their state.
      maximum_iterations: Maximum number of steps.
      parallel_iterations: See `tf.while_loop`.
      swap_memory: See `tf.while_loop`.
      scope: Scope of the variables, "decoder" by default.

    Returns:
      The outputs, the last state, and the lengths of the sequences.

    Raises:
      TypeError: decoder is not a Decoder.
      ValueError: maximum_iterations is not a scalar.
    """
    if not isinstance(decoder, Decoder):
        raise TypeError(f"decoder must be a Decoder, got {decoder}.")
    if maximum_iterations is not None and tf.convert_to_tensor(maximum_iterations).shape.rank:
        raise ValueError("maximum_iterations must be a scalar.")
    with _v1.variable_scope(scope, "decoder"):
        finished, inputs, state = decoder.initialize()
        arrays = tf.nest.map_structure(_create_array, decoder.output_size, decoder.output_dtype)

        def should_continue(time: tf.Tensor, *loop: Any) -> tf.Tensor:
            has_open_sequence = ~tf.reduce_all(loop[3])
            if maximum_iterations is None:
                return has_open_sequence
            return has_open_sequence & (time < maximum_iterations)

        _, filled_arrays, state, _, _, lengths = _v1.while_loop(
            should_continue,
            functools.partial(_run_step, decoder, impute_finished),
            (
                0,
                tf.nest.flatten(arrays),
                state,
                inputs,
                finished,
                tf.zeros_like(finished, tf.int32),
            ),
            parallel_iterations=parallel_iterations,
            swap_memory=swap_memory,
        )
        outputs = tf.nest.pack_sequence_as(arrays, [array.stack() for array in filled_arrays])
        if hasattr(decoder, "finalize"):
            outputs, state = decoder.finalize(outputs, state, lengths)
        if not output_time_major:
            outputs = tf.nest.map_structure(_put_batch_first, outputs)
    return outputs, state, lengths


def _create_array(shape: Shape, dtype: DType) -> tf.TensorArray:
    return tf.TensorArray(dtype, 0, dynamic_size=True, element_shape=_add_batch_dimension(shape))


def _run_step(
    decoder: Decoder,
    impute_finished: bool,
    time: tf.Tensor,
    arrays: list[tf.TensorArray],
    state: Nest,
    inputs: Nest,
    finished: tf.Tensor,
    lengths: tf.Tensor,
) -> tuple[Any, ...]:
    """Runs the decoder once and returns the next loop variables: time to lengths."""
    outputs, next_state, next_inputs, ended = decoder.step(time, inputs, state)
    ended = ended if decoder.tracks_own_finished else ended | finished
    lengths = tf.where(finished, lengths, tf.fill(tf.shape(lengths), time + 1))
    if impute_finished:
        zeros = tf.nest.map_structure(tf.zeros_like, outputs)
        outputs = _keep_ended(finished, zeros, outputs)
        next_state = _keep_ended(finished, state, next_state)
    flat = tf.nest.flatten(outputs)
    arrays = [array.write(time, value) for array, value in zip(arrays, flat, strict=True)]
    return time + 1, arrays, next_state, next_inputs, ended, lengths


def _add_batch_dimension(shape: Shape) -> tf.TensorShape:
    return tf.TensorShape([None]).concatenate(tf.TensorShape(shape))


def _keep_ended(finished: tf.Tensor, old: Nest, new: Nest) -> Nest:
    """Returns the old values for ended sequences and the new values for others."""

    def select(before: Nest, after: Nest) -> Nest:
        if isinstance(before, tf.TensorArray) or after.shape.rank in (None, 0):
            return after
        is_old = tf.reshape(finished, [-1] + [1] * (after.shape.rank - 1))
        result = tf.where(is_old, before, after)
        result.set_shape(before.shape)
        return result

    return tf.nest.map_structure(select, old, new)


def _put_batch_first(tensor: tf.Tensor) -> tf.Tensor:
    if tensor.shape.rank is None or tensor.shape.rank < 2:
        return tensor
    return tf.transpose(tensor, [1, 0, *range(2, tensor.shape.rank)])
