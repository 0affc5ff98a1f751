"""Loop over steps that carry a state and return outputs."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from tf_contrib._types import Nest

Step = Callable[[Any, Any], tuple[Any, list[Any]]]


def run_steps(
    step: Step, state: Nest, structure: Nest, count: int | tf.Tensor
) -> tuple[Any, list[Any]]:
    """Runs steps one after another.

    Args:
      step: Function of a step's index and the state before it that returns the state after it and a
        list of tensors of fixed shapes.
      state: State before the first step, a nest of tensors.
      structure: Nest whose structure steps expect as state.
      count: Number of steps, at least 1.

    Returns:
      The final state, and the outputs of all steps, stacked.
    """

    def step_flat(index: tf.Tensor, flat: list[Any]) -> tuple[list[Any], list[Any]]:
        next_state, outputs = step(index, tf.nest.pack_sequence_as(structure, flat))
        parts = [tf.convert_to_tensor(part) for part in tf.nest.flatten(next_state)]
        for old, new in zip(flat, parts, strict=True):
            new.set_shape(old.shape)
        return parts, [tf.convert_to_tensor(output) for output in outputs]

    # The first step runs outside the loop: it creates variables and shows the output types.
    first = [tf.convert_to_tensor(part) for part in tf.nest.flatten(state)]
    flat, outputs = step_flat(tf.constant(0), first)
    arrays = [
        tf.TensorArray(output.dtype, count, element_shape=output.shape).write(0, output)
        for output in outputs
    ]

    def body(index: tf.Tensor, flat: list[tf.Tensor], arrays: list[tf.TensorArray]) -> Any:
        flat, outputs = step_flat(index, flat)
        pairs = zip(arrays, outputs, strict=True)
        return index + 1, flat, [array.write(index, output) for array, output in pairs]

    _, flat, arrays = tf.while_loop(
        lambda index, *_: index < count, body, (tf.constant(1), flat, arrays)
    )
    return tf.nest.pack_sequence_as(structure, flat), [array.stack() for array in arrays]
