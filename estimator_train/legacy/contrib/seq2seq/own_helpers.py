"""Helpers that call functions of the program."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_train.legacy.contrib._types import DType, Nest, Shape, TensorLike
from estimator_train.legacy.contrib.seq2seq.helpers import Helper


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
        self.sample_ids_shape = tf.TensorShape(sample_ids_shape or [])
        self.sample_ids_dtype = sample_ids_dtype or tf.int32

    def initialize(self, name: str | None = None) -> tuple[Any, Any]:
        """Calls initialize_fn."""
        finished, inputs = self._initialize()
        self.batch_size = tf.size(finished)
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
        self.sample_ids_shape, self.sample_ids_dtype = tf.TensorShape(sample_shape), sample_dtype
        self._start_inputs = tf.convert_to_tensor(start_inputs)
        self.batch_size = tf.shape(self._start_inputs)[0]

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
