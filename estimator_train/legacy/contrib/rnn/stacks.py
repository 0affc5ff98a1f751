"""Layers of recurrent cells in both directions, each on the outputs of both below."""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

_v1 = tf.compat.v1
Layers = tuple[Any, tuple[Any, ...], tuple[Any, ...]]


def stack_bidirectional_dynamic_rnn(
    cells_fw: Sequence[Any],
    cells_bw: Sequence[Any],
    inputs: Any,
    initial_states_fw: Sequence[Any] | None = None,
    initial_states_bw: Sequence[Any] | None = None,
    dtype: Any = None,
    sequence_length: Any = None,
    parallel_iterations: int | None = None,
    time_major: bool = False,
    scope: Any = None,
    swap_memory: bool = False,
) -> Layers:
    """Layers over a tensor; see `tf.nn.bidirectional_dynamic_rnn`.

    Returns:
      The outputs of the last layer, and the last states of all layers, forward and backward.

    Raises:
      ValueError: Cells and states are not lists of one length.
    """

    def layer(cells: Sequence[Any], inputs: Any, first: Sequence[Any]) -> tuple[Any, Any, Any]:
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

    return _stacked(
        layer, (cells_fw, cells_bw), inputs, (initial_states_fw, initial_states_bw), scope
    )


def stack_bidirectional_rnn(
    cells_fw: Sequence[Any],
    cells_bw: Sequence[Any],
    inputs: Sequence[Any],
    initial_states_fw: Sequence[Any] | None = None,
    initial_states_bw: Sequence[Any] | None = None,
    dtype: Any = None,
    sequence_length: Any = None,
    scope: Any = None,
) -> Layers:
    """Layers over a list of steps; see `tf.nn.static_bidirectional_rnn`.

    Results and errors are those of `stack_bidirectional_dynamic_rnn`.
    """

    def layer(cells: Sequence[Any], inputs: Any, first: Sequence[Any]) -> tuple[Any, Any, Any]:
        return _v1.nn.static_bidirectional_rnn(
            *cells, inputs, *first, dtype, sequence_length, _v1.get_variable_scope()
        )

    return _stacked(
        layer, (cells_fw, cells_bw), inputs, (initial_states_fw, initial_states_bw), scope
    )


def _stacked(
    layer: Callable[..., tuple[Any, Any, Any]],
    cells: tuple[Any, Any],
    inputs: Any,
    firsts: tuple[Any, Any],
    scope: Any,
) -> Layers:
    if not all(isinstance(some, list) and some for some in cells) or len({*map(len, cells)}) > 1:
        raise ValueError("cells_fw and cells_bw must be lists of cells, one of each a layer.")
    count = len(cells[0])
    if not all(some is None or isinstance(some, list) and len(some) == count for some in firsts):
        raise ValueError("Initial states must be lists, one state a layer.")
    states = [some or [None] * count for some in firsts]
    lasts = []
    with _v1.variable_scope(scope or "stack_bidirectional_rnn"):
        for number in range(count):
            with _v1.variable_scope(f"cell_{number}"):
                pair, first = ([both[number] for both in two] for two in (cells, states))
                inputs, *last = layer(pair, inputs, first)
            lasts.append(last)
    forward, backward = zip(*lasts, strict=True)
    return inputs, forward, backward
