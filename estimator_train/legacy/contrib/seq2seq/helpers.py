"""What a decoder reads at each step: given tokens, or its own."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf


class Helper:
    """Samples tokens from outputs, and gives the next inputs.

    Attributes:
      batch_size: Sequences in a batch, a tensor.
      sample_ids_shape: Shape of one sample.
      sample_ids_dtype: Type of the samples.
    """

    batch_size: Any
    sample_ids_shape = tf.TensorShape([])
    sample_ids_dtype = tf.int32

    def initialize(self, name: str | None = None) -> tuple[Any, Any]:
        """Which sequences have ended at once, and the first inputs."""
        raise NotImplementedError

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """The tokens of outputs."""
        raise NotImplementedError

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None
    ) -> tuple[Any, Any, Any]:
        """Which sequences have ended, the next inputs, and the next state."""
        raise NotImplementedError


def embedding_function(embedding: Any) -> Callable[[Any], Any]:
    """From tokens to vectors, by a function or by a matrix of them."""
    if callable(embedding) and not tf.is_tensor(embedding):
        return embedding
    return lambda ids: tf.nn.embedding_lookup(embedding, ids)


class TrainingHelper(Helper):
    """Reads given inputs, whatever is sampled.

    Args:
      inputs: Shape (batch, time, ...).
      sequence_length: Lengths, shape (batch,).
      time_major: Whether inputs are (time, batch, ...).
      name: Unused.

    Raises:
      ValueError: sequence_length is not a vector.
    """

    def __init__(
        self, inputs: Any, sequence_length: Any, time_major: bool = False, name: str | None = None
    ) -> None:
        def by_time(tensor: Any) -> tf.Tensor:
            tensor = tf.convert_to_tensor(tensor)
            order = [1, 0, *range(2, tensor.shape.rank)]
            return tensor if time_major else tf.transpose(tensor, order)

        self._inputs = tf.nest.map_structure(by_time, inputs)
        self._lengths = tf.cast(sequence_length, tf.int32)
        if self._lengths.shape.rank != 1:
            raise ValueError(f"sequence_length must be a vector, is {self._lengths.shape}.")
        self.batch_size = tf.size(self._lengths)

    def initialize(self, name: str | None = None) -> tuple[Any, Any]:
        """The first inputs."""
        return self._at(0)

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """The likeliest tokens."""
        return tf.argmax(outputs, -1, output_type=tf.int32)

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None
    ) -> tuple[Any, Any, Any]:
        """The next of the given inputs."""
        return *self._at(time + 1), state

    def _at(self, time: Any) -> tuple[Any, Any]:
        """Which sequences have ended, and the inputs: zeros if all have."""
        finished = time >= self._lengths
        is_end = tf.reduce_all(finished)
        last = tf.maximum(tf.reduce_max(self._lengths) - 1, 0)

        def read(inputs: Any) -> Any:
            now = tf.gather(inputs, tf.minimum(time, last))
            return tf.where(is_end, tf.zeros_like(now), now)

        return finished, tf.nest.map_structure(read, self._inputs)


class GreedyEmbeddingHelper(Helper):
    """Reads the vectors of the likeliest tokens, until one is the end's.

    Args:
      embedding: The vectors, or a function of tokens that returns them.
      start_tokens: First tokens, shape (batch,).
      end_token: The number of the token that ends a sequence.

    Raises:
      ValueError: start_tokens is not a vector, or end_token not a number.
    """

    def __init__(self, embedding: Any, start_tokens: Any, end_token: Any) -> None:
        self._embed = embedding_function(embedding)
        self._start = tf.cast(start_tokens, tf.int32)
        self._end = tf.cast(end_token, tf.int32)
        if self._start.shape.rank != 1 or self._end.shape.rank != 0:
            raise ValueError("start_tokens must be a vector, end_token a number.")
        self.batch_size = tf.size(self._start)

    def initialize(self, name: str | None = None) -> tuple[Any, Any]:
        """The vectors of the first tokens."""
        return tf.zeros([self.batch_size], tf.bool), self._embed(self._start)

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """The likeliest tokens."""
        return tf.argmax(outputs, -1, output_type=tf.int32)

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None
    ) -> tuple[Any, Any, Any]:
        """The vectors of what was sampled."""
        return tf.equal(sample_ids, self._end), self._embed(sample_ids), state


class SampleEmbeddingHelper(GreedyEmbeddingHelper):
    """Reads the vectors of tokens that are drawn by their probabilities.

    The other arguments are those of `GreedyEmbeddingHelper`.

    Args:
      softmax_temperature: What logits are divided by.
      seed: Of the draw.
    """

    def __init__(
        self,
        embedding: Any,
        start_tokens: Any,
        end_token: Any,
        softmax_temperature: Any = None,
        seed: int | None = None,
    ) -> None:
        super().__init__(embedding, start_tokens, end_token)
        self._temperature, self._seed = softmax_temperature, seed

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """Tokens drawn."""
        logits = outputs if self._temperature is None else outputs / self._temperature
        drawn = tf.random.categorical(logits, 1, dtype=tf.int32, seed=self._seed)
        return tf.reshape(drawn, [-1])


class ScheduledEmbeddingTrainingHelper(TrainingHelper):
    """Reads given inputs, and now and then the vectors of tokens that are drawn.

    Tokens are -1 where the given inputs are read. The other arguments are those of
    `TrainingHelper`.

    Args:
      embedding: As for `GreedyEmbeddingHelper`.
      sampling_probability: How often tokens are drawn.
      seed: Of the tokens.
      scheduling_seed: Of where they are drawn.
    """

    def __init__(
        self,
        inputs: Any,
        sequence_length: Any,
        embedding: Any,
        sampling_probability: Any,
        time_major: bool = False,
        seed: int | None = None,
        scheduling_seed: int | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(inputs, sequence_length, time_major, name)
        self._embed = embedding_function(embedding)
        self._probability = sampling_probability
        self._seed, self._scheduling_seed = seed, scheduling_seed

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """Tokens drawn, or -1."""
        chance = tf.random.uniform([self.batch_size], seed=self._scheduling_seed)
        drawn = tf.random.categorical(outputs, 1, dtype=tf.int32, seed=self._seed)[:, 0]
        return tf.where(chance < self._probability, drawn, -tf.ones_like(drawn))

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None
    ) -> tuple[Any, Any, Any]:
        """The next of the given inputs, or the vectors of the tokens drawn."""
        finished, given, state = super().next_inputs(time, outputs, state, sample_ids)
        vectors = self._embed(tf.maximum(sample_ids, 0))
        return finished, tf.where(sample_ids[:, None] >= 0, vectors, given), state
