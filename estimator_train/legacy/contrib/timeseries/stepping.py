"""A loop over steps of a graph that carry a state and put something out."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

Step = Callable[[Any, Any], tuple[Any, list[Any]]]


def over_steps(step: Step, state: Any, structure: Any, count: Any) -> tuple[Any, list[Any]]:
    """Runs steps one after the other.

    Args:
      step: From the index of a step and the state before it to the state after it and a list of
        tensors, always of the same shapes.
      state: The state before the first step: tensors in tuples and lists.
      structure: Tuples and lists as steps expect them; only the order of their parts counts.
      count: How many steps there are, at least 1.

    Returns:
      The state at the end, and of each tensor those of all steps, stacked.
    """

    def flat_step(index: Any, flat: list[Any]) -> tuple[list[Any], list[Any]]:
        after, outputs = step(index, tf.nest.pack_sequence_as(structure, flat))
        parts = [tf.convert_to_tensor(part) for part in tf.nest.flatten(after)]
        for old, new in zip(flat, parts, strict=True):
            new.set_shape(old.shape)
        return parts, [tf.convert_to_tensor(output) for output in outputs]

    # The first step is not in the loop: it makes the variables, and shows what is put out.
    first = [tf.convert_to_tensor(part) for part in tf.nest.flatten(state)]
    flat, outputs = flat_step(tf.constant(0), first)
    arrays = [
        tf.TensorArray(output.dtype, count, element_shape=output.shape).write(0, output)
        for output in outputs
    ]

    def body(index: Any, flat: Any, arrays: Any) -> Any:
        flat, outputs = flat_step(index, flat)
        pairs = zip(arrays, outputs, strict=True)
        return index + 1, flat, [array.write(index, output) for array, output in pairs]

    _, flat, arrays = tf.while_loop(
        lambda index, *_: index < count, body, (tf.constant(1), flat, arrays)
    )
    return tf.nest.pack_sequence_as(structure, flat), [array.stack() for array in arrays]
