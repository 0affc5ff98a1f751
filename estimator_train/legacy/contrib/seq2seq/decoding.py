"""Decoders, and the loop that runs them."""

from typing import Any, NamedTuple

import tensorflow as tf

from estimator_train.legacy.contrib.seq2seq.helpers import Helper

_v1 = tf.compat.v1


class BasicDecoderOutput(NamedTuple):
    """Outputs and the tokens sampled from them."""

    rnn_output: Any
    sample_id: Any


class Decoder:
    """What `dynamic_decode` runs.

    Attributes:
      tracks_own_finished: Whether its `step` says of each sequence whether it has ended by now,
        rather than in this step.
    """

    tracks_own_finished = False
    batch_size: Any
    output_size: Any
    output_dtype: Any

    def initialize(self, name: str | None = None) -> tuple[Any, Any, Any]:
        """Which sequences have ended at once, the first inputs, and the first state."""
        raise NotImplementedError

    def step(
        self, time: Any, inputs: Any, state: Any, name: str | None = None
    ) -> tuple[Any, Any, Any, Any]:
        """Outputs, next state, next inputs, and which sequences have ended."""
        raise NotImplementedError


class BasicDecoder(Decoder):
    """A cell that reads what a helper gives.

    Args:
      cell: The cell.
      helper: The helper.
      initial_state: Of the cell.
      output_layer: A layer on the cell's outputs, before tokens are sampled.

    Raises:
      TypeError: The helper is none.
    """

    def __init__(
        self, cell: Any, helper: Any, initial_state: Any, output_layer: Any = None
    ) -> None:
        if not isinstance(helper, Helper):
            raise TypeError(f"helper must be a Helper, is {helper}.")
        self._cell, self._helper, self._layer = cell, helper, output_layer
        self._initial_state = initial_state

    @property
    def batch_size(self) -> Any:
        """Sequences in a batch."""
        return self._helper.batch_size

    @property
    def output_size(self) -> BasicDecoderOutput:
        """Shapes of the outputs of one sequence and step."""
        size = tf.TensorShape(self._cell.output_size)
        if self._layer is not None:
            size = self._layer.compute_output_shape(tf.TensorShape([None]).concatenate(size))[1:]
        return BasicDecoderOutput(size, self._helper.sample_ids_shape)

    @property
    def output_dtype(self) -> BasicDecoderOutput:
        """Types of the outputs."""
        dtype = tf.nest.flatten(self._initial_state)[0].dtype
        return BasicDecoderOutput(dtype, self._helper.sample_ids_dtype)

    def initialize(self, name: str | None = None) -> tuple[Any, Any, Any]:
        """Which sequences have ended at once, the first inputs, and the first state."""
        return (*self._helper.initialize(), self._initial_state)

    def step(
        self, time: Any, inputs: Any, state: Any, name: str | None = None
    ) -> tuple[Any, Any, Any, Any]:
        """Outputs, next state, next inputs, and which sequences have ended."""
        outputs, state = self._cell(inputs, state)
        if self._layer is not None:
            outputs = self._layer(outputs)
        tokens = self._helper.sample(time, outputs, state)
        finished, inputs, state = self._helper.next_inputs(time, outputs, state, tokens)
        return BasicDecoderOutput(outputs, tokens), state, inputs, finished


def dynamic_decode(
    decoder: Any,
    output_time_major: bool = False,
    impute_finished: bool = False,
    maximum_iterations: Any = None,
    parallel_iterations: int = 32,
    swap_memory: bool = False,
    scope: Any = None,
) -> tuple[Any, Any, Any]:
    """Runs a decoder until all sequences have ended.

    Args:
      decoder: The decoder.
      output_time_major: Whether outputs are (time, batch, ...) rather than (batch, time, ...).
      impute_finished: Whether outputs are zero, and states stay, where a sequence has ended.
      maximum_iterations: Steps at most.
      parallel_iterations: See `tf.while_loop`.
      swap_memory: The same.
      scope: Of the variables, "decoder" by default.

    Returns:
      The outputs, the last state, and the lengths of the sequences.

    Raises:
      TypeError: The decoder is none.
      ValueError: maximum_iterations is not a number.
    """
    if not isinstance(decoder, Decoder):
        raise TypeError(f"decoder must be a Decoder, is {decoder}.")
    if maximum_iterations is not None and tf.convert_to_tensor(maximum_iterations).shape.rank:
        raise ValueError("maximum_iterations must be a number.")
    with _v1.variable_scope(scope, "decoder"):
        finished, inputs, state = decoder.initialize()
        arrays = tf.nest.map_structure(
            lambda shape, dtype: tf.TensorArray(
                dtype, 0, dynamic_size=True, element_shape=_batched(shape)
            ),
            decoder.output_size,
            decoder.output_dtype,
        )
        flat_arrays = tf.nest.flatten(arrays)

        def goes_on(time: Any, _: Any, __: Any, ___: Any, finished: Any, ____: Any) -> Any:
            left = ~tf.reduce_all(finished)
            return left if maximum_iterations is None else left & (time < maximum_iterations)

        def step(
            time: Any, written: Any, state: Any, inputs: Any, finished: Any, lengths: Any
        ) -> Any:
            outputs, next_state, next_inputs, ended = decoder.step(time, inputs, state)
            ended = ended if decoder.tracks_own_finished else ended | finished
            lengths = tf.where(finished, lengths, tf.fill(tf.shape(lengths), time + 1))
            if impute_finished:
                outputs = _kept(finished, tf.nest.map_structure(tf.zeros_like, outputs), outputs)
                next_state = _kept(finished, state, next_state)
            flat = tf.nest.flatten(outputs)
            written = [a.write(time, value) for a, value in zip(written, flat, strict=True)]
            return time + 1, written, next_state, next_inputs, ended, lengths

        _, written, state, _, _, lengths = _v1.while_loop(
            goes_on,
            step,
            (0, flat_arrays, state, inputs, finished, tf.zeros_like(finished, tf.int32)),
            parallel_iterations=parallel_iterations,
            swap_memory=swap_memory,
        )
        outputs = tf.nest.pack_sequence_as(arrays, [a.stack() for a in written])
        if hasattr(decoder, "finalize"):
            outputs, state = decoder.finalize(outputs, state, lengths)
        if not output_time_major:
            outputs = tf.nest.map_structure(_batch_first, outputs)
    return outputs, state, lengths


def _batched(shape: Any) -> tf.TensorShape:
    return tf.TensorShape([None]).concatenate(tf.TensorShape(shape))


def _kept(finished: Any, old: Any, new: Any) -> Any:
    """The old values of sequences that have ended, the new ones of others."""

    def chosen(before: Any, after: Any) -> Any:
        if isinstance(before, tf.TensorArray) or after.shape.rank in (None, 0):
            return after
        is_old = tf.reshape(finished, [-1] + [1] * (after.shape.rank - 1))
        result = tf.where(is_old, before, after)
        result.set_shape(before.shape)
        return result

    return tf.nest.map_structure(chosen, old, new)


def _batch_first(tensor: Any) -> Any:
    if tensor.shape.rank is None or tensor.shape.rank < 2:
        return tensor
    return tf.transpose(tensor, [1, 0, *range(2, tensor.shape.rank)])
