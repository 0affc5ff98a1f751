"""Cells with attention to a memory, for example the outputs of an encoder."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from tf_contrib._types import Cell, DType, Layer, Nest
from tf_contrib.seq2seq.attention import AttentionMechanism

_v1 = tf.compat.v1


class AttentionWrapperState(NamedTuple):
    """State of the cell, the last attention and its alignments; tuples for several mechanisms."""

    cell_state: Any
    attention: Any
    time: Any
    alignments: Any
    alignment_history: Any
    attention_state: Any

    def clone(self, **fields: Any) -> "AttentionWrapperState":
        """Returns a copy with some fields replaced.

        Raises:
          ValueError: A tensor has another shape than the one that it replaces.
        """
        for name, field in fields.items():
            old = tf.nest.flatten(getattr(self, name))
            for old_part, new_part in zip(old, tf.nest.flatten(field), strict=True):
                are_tensors = tf.is_tensor(old_part) and tf.is_tensor(new_part)
                if are_tensors and not old_part.shape.is_compatible_with(new_part.shape):
                    raise ValueError(f"{name}: expected {old_part.shape}, got {new_part.shape}.")
        return self._replace(**fields)


class AttentionWrapper(tf.compat.v1.nn.rnn_cell.RNNCell):
    """Cell whose inputs are joined with the attention of the previous step.

    Args:
      cell: Wrapped cell.
      attention_mechanism: Mechanism, or a list of mechanisms.
      attention_layer_size: Size of the attention; None: the depth of the memory.
      alignment_history: Whether the state keeps the alignments of all steps in a TensorArray.
      cell_input_fn: Function of inputs and attention that returns the inputs of the cell; by
        default it concatenates both.
      output_attention: Whether to return the attention instead of the output of the cell.
      initial_cell_state: State of the cell in `zero_state`.
      name: Variable scope of the wrapper.
      attention_layer: Layer to use instead of one of `attention_layer_size`.
      attention_fn: Function of the mechanism, the output of the cell, the state of the mechanism
        and the layer that returns the attention, the alignments and the next state.
      dtype: Type of the layers.

    Raises:
      TypeError: attention_mechanism is not an AttentionMechanism.
      ValueError: The number of layers is not that of mechanisms, or both a layer and a size are
        given.
    """

    def __init__(
        self,
        cell: Cell,
        attention_mechanism: AttentionMechanism | Sequence[AttentionMechanism],
        attention_layer_size: int | Sequence[int] | None = None,
        alignment_history: bool = False,
        cell_input_fn: Callable[..., Any] | None = None,
        output_attention: bool = True,
        initial_cell_state: Nest | None = None,
        name: str | None = None,
        attention_layer: Layer | Sequence[Layer] | None = None,
        attention_fn: Callable[..., Any] | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__(name=name, dtype=dtype)
        self._has_several_mechanisms = isinstance(attention_mechanism, (list, tuple))
        self._mechanisms = _to_list(attention_mechanism)
        if not all(isinstance(one, AttentionMechanism) for one in self._mechanisms):
            raise TypeError(
                f"attention_mechanism must be an AttentionMechanism, got {attention_mechanism}."
            )
        self._attention_layers = _create_layers(
            attention_layer_size, attention_layer, len(self._mechanisms)
        )
        self._cell, self._attention_fn = cell, attention_fn or _compute_attention
        self._has_history, self._outputs_attention = alignment_history, output_attention
        self._cell_input_fn = cell_input_fn or (
            lambda inputs, attention: tf.concat([inputs, attention], -1)
        )
        self._initial_cell_state = initial_cell_state
        self._attention_size = sum(
            map(self._get_attention_size, self._mechanisms, self._attention_layers)
        )

    def _get_attention_size(self, mechanism: AttentionMechanism, layer: Layer | None) -> int:
        depth = mechanism.values.shape[-1]
        if layer is None:
            return int(depth)
        shape = [None, self._cell.output_size + depth]
        return int(layer.compute_output_shape(tf.TensorShape(shape))[-1])

    @property
    def output_size(self) -> Nest:
        """Size of the outputs."""
        return self._attention_size if self._outputs_attention else self._cell.output_size

    @property
    def state_size(self) -> AttentionWrapperState:
        """Sizes of the parts of the state."""
        positions = self._pack([one.alignments_size for one in self._mechanisms])
        states = self._pack([one.state_size for one in self._mechanisms])
        history = self._pack([() for _ in self._mechanisms])
        return AttentionWrapperState(
            self._cell.state_size,
            self._attention_size,
            tf.TensorShape([]),
            positions,
            history,
            states,
        )

    def zero_state(self, batch_size: int | tf.Tensor, dtype: DType) -> AttentionWrapperState:
        """Returns the state before the first step; the memory must have the same batch size."""
        cell_state = self._initial_cell_state
        if cell_state is None:
            cell_state = self._cell.zero_state(batch_size, dtype)
        message = "The memory has another batch size; use tile_batch for beam search."
        checks = [
            _v1.assert_equal(one.batch_size, batch_size, message=message)
            for one in self._mechanisms
        ]
        with tf.control_dependencies(checks):
            cell_state = tf.nest.map_structure(tf.identity, cell_state)
            alignments = [one.initial_alignments(batch_size, dtype) for one in self._mechanisms]
            states = [one.initial_state(batch_size, dtype) for one in self._mechanisms]
            attention = tf.zeros([batch_size, self._attention_size], dtype)
            time = tf.zeros([], tf.int32)
        history = [self._create_history(dtype) for _ in self._mechanisms]
        return AttentionWrapperState(
            cell_state,
            attention,
            time,
            self._pack(alignments),
            self._pack(history),
            self._pack(states),
        )

    def call(self, inputs: Nest, state: AttentionWrapperState) -> tuple[Any, AttentionWrapperState]:
        """Computes one step."""
        output, cell_state = self._cell(
            self._cell_input_fn(inputs, state.attention), state.cell_state
        )
        attentions, alignments, states, histories = [], [], [], []
        previous = map(self._unpack, (state.attention_state, state.alignment_history))
        for mechanism, layer, mechanism_state, history in zip(
            self._mechanisms, self._attention_layers, *previous, strict=True
        ):
            attention, alignment, next_state = self._attention_fn(
                mechanism, output, mechanism_state, layer
            )
            attentions.append(attention)
            alignments.append(alignment)
            states.append(next_state)
            histories.append(history.write(state.time, alignment) if self._has_history else history)
        attention = tf.concat(attentions, 1)
        next_state = AttentionWrapperState(
            cell_state,
            attention,
            state.time + 1,
            *map(self._pack, (alignments, histories, states)),
        )
        return (attention if self._outputs_attention else output), next_state

    def _create_history(self, dtype: DType) -> Nest:
        if not self._has_history:
            return ()
        shape = tf.TensorShape([None, None])
        return tf.TensorArray(dtype, 0, dynamic_size=True, element_shape=shape)

    def _pack(self, parts: list[Any]) -> Nest:
        return tuple(parts) if self._has_several_mechanisms else parts[0]

    def _unpack(self, parts: Nest) -> list[Any]:
        return list(parts) if self._has_several_mechanisms else [parts]


def _compute_attention(
    mechanism: AttentionMechanism, output: tf.Tensor, state: Nest, layer: Layer | None
) -> tuple[Any, Any, Any]:
    """Returns the attention, the alignments and the next state of a mechanism."""
    alignments, next_state = mechanism(output, state)
    context = tf.squeeze(tf.matmul(alignments[:, None], mechanism.values), 1)
    attention = context if layer is None else layer(tf.concat([output, context], 1))
    return attention, alignments, next_state


def _create_layers(
    sizes: int | Sequence[int] | None, layers: Layer | Sequence[Layer] | None, count: int
) -> list[Layer | None]:
    """Returns the attention layer of each mechanism, or None."""
    if sizes is not None and layers is not None:
        raise ValueError("Give attention_layer_size or attention_layer, not both.")
    if sizes is not None:
        layers = [
            _v1.layers.Dense(size, use_bias=False, name="attention_layer")
            for size in _to_list(sizes)
        ]
    all_layers = [None] * count if layers is None else _to_list(layers)
    if len(all_layers) != count:
        raise ValueError(f"Expected {count} layers, one for each mechanism, got {len(all_layers)}.")
    return all_layers


def _to_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]
