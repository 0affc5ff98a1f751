"""Helpers, which choose the inputs of a decoder: given tokens or sampled tokens."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from tf_contrib._types import DType, Nest, Shape, TensorLike


class Helper:
    """Base class of helpers, which sample tokens from outputs and choose the next inputs."""

    _batch_size: tf.Tensor
    _sample_shape: Shape = tf.TensorShape([])
    _sample_dtype: DType = tf.int32

    @property
    def batch_size(self) -> tf.Tensor:
        """The number of sequences in a batch."""
        return self._batch_size

    @property
    def sample_ids_shape(self) -> Shape:
        """The shape of one sample."""
        return self._sample_shape

    @property
    def sample_ids_dtype(self) -> DType:
        """The type of the samples."""
        return self._sample_dtype

    def initialize(self, name: str | None = None) -> tuple[Any, Any]:
        """Returns the end flags and the first inputs."""
        raise NotImplementedError

    def sample(
        self, time: tf.Tensor, outputs: Nest, state: Nest, name: str | None = None
    ) -> tf.Tensor:
        """Samples tokens from outputs."""
        raise NotImplementedError

    def next_inputs(
        self, time: tf.Tensor, outputs: Nest, state: Nest, sample_ids: Nest, name: str | None = None
    ) -> tuple[Any, Any, Any]:
        """Returns the end flags, the next inputs and the next state."""
        raise NotImplementedError


def embedding_function(
    embedding: TensorLike | Callable[[tf.Tensor], tf.Tensor],
) -> Callable[[Any], Any]:
    """Returns a function that embeds tokens, given such a function or a matrix of embeddings."""
    if callable(embedding) and not tf.is_tensor(embedding):
        return embedding
    return lambda ids: tf.nn.embedding_lookup(embedding, ids)


class TrainingHelper(Helper):
    """Helper that reads given inputs and ignores the samples.

    Args:
      inputs: Shape (batch, time, ...).
      sequence_length: Lengths, shape (batch,).
      time_major: Whether inputs are (time, batch, ...).
      name: Unused.

    Raises:
      ValueError: sequence_length is not a vector.
    """

    def __init__(
        self,
        inputs: Nest,
        sequence_length: TensorLike,
        time_major: bool = False,
        name: str | None = None,
    ) -> None:
        def put_time_first(tensor: TensorLike) -> tf.Tensor:
            tensor = tf.convert_to_tensor(tensor)
            order = [1, 0, *range(2, tensor.shape.rank)]
            return tensor if time_major else tf.transpose(tensor, order)

        self._inputs = inputs
        self._inputs_by_time = tf.nest.map_structure(put_time_first, inputs)
        self._sequence_length = tf.cast(sequence_length, tf.int32)
        if self._sequence_length.shape.rank != 1:
            shape = self._sequence_length.shape
            raise ValueError(f"sequence_length must be a vector, got shape {shape}.")
        self._batch_size = tf.size(self._sequence_length)

    @property
    def inputs(self) -> Nest:
        """The given inputs."""
        return self._inputs

    @property
    def sequence_length(self) -> tf.Tensor:
        """The lengths of the sequences."""
        return self._sequence_length

    def initialize(self, name: str | None = None) -> tuple[Any, Any]:
        """Returns the end flags and the first inputs."""
        return self._read(0)

    def sample(
        self, time: tf.Tensor, outputs: Nest, state: Nest, name: str | None = None
    ) -> tf.Tensor:
        """Returns the most probable tokens."""
        return tf.argmax(outputs, -1, output_type=tf.int32)

    def next_inputs(
        self, time: tf.Tensor, outputs: Nest, state: Nest, sample_ids: Nest, name: str | None = None
    ) -> tuple[Any, Any, Any]:
        """Returns the end flags, the next given inputs and the state."""
        return *self._read(time + 1), state

    def _read(self, time: tf.Tensor) -> tuple[Any, Any]:
        """Returns the end flags and the inputs at a time, zeros if all sequences have ended."""
        finished = time >= self._sequence_length
        is_end = tf.reduce_all(finished)
        last_time = tf.maximum(tf.reduce_max(self._sequence_length) - 1, 0)

        def read(inputs: Nest) -> tf.Tensor:
            current = tf.gather(inputs, tf.minimum(time, last_time))
            return tf.where(is_end, tf.zeros_like(current), current)

        return finished, tf.nest.map_structure(read, self._inputs_by_time)


class GreedyEmbeddingHelper(Helper):
    """Helper that embeds the most probable token, until it is the end token.

    Args:
      embedding: Matrix of token embeddings, or a function of tokens.
      start_tokens: First tokens, shape (batch,).
      end_token: Token that ends a sequence.

    Raises:
      ValueError: start_tokens is not a vector, or end_token is not a scalar.
    """

    def __init__(
        self,
        embedding: TensorLike | Callable[[tf.Tensor], tf.Tensor],
        start_tokens: TensorLike,
        end_token: TensorLike,
    ) -> None:
        self._embedding_fn = embedding_function(embedding)
        self._start_tokens = tf.cast(start_tokens, tf.int32)
        self._end_token = tf.cast(end_token, tf.int32)
        if self._start_tokens.shape.rank != 1 or self._end_token.shape.rank != 0:
            raise ValueError("start_tokens must be a vector and end_token a scalar.")
        self._batch_size = tf.size(self._start_tokens)
        # Here, because variables of the embedding belong to the scope of the caller.
        self._start_inputs = self._embedding_fn(self._start_tokens)

    def initialize(self, name: str | None = None) -> tuple[Any, Any]:
        """Returns the end flags and the embeddings of the first tokens."""
        return tf.zeros([self.batch_size], tf.bool), self._start_inputs

    def sample(
        self, time: tf.Tensor, outputs: Nest, state: Nest, name: str | None = None
    ) -> tf.Tensor:
        """Returns the most probable tokens."""
        return tf.argmax(outputs, -1, output_type=tf.int32)

    def next_inputs(
        self, time: tf.Tensor, outputs: Nest, state: Nest, sample_ids: Nest, name: str | None = None
    ) -> tuple[Any, Any, Any]:
        """Returns the end flags, the embeddings of the sampled tokens and the state."""
        return tf.equal(sample_ids, self._end_token), self._embedding_fn(sample_ids), state


class SampleEmbeddingHelper(GreedyEmbeddingHelper):
    """Helper that embeds tokens sampled by their probabilities.

    The arguments that are not listed are those of `GreedyEmbeddingHelper`.

    Args:
      softmax_temperature: Divisor of the logits.
      seed: Random seed.
    """

    def __init__(
        self,
        embedding: TensorLike | Callable[[tf.Tensor], tf.Tensor],
        start_tokens: TensorLike,
        end_token: TensorLike,
        softmax_temperature: TensorLike | None = None,
        seed: int | None = None,
    ) -> None:
        super().__init__(embedding, start_tokens, end_token)
        self._temperature, self._seed = softmax_temperature, seed

    def sample(
        self, time: tf.Tensor, outputs: Nest, state: Nest, name: str | None = None
    ) -> tf.Tensor:
        """Samples tokens by their probabilities."""
        logits = outputs if self._temperature is None else outputs / self._temperature
        samples = tf.random.categorical(logits, 1, dtype=tf.int32, seed=self._seed)
        return tf.reshape(samples, [-1])


class ScheduledEmbeddingTrainingHelper(TrainingHelper):
    """Helper that reads given inputs, and sampled tokens with some probability.

    Tokens are -1 where the given inputs are read. The arguments that are not listed are those of
    `TrainingHelper`.

    Args:
      embedding: Matrix of token embeddings, or a function of tokens.
      sampling_probability: Probability of reading a sampled token.
      seed: Random seed of the tokens.
      scheduling_seed: Random seed of the choice between given inputs and tokens.
    """

    def __init__(
        self,
        inputs: Nest,
        sequence_length: TensorLike,
        embedding: TensorLike | Callable[[tf.Tensor], tf.Tensor],
        sampling_probability: TensorLike,
        time_major: bool = False,
        seed: int | None = None,
        scheduling_seed: int | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(inputs, sequence_length, time_major, name)
        self._embedding_fn = embedding_function(embedding)
        self._probability = sampling_probability
        self._seed, self._scheduling_seed = seed, scheduling_seed

    def sample(
        self, time: tf.Tensor, outputs: Nest, state: Nest, name: str | None = None
    ) -> tf.Tensor:
        """Samples tokens, or returns -1 where given inputs are read."""
        chance = tf.random.uniform([self.batch_size], seed=self._scheduling_seed)
        samples = tf.random.categorical(outputs, 1, dtype=tf.int32, seed=self._seed)[:, 0]
        return tf.where(chance < self._probability, samples, -tf.ones_like(samples))

    def next_inputs(
        self, time: tf.Tensor, outputs: Nest, state: Nest, sample_ids: Nest, name: str | None = None
    ) -> tuple[Any, Any, Any]:
        """Returns the end flags, given inputs or embeddings of tokens, and the state."""
        finished, given_inputs, state = super().next_inputs(time, outputs, state, sample_ids)
        vectors = self._embedding_fn(tf.maximum(sample_ids, 0))
        return finished, tf.where(sample_ids[:, None] >= 0, vectors, given_inputs), state
