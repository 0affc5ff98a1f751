"""Cells that embed or project the inputs or outputs of another cell."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from tf_contrib._types import Cell, Initializer, Nest

_v1 = tf.compat.v1


def project(x: tf.Tensor, size: int, bias: Initializer | None = None) -> tf.Tensor:
    """Applies variables `kernel` and `bias` of the current scope.

    Args:
      x: Numbers of shape [batch, any].
      size: Size of the result.
      bias: Initial values of the bias; zeros by default.
    """
    kernel = _v1.get_variable("kernel", [x.shape[-1], size], x.dtype)
    initializer = bias or _v1.zeros_initializer()
    return x @ kernel + _v1.get_variable("bias", [size], x.dtype, initializer)


class CellWrapper(tf.compat.v1.nn.rnn_cell.RNNCell):
    """Base class of a cell around another cell, whose state it has.

    Args:
      cell: The inner cell.
      reuse: Whether to reuse existing variables.
    """

    def __init__(self, cell: Cell, reuse: bool | None = None) -> None:
        super().__init__(_reuse=reuse)
        self._cell = cell

    @property
    def state_size(self) -> Nest:
        """The sizes of the state."""
        return self._cell.state_size

    @property
    def output_size(self) -> Nest:
        """The size of the outputs."""
        return self._cell.output_size

    def zero_state(self, batch_size: Any, dtype: Any) -> Nest:
        """Returns the state before the first step."""
        return self._cell.zero_state(batch_size, dtype)


class OutputProjectionWrapper(CellWrapper):
    """Cell whose outputs are a linear function of another cell's.

    Args:
      cell: The inner cell.
      output_size: Size of the outputs.
      activation: Function of the outputs.
      reuse: Whether to reuse existing variables.
    """

    def __init__(
        self,
        cell: Cell,
        output_size: int,
        activation: Callable[[tf.Tensor], tf.Tensor] | None = None,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(cell, reuse)
        self._output_size, self._activation = output_size, activation

    @property
    def output_size(self) -> int:
        """The size of the outputs."""
        return self._output_size

    def call(self, inputs: tf.Tensor, state: Nest) -> tuple[tf.Tensor, Nest]:
        """Returns the projected outputs and the state after one step."""
        outputs, state = self._cell(inputs, state)
        projected = project(outputs, self._output_size)
        return self._activation(projected) if self._activation else projected, state


class InputProjectionWrapper(CellWrapper):
    """Cell whose inner cell gets a linear function of the inputs.

    Args:
      cell: The inner cell.
      num_proj: Size of the inner cell's inputs.
      activation: Function of these inputs.
      input_size: Not used.
      reuse: Whether to reuse existing variables.
    """

    def __init__(
        self,
        cell: Cell,
        num_proj: int,
        activation: Callable[[tf.Tensor], tf.Tensor] | None = None,
        input_size: Any = None,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(cell, reuse)
        self._size, self._activation = num_proj, activation

    def call(self, inputs: tf.Tensor, state: Nest) -> tuple[tf.Tensor, Nest]:
        """Returns the outputs and the state after one step."""
        projected = project(inputs, self._size)
        return self._cell(self._activation(projected) if self._activation else projected, state)


class EmbeddingWrapper(CellWrapper):
    """Cell whose inputs are symbols, which it embeds.

    Args:
      cell: The inner cell.
      embedding_classes: Number of symbols.
      embedding_size: Size of an embedding.
      initializer: Initial values of the embeddings; uniform with variance 1 by default.
      reuse: Whether to reuse existing variables.
    """

    def __init__(
        self,
        cell: Cell,
        embedding_classes: int,
        embedding_size: int,
        initializer: Any = None,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(cell, reuse)
        self._shape, self._initializer = [embedding_classes, embedding_size], initializer

    def call(self, inputs: tf.Tensor, state: Nest) -> tuple[tf.Tensor, Nest]:
        """Returns the outputs and the state after one step."""
        initializer = self._initializer or _v1.get_variable_scope().initializer
        # Uniform numbers from -sqrt(3) to sqrt(3) have the variance 1.
        initializer = initializer or _v1.random_uniform_initializer(-(3**0.5), 3**0.5)
        dtype = tf.nest.flatten(state)[0].dtype
        embedding = _v1.get_variable("embedding", self._shape, dtype, initializer)
        embedded = tf.nn.embedding_lookup(embedding, tf.reshape(inputs, [-1]))
        return self._cell(embedded, state)
