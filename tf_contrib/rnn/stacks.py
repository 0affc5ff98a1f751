"""Stacks of bidirectional recurrent layers."""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from tf_contrib._types import DType, Nest, Scope, TensorLike

_v1 = tf.compat.v1
Layers = tuple[Any, tuple[Any, ...], tuple[Any, ...]]


def stack_bidirectional_dynamic_rnn(
    cells_fw: Sequence[Any],
    cells_bw: Sequence[Any],
    inputs: Nest,
    initial_states_fw: Sequence[Any] | None = None,
    initial_states_bw: Sequence[Any] | None = None,
    dtype: DType | None = None,
    sequence_length: TensorLike | None = None,
    parallel_iterations: int | None = None,
    time_major: bool = False,
    scope: Scope | None = None,
    swap_memory: bool = False,
) -> Layers:
    """Stacks bidirectional layers over a tensor; see `tf.nn.bidirectional_dynamic_rnn`.

    Returns:
      The outputs of the last layer, and the last forward and backward states of all layers.

    Raises:
      ValueError: Cells or states are not lists of one length.
    """

    def layer(cells: Sequence[Any], inputs: Nest, first: Sequence[Any]) -> tuple[Any, Any, Any]:
        outputs, last = _v1.nn.bidirectional_dynamic_rnn(
            *cells,
            inputs,
            sequence_length,
            *first,
            dtype=dtype,
            parallel_iterations=parallel_iterations,
            swap_memory=swap_memory,
            time_major=time_major,
        )
        return tf.concat(outputs, 2), *last

    return _stack(
        layer, (cells_fw, cells_bw), inputs, (initial_states_fw, initial_states_bw), scope
    )


def stack_bidirectional_rnn(
    cells_fw: Sequence[Any],
    cells_bw: Sequence[Any],
    inputs: Sequence[Any],
    initial_states_fw: Sequence[Any] | None = None,
    initial_states_bw: Sequence[Any] | None = None,
    dtype: DType | None = None,
    sequence_length: TensorLike | None = None,
    scope: Scope | None = None,
) -> Layers:
    """Stacks bidirectional layers over a list of steps; see `tf.nn.static_bidirectional_rnn`.

    Results and errors are those of `stack_bidirectional_dynamic_rnn`.
    """

    def layer(cells: Sequence[Any], inputs: Nest, first: Sequence[Any]) -> tuple[Any, Any, Any]:
        return _v1.nn.static_bidirectional_rnn(
            *cells, inputs, *first, dtype, sequence_length, _v1.get_variable_scope()
        )

    return _stack(
        layer, (cells_fw, cells_bw), inputs, (initial_states_fw, initial_states_bw), scope
    )


def _stack(
    layer: Callable[..., tuple[Any, Any, Any]],
    cells: tuple[Any, Any],
    inputs: Nest,
    initial_states: tuple[Any, Any],
    scope: Scope | None,
) -> Layers:
    count = len(cells[0]) if isinstance(cells[0], list) else 0
    if not count or not all(_is_list(value, count) for value in cells):
        raise ValueError("cells_fw and cells_bw must be lists with one cell for each layer.")
    if not all(value is None or _is_list(value, count) for value in initial_states):
        raise ValueError("Initial states must be lists with one state for each layer.")
    states = [value or [None] * count for value in initial_states]
    last_states = []
    with _v1.variable_scope(scope or "stack_bidirectional_rnn"):
        for number in range(count):
            with _v1.variable_scope(f"cell_{number}"):
                pair, first = ([values[number] for values in both] for both in (cells, states))
                inputs, *last = layer(pair, inputs, first)
            last_states.append(last)
    forward, backward = zip(*last_states, strict=True)
    return inputs, forward, backward


def _is_list(value: object, length: int) -> bool:
    return isinstance(value, list) and len(value) == length
