"""Recurrent layers with the equations and weights of cuDNN, computed on any device."""

import math
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from tf_contrib._types import Initializer
from tf_contrib.cudnn_rnn import steps

_v1 = tf.compat.v1
_DIRECTIONS = {"unidirectional": 1, "bidirectional": 2}
_INPUT_MODES = "linear_input", "skip_input", "auto_select"
_States = tuple[tf.Tensor, ...]


class _CudnnRNN(tf.compat.v1.layers.Layer):
    """Base class of the layers.

    Args:
      num_layers: Number of layers, each of which reads the outputs of the one before.
      num_units: Number of units of each direction of a layer.
      input_mode: `skip_input` if the first layer has no weights for its inputs; `auto_select`
        chooses that if the inputs have the size of the units.
      direction: `unidirectional` or `bidirectional`.
      dropout: Share of the inputs that each layer except the first leaves out in training.
      seed: Seed of the dropout.
      dtype: Type of the inputs and weights.
      kernel_initializer: Initial values of the weights; uniform of Glorot by default.
      bias_initializer: Initial values of the biases; zeros by default.
      name: Variable scope.

    Raises:
      ValueError: The direction or the input mode is unknown.
    """

    _rnn_mode: str
    _gates: int
    _parts = 1
    _step: Callable[..., Any]

    def __init__(
        self,
        num_layers: int,
        num_units: int,
        input_mode: str = "linear_input",
        direction: str = "unidirectional",
        dropout: float = 0.0,
        seed: int | None = None,
        dtype: tf.DType = tf.float32,
        kernel_initializer: Initializer | None = None,
        bias_initializer: Initializer | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(dtype=dtype, name=name)
        if direction not in _DIRECTIONS:
            expected = " or ".join(_DIRECTIONS)
            raise ValueError(f"Invalid direction: {direction}, expecting {expected}")
        if input_mode not in _INPUT_MODES:
            expected = ", ".join(_INPUT_MODES)
            raise ValueError(f"Invalid input_mode: {input_mode}, expect one of ({expected})")
        self.num_layers, self.num_units = num_layers, num_units
        self.input_mode, self.direction = input_mode, direction
        self.num_dirs = _DIRECTIONS[direction]
        self._dropout, self._seed = dropout, seed
        self._kernel_initializer = kernel_initializer or _v1.glorot_uniform_initializer()
        self._bias_initializer = bias_initializer or _v1.zeros_initializer()
        self._input_size: int | None = None

    @property
    def rnn_mode(self) -> str:
        """The kind of network, as cuDNN names it."""
        return self._rnn_mode

    @property
    def input_size(self) -> int:
        """The size of the inputs."""
        if self._input_size is None:
            raise ValueError("'input_size' is unknown since layer has not been built.")
        return self._input_size

    @property
    def canonical_weight_shapes(self) -> list[tuple[int, int]]:
        """The shapes of the weights of every gate: in each direction of each layer."""
        if self._input_size is None:
            raise RuntimeError(
                f"{type(self).__name__}.canonical_weight_shapes invoked before input shape is known"
            )
        units = self.num_units
        sizes = [self._input_size] + [units * self.num_dirs] * (self.num_layers - 1)
        return [
            (units, columns)
            for size in sizes
            for _ in range(self.num_dirs)
            for columns in [size] * self._gates + [units] * self._gates
        ]

    @property
    def canonical_bias_shapes(self) -> list[list[int]]:
        """The shapes of the biases: of every gate one for the inputs, and one for the state."""
        return [[self.num_units]] * (2 * self._gates * self.num_dirs * self.num_layers)

    def state_shape(self, batch_size: int) -> tuple[list[int], ...]:
        """Returns the shape of each tensor of the state."""
        return ([self.num_layers * self.num_dirs, batch_size, self.num_units],) * self._parts

    def build(self, input_shape: Any) -> None:
        """Creates the variable that has all weights, and after them all biases.

        Raises:
          ValueError: The inputs do not have three axes, or their size is unknown.
        """
        shape = tf.TensorShape(input_shape)
        if shape.rank != 3:
            raise ValueError(f"Expecting input_shape with 3 dims, got {shape.rank}")
        size = shape.as_list()[-1]
        if size is None:
            raise ValueError(
                "The last dimension of the inputs to `CudnnRNN` should be defined. Found `None`."
            )
        self._input_size = size
        shapes = [*self.canonical_weight_shapes, *self.canonical_bias_shapes]
        number = sum(math.prod(one) for one in shapes)
        self.kernel = self.add_weight(
            "opaque_kernel", [number], initializer=self._initialize_kernel
        )
        self.built = True

    def call(
        self,
        inputs: tf.Tensor,
        initial_state: _States | None = None,
        sequence_lengths: tf.Tensor | None = None,
        time_major: bool = True,
        training: bool = True,
    ) -> tuple[tf.Tensor, _States]:
        """Returns the outputs, and a tuple of the last states of all layers and directions.

        Args:
          inputs: Shape (time, batch, size).
          initial_state: A tuple of tensors, as it is returned; zeros by default.
          sequence_lengths: Lengths of the sequences.
          time_major: Whether the first axis is the time; otherwise the second is.
          training: Whether to leave out inputs of layers.
        """
        outputs = inputs if time_major else tf.transpose(inputs, [1, 0, 2])
        if initial_state is None:
            shape = [self.num_layers * self.num_dirs, tf.shape(outputs)[1], self.num_units]
            initial_state = (tf.zeros(shape, outputs.dtype),) * self._parts
        states, weights = [], self._split_kernel()
        for layer in range(self.num_layers):
            if layer and self._dropout and training:
                outputs = tf.nn.dropout(outputs, rate=self._dropout, seed=self._seed)
            directions = []
            for backward in range(self.num_dirs):
                index = layer * self.num_dirs + backward
                cell = steps.CudnnCell(type(self)._step, weights[index], self._parts)
                start = tuple(part[index] for part in initial_state)
                result, state = _run(cell, outputs, start, sequence_lengths, bool(backward))
                directions.append(result)
                states.append(state)
            outputs = tf.concat(directions, 2)
        last = tuple(tf.stack(parts) for parts in zip(*states, strict=True))
        return outputs if time_major else tf.transpose(outputs, [1, 0, 2]), last

    def _initialize_kernel(
        self, shape: Any, dtype: Any = None, partition_info: Any = None
    ) -> tf.Tensor:
        kernels, biases = self._kernel_initializer, self._bias_initializer
        parts = [kernels(list(one), dtype=dtype) for one in self.canonical_weight_shapes]
        parts += [biases(one, dtype=dtype) for one in self.canonical_bias_shapes]
        return tf.concat([tf.reshape(part, [-1]) for part in parts], 0)

    def _split_kernel(self) -> list[steps.Weights]:
        """Returns the weights of every direction of every layer."""
        units, gates = self.num_units, self._gates
        columns = [shape[1] for shape in self.canonical_weight_shapes[::gates]]
        sizes = [gates * units * number for number in columns]
        parts = tf.split(self.kernel, [*sizes, *[gates * units] * len(columns)])
        kernels = [
            tf.reshape(part, [gates * units, number])
            for part, number in zip(parts[: len(columns)], columns, strict=True)
        ]
        biases = parts[len(columns) :]
        skips = self.input_mode == "skip_input" or (
            self.input_mode == "auto_select" and self.input_size == units
        )
        return [
            steps.Weights(
                None if skips and index < 2 * self.num_dirs else kernels[index],
                kernels[index + 1],
                *biases[index : index + 2],
            )
            for index in range(0, len(columns), 2)
        ]


def _run(
    cell: steps.CudnnCell, inputs: tf.Tensor, state: _States, lengths: Any, is_backward: bool
) -> tuple[tf.Tensor, _States]:
    """Returns outputs and the last state of one direction."""

    def reverse_if_backward(values: tf.Tensor) -> tf.Tensor:
        if not is_backward:
            return values
        if lengths is None:
            return tf.reverse(values, [0])
        return tf.reverse_sequence(values, lengths, seq_axis=0, batch_axis=1)

    outputs, state = _v1.nn.dynamic_rnn(
        cell, reverse_if_backward(inputs), lengths, initial_state=state, time_major=True
    )
    return reverse_if_backward(outputs), state


class CudnnLSTM(_CudnnRNN):
    """LSTM; its state is a pair, h and c."""

    _rnn_mode, _gates, _parts = "lstm", 4, 2
    _step = staticmethod(steps.lstm)


class CudnnGRU(_CudnnRNN):
    """GRU whose reset gate acts on the projected state."""

    _rnn_mode, _gates = "gru", 3
    _step = staticmethod(steps.gru)


class CudnnRNNRelu(_CudnnRNN):
    """RNN with ReLU."""

    _rnn_mode, _gates = "rnn_relu", 1
    _step = staticmethod(steps.relu)


class CudnnRNNTanh(_CudnnRNN):
    """RNN with tanh."""

    _rnn_mode, _gates = "rnn_tanh", 1
    _step = staticmethod(steps.tanh)
