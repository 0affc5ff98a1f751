"""Recurrent layers of tf-keras whose loops have no lists of tensors, for other runtimes.

tf-keras collects the outputs of a recurrent layer in a list of tensors. tf2onnx and LiteRT do not
convert such lists, and OpenVINO does not run them. Layers call `tf_keras.src.backend.rnn`; no
public setting replaces it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import tensorflow as tf
from tf_keras.src import backend

_nest = tf.nest


@contextlib.contextmanager
def without_tensor_lists() -> Iterator[None]:
    """Lets recurrent layers that are called in the context run in loops of plain tensors."""
    original = backend.rnn

    def run_layer(
        step_function: Callable[..., Any],
        inputs: Any,
        initial_states: Sequence[Any],
        **options: Any,
    ) -> tuple[Any, Any, Any]:
        if _is_plain(inputs, options):
            return _run_steps(step_function, inputs, initial_states, **options)
        found: tuple[Any, Any, Any] = original(step_function, inputs, initial_states, **options)
        return found

    backend.rnn = run_layer
    try:
        yield
    finally:
        backend.rnn = original


def _is_plain(inputs: Any, options: dict[str, Any]) -> bool:
    return (
        tf.is_tensor(inputs)
        and not options.get("unroll")
        and not options.get("time_major")
        and not tf.is_tensor(options.get("input_length"))
        and (options.get("mask") is None or tf.is_tensor(options["mask"]))
    )


def _run_steps(
    step_function: Callable[..., Any],
    inputs: tf.Tensor,
    initial_states: Sequence[Any],
    *,
    go_backwards: bool = False,
    mask: tf.Tensor | None = None,
    constants: Sequence[Any] | None = None,
    zero_output_for_mask: bool = False,
    return_all_outputs: bool = True,
    **_: Any,
) -> tuple[Any, Any, Any]:
    """Returns the last output, all outputs [batch, time, ...] and the last states.

    A step that the mask excludes keeps the states, and repeats the output or gives zeros.
    """
    steps = tf.shape(inputs)[1]
    constants = tuple(constants or ())
    first, _ = step_function(inputs[:, 0], (*initial_states, *constants))
    places = tf.reshape(tf.range(steps), [1, -1, *[1] * (first.shape.rank - 1)])
    empty = tf.zeros_like(first)
    collected = tf.zeros_like(tf.expand_dims(first, 1))
    if return_all_outputs:
        collected *= tf.cast(tf.ones_like(places), first.dtype)

    def run_step(
        step: tf.Tensor, last: tf.Tensor, collected: tf.Tensor, states: list[tf.Tensor]
    ) -> tuple[Any, ...]:
        place = steps - 1 - step if go_backwards else step
        given = _nest.pack_sequence_as(initial_states, states)
        output, new = step_function(tf.gather(inputs, place, axis=1), (*given, *constants))
        new = _nest.flatten(new)
        if mask is not None:
            runs = tf.gather(tf.cast(mask, tf.float32), place, axis=1) > 0.5
            output = _choose(runs, output, empty if zero_output_for_mask else last)
            new = [_choose(runs, a, b) for a, b in zip(new, states, strict=True)]
        if return_all_outputs:
            collected = tf.where(tf.equal(places, step), tf.expand_dims(output, 1), collected)
        return step + 1, output, collected, new

    states = _nest.flatten(initial_states)
    _, last, collected, states = tf.while_loop(
        lambda step, *_: step < steps, run_step, (tf.constant(0), empty, collected, states)
    )
    collected = collected if return_all_outputs else tf.expand_dims(last, 1)
    return last, collected, _nest.pack_sequence_as(initial_states, states)


def _choose(runs: tf.Tensor, new: tf.Tensor, old: tf.Tensor) -> tf.Tensor:
    """Returns the new rows where a step runs, and the old ones elsewhere."""
    return tf.where(tf.reshape(runs, [-1, *[1] * (new.shape.rank - 1)]), new, old)
