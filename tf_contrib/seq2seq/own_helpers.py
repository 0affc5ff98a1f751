"""Helpers that call functions of the program."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from tf_contrib._types import DType, Nest, Shape, TensorLike
from tf_contrib.seq2seq.helpers import Helper, TrainingHelper


class CustomHelper(Helper):
    """Helper whose methods call three functions.

    Args:
      initialize_fn: Implementation of `initialize`.
      sample_fn: Implementation of `sample`.
      next_inputs_fn: Implementation of `next_inputs`.
      sample_ids_shape: Shape of one sample; a scalar by default.
      sample_ids_dtype: Type of the samples; int32 by default.
    """

    def __init__(
        self,
        initialize_fn: Callable[[], tuple[Any, Any]],
        sample_fn: Callable[..., Any],
        next_inputs_fn: Callable[..., tuple[Any, Any, Any]],
        sample_ids_shape: Shape | None = None,
        sample_ids_dtype: DType | None = None,
    ) -> None:
        self._initialize, self._sample, self._next_inputs = initialize_fn, sample_fn, next_inputs_fn
        self._sample_shape = tf.TensorShape(sample_ids_shape or [])
        self._sample_dtype = sample_ids_dtype or tf.int32

    def initialize(self, name: str | None = None) -> tuple[Any, Any]:
        """Calls initialize_fn."""
        finished, inputs = self._initialize()
        self._batch_size = tf.size(finished)
        return finished, inputs

    def sample(
        self, time: tf.Tensor, outputs: Nest, state: Nest, name: str | None = None
    ) -> tf.Tensor:
        """Calls sample_fn."""
        return self._sample(time=time, outputs=outputs, state=state)

    def next_inputs(
        self, time: tf.Tensor, outputs: Nest, state: Nest, sample_ids: Nest, name: str | None = None
    ) -> tuple[Any, Any, Any]:
        """Calls next_inputs_fn."""
        return self._next_inputs(time=time, outputs=outputs, state=state, sample_ids=sample_ids)


class InferenceHelper(Helper):
    """Helper that reads samples, which a function draws from outputs.

    Args:
      sample_fn: Function of outputs that returns samples.
      sample_shape: Shape of one sample.
      sample_dtype: Type of the samples.
      start_inputs: First inputs.
      end_fn: Function of samples that returns end flags.
      next_inputs_fn: Function of samples that returns inputs; by default the samples are the
        inputs.
    """

    def __init__(
        self,
        sample_fn: Callable[[Any], Any],
        sample_shape: Shape,
        sample_dtype: DType,
        start_inputs: TensorLike,
        end_fn: Callable[[Any], Any],
        next_inputs_fn: Callable[[Any], Any] | None = None,
    ) -> None:
        self._sample, self._end, self._next_inputs = sample_fn, end_fn, next_inputs_fn
        self._sample_shape, self._sample_dtype = tf.TensorShape(sample_shape), sample_dtype
        self._start_inputs = tf.convert_to_tensor(start_inputs)
        self._batch_size = tf.shape(self._start_inputs)[0]

    def initialize(self, name: str | None = None) -> tuple[Any, Any]:
        """Returns the end flags and the first inputs."""
        return tf.zeros([self.batch_size], tf.bool), self._start_inputs

    def sample(
        self, time: tf.Tensor, outputs: Nest, state: Nest, name: str | None = None
    ) -> tf.Tensor:
        """Calls sample_fn."""
        return self._sample(outputs)

    def next_inputs(
        self, time: tf.Tensor, outputs: Nest, state: Nest, sample_ids: Nest, name: str | None = None
    ) -> tuple[Any, Any, Any]:
        """Returns the end flags, the next inputs and the state."""
        inputs = sample_ids if self._next_inputs is None else self._next_inputs(sample_ids)
        return self._end(sample_ids), inputs, state


class ScheduledOutputTrainingHelper(TrainingHelper):
    """Helper that reads given inputs, and outputs of the decoder with some probability.

    A sample is 1 where the next input is an output. The arguments that are not listed are those
    of `TrainingHelper`.

    Args:
      inputs: Shape (batch, time, size).
      sampling_probability: Probability of reading an output.
      seed: Random seed of the choice.
      next_inputs_fn: Function from outputs to inputs, such as a layer; the identity by default.
      auxiliary_inputs: Numbers that are appended to all inputs, shape (batch, time, more).

    Raises:
      ValueError: sequence_length is not a vector, or there are several auxiliary inputs.
    """

    def __init__(
        self,
        inputs: TensorLike,
        sequence_length: TensorLike,
        sampling_probability: TensorLike,
        time_major: bool = False,
        seed: int | None = None,
        next_inputs_fn: Callable[[tf.Tensor], tf.Tensor] | None = None,
        auxiliary_inputs: TensorLike | None = None,
        name: str | None = None,
    ) -> None:
        self._has_more = auxiliary_inputs is not None
        if self._has_more:
            tf.nest.assert_same_structure(inputs, auxiliary_inputs)
        given = (inputs, auxiliary_inputs) if self._has_more else inputs
        super().__init__(given, sequence_length, time_major, name)
        self._probability, self._seed = sampling_probability, seed
        self._convert = next_inputs_fn or (lambda outputs: outputs)

    def initialize(self, name: str | None = None) -> tuple[Any, Any]:
        """Returns the end flags and the first given inputs."""
        finished, inputs = super().initialize(name)
        return finished, tf.concat(inputs, -1) if self._has_more else inputs

    def sample(
        self, time: tf.Tensor, outputs: Nest, state: Nest, name: str | None = None
    ) -> tf.Tensor:
        """Samples 1 where an output is read, and 0 elsewhere."""
        chance = tf.random.uniform([self.batch_size], seed=self._seed)
        return tf.cast(chance < self._probability, tf.int32)

    def next_inputs(
        self, time: tf.Tensor, outputs: Nest, state: Nest, sample_ids: Nest, name: str | None = None
    ) -> tuple[Any, Any, Any]:
        """Returns the end flags, given inputs or converted outputs, and the state."""
        finished, given, state = super().next_inputs(time, outputs, state, sample_ids)
        own, *more = given if self._has_more else (given,)
        is_output = tf.cast(sample_ids, tf.bool)[:, None]
        chosen = tf.where(is_output, self._convert(outputs), own)
        return finished, tf.concat([chosen, *more], -1), state
