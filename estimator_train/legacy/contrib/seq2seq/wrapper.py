"""Cells that look back at a memory: the outputs of an encoder."""

from collections.abc import Callable
from typing import Any, NamedTuple

import tensorflow as tf

from estimator_train.legacy.contrib.seq2seq.attention import AttentionMechanism

_v1 = tf.compat.v1


class AttentionWrapperState(NamedTuple):
    """The state of the cell, what it attended to last, and how; tuples of several mechanisms."""

    cell_state: Any
    attention: Any
    time: Any
    alignments: Any
    alignment_history: Any
    attention_state: Any

    def clone(self, **fields: Any) -> "AttentionWrapperState":
        """The same with some fields replaced.

        Raises:
          ValueError: A tensor is of another shape than the one that it replaces.
        """
        for name, field in fields.items():
            old = tf.nest.flatten(getattr(self, name))
            for before, after in zip(old, tf.nest.flatten(field), strict=True):
                are_tensors = tf.is_tensor(before) and tf.is_tensor(after)
                if are_tensors and not before.shape.is_compatible_with(after.shape):
                    raise ValueError(f"{name}: expected {before.shape}, got {after.shape}.")
        return self._replace(**fields)


class AttentionWrapper(tf.compat.v1.nn.rnn_cell.RNNCell):
    """A cell that reads, beside its inputs, what it attended to in the step before.

    Args:
      cell: The cell.
      attention_mechanism: The attention, or a list of several.
      attention_layer_size: Size of what it attends to; None: the memory's depth.
      alignment_history: Whether the state keeps the shares of all steps, a TensorArray.
      cell_input_fn: From inputs and attention to the cell's inputs; by default both joined.
      output_attention: Whether its output is the attention rather than the cell's output.
      initial_cell_state: State of the cell in `zero_state`.
      name: Its scope.
      attention_layer: A layer in place of one of `attention_layer_size`.
      attention_fn: From mechanism, the cell's output, the mechanism's state and the layer to the
        attention, the shares and the next state.
      dtype: Of the layers.

    Raises:
      TypeError: The mechanism is none.
      ValueError: There is not one layer for each mechanism, or both a layer and a size.
    """

    def __init__(
        self,
        cell: Any,
        attention_mechanism: Any,
        attention_layer_size: Any = None,
        alignment_history: bool = False,
        cell_input_fn: Callable[..., Any] | None = None,
        output_attention: bool = True,
        initial_cell_state: Any = None,
        name: str | None = None,
        attention_layer: Any = None,
        attention_fn: Callable[..., Any] | None = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(name=name, dtype=dtype)
        self._is_several = isinstance(attention_mechanism, (list, tuple))
        self._mechanisms = _listed(attention_mechanism)
        if not all(isinstance(one, AttentionMechanism) for one in self._mechanisms):
            raise TypeError(f"attention_mechanism must be some, is {attention_mechanism}.")
        self._layers_of = _layers(attention_layer_size, attention_layer, len(self._mechanisms))
        self._cell, self._attend = cell, attention_fn or _attended
        self._keeps_history, self._gives_attention = alignment_history, output_attention
        self._joined = cell_input_fn or (
            lambda inputs, attention: tf.concat([inputs, attention], -1)
        )
        self._first_state = initial_cell_state
        self._size = sum(map(self._width, self._mechanisms, self._layers_of))

    def _width(self, mechanism: Any, layer: Any) -> int:
        depth = mechanism.values.shape[-1]
        if layer is None:
            return int(depth)
        shape = [None, self._cell.output_size + depth]
        return int(layer.compute_output_shape(tf.TensorShape(shape))[-1])

    @property
    def output_size(self) -> Any:
        """Size of the output."""
        return self._size if self._gives_attention else self._cell.output_size

    @property
    def state_size(self) -> AttentionWrapperState:
        """Sizes of the state's parts."""
        places = self._packed([one.alignments_size for one in self._mechanisms])
        states = self._packed([one.state_size for one in self._mechanisms])
        history = self._packed([() for _ in self._mechanisms])
        return AttentionWrapperState(
            self._cell.state_size, self._size, tf.TensorShape([]), places, history, states
        )

    def zero_state(self, batch_size: Any, dtype: Any) -> AttentionWrapperState:
        """The state of before the first step; the batch is the memory's."""
        first = self._first_state
        if first is None:
            first = self._cell.zero_state(batch_size, dtype)
        message = "The batch of the memory is of another size; see tile_batch for beam search."
        checks = [
            _v1.assert_equal(one.batch_size, batch_size, message=message)
            for one in self._mechanisms
        ]
        with tf.control_dependencies(checks):
            first = tf.nest.map_structure(tf.identity, first)
            shares = [one.initial_alignments(batch_size, dtype) for one in self._mechanisms]
            states = [one.initial_state(batch_size, dtype) for one in self._mechanisms]
            attention = tf.zeros([batch_size, self._size], dtype)
            time = tf.zeros([], tf.int32)
        history = [self._history(dtype) for _ in self._mechanisms]
        return AttentionWrapperState(
            first,
            attention,
            time,
            self._packed(shares),
            self._packed(history),
            self._packed(states),
        )

    def call(self, inputs: Any, state: AttentionWrapperState) -> tuple[Any, AttentionWrapperState]:
        """One step."""
        output, cell_state = self._cell(self._joined(inputs, state.attention), state.cell_state)
        attentions, shares, states, histories = [], [], [], []
        before = map(self._unpacked, (state.attention_state, state.alignment_history))
        for mechanism, layer, own_state, history in zip(
            self._mechanisms, self._layers_of, *before, strict=True
        ):
            attention, share, following = self._attend(mechanism, output, own_state, layer)
            attentions.append(attention)
            shares.append(share)
            states.append(following)
            histories.append(history.write(state.time, share) if self._keeps_history else history)
        attention = tf.concat(attentions, 1)
        following = AttentionWrapperState(
            cell_state,
            attention,
            state.time + 1,
            *map(self._packed, (shares, histories, states)),
        )
        return (attention if self._gives_attention else output), following

    def _history(self, dtype: Any) -> Any:
        if not self._keeps_history:
            return ()
        shape = tf.TensorShape([None, None])
        return tf.TensorArray(dtype, 0, dynamic_size=True, element_shape=shape)

    def _packed(self, parts: list[Any]) -> Any:
        return tuple(parts) if self._is_several else parts[0]

    def _unpacked(self, parts: Any) -> list[Any]:
        return list(parts) if self._is_several else [parts]


def _attended(mechanism: Any, output: Any, state: Any, layer: Any) -> tuple[Any, Any, Any]:
    """The values by their shares, through the layer with the cell's output where there is one."""
    shares, following = mechanism(output, state)
    context = tf.squeeze(tf.matmul(shares[:, None], mechanism.values), 1)
    attention = context if layer is None else layer(tf.concat([output, context], 1))
    return attention, shares, following


def _layers(sizes: Any, layers: Any, count: int) -> list[Any]:
    """The layer of each mechanism, or None."""
    if sizes is not None and layers is not None:
        raise ValueError("Give attention_layer_size or attention_layer, not both.")
    if sizes is not None:
        layers = [
            _v1.layers.Dense(size, use_bias=False, name="attention_layer")
            for size in _listed(sizes)
        ]
    layers = [None] * count if layers is None else _listed(layers)
    if len(layers) != count:
        raise ValueError(f"There are {len(layers)} layers for {count} mechanisms.")
    return layers


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]
