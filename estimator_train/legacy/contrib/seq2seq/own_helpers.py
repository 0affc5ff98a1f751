"""Helpers that are made of functions."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_train.legacy.contrib.seq2seq.helpers import Helper


class CustomHelper(Helper):
    """A helper of three functions with the arguments and results of its methods.

    Args:
      initialize_fn: For `initialize`.
      sample_fn: For `sample`.
      next_inputs_fn: For `next_inputs`.
      sample_ids_shape: Shape of one sample; of a number by default.
      sample_ids_dtype: Type of the samples; int32 by default.
    """

    def __init__(
        self,
        initialize_fn: Callable[[], tuple[Any, Any]],
        sample_fn: Callable[..., Any],
        next_inputs_fn: Callable[..., tuple[Any, Any, Any]],
        sample_ids_shape: Any = None,
        sample_ids_dtype: Any = None,
    ) -> None:
        self._begin, self._sample, self._next = initialize_fn, sample_fn, next_inputs_fn
        self.sample_ids_shape = tf.TensorShape(sample_ids_shape or [])
        self.sample_ids_dtype = sample_ids_dtype or tf.int32

    def initialize(self, name: str | None = None) -> tuple[Any, Any]:
        """Calls initialize_fn."""
        finished, inputs = self._begin()
        self.batch_size = tf.size(finished)
        return finished, inputs

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """Calls sample_fn."""
        return self._sample(time=time, outputs=outputs, state=state)

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None
    ) -> tuple[Any, Any, Any]:
        """Calls next_inputs_fn."""
        return self._next(time=time, outputs=outputs, state=state, sample_ids=sample_ids)


class InferenceHelper(Helper):
    """Reads what is sampled from outputs by a function.

    Args:
      sample_fn: From outputs to samples.
      sample_shape: Shape of one sample.
      sample_dtype: Type of the samples.
      start_inputs: The first inputs.
      end_fn: From samples to which sequences have ended.
      next_inputs_fn: From samples to inputs; by default they are one.
    """

    def __init__(
        self,
        sample_fn: Callable[[Any], Any],
        sample_shape: Any,
        sample_dtype: Any,
        start_inputs: Any,
        end_fn: Callable[[Any], Any],
        next_inputs_fn: Callable[[Any], Any] | None = None,
    ) -> None:
        self._sample, self._end, self._next = sample_fn, end_fn, next_inputs_fn
        self.sample_ids_shape, self.sample_ids_dtype = tf.TensorShape(sample_shape), sample_dtype
        self._start = tf.convert_to_tensor(start_inputs)
        self.batch_size = tf.shape(self._start)[0]

    def initialize(self, name: str | None = None) -> tuple[Any, Any]:
        """The first inputs."""
        return tf.zeros([self.batch_size], tf.bool), self._start

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """Calls sample_fn."""
        return self._sample(outputs)

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None
    ) -> tuple[Any, Any, Any]:
        """What was sampled."""
        inputs = sample_ids if self._next is None else self._next(sample_ids)
        return self._end(sample_ids), inputs, state
