"""Initial values of a graph's variables, from the weights of the eager model."""

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf


class InitialValues:
    """Tensors that initialize the variables of a graph."""

    def __init__(self) -> None:
        self._tensors: dict[str, tf.Tensor | None] = {}

    def record_variables(self) -> contextlib.AbstractContextManager[Any]:
        """Records the variables that are made inside this context."""
        return tf.variable_creator_scope(self._create)

    def make_feeds(
        self, variables: Sequence[tf.Variable], values: Sequence[np.ndarray]
    ) -> dict[tf.Tensor, np.ndarray]:
        """Returns a feed_dict that initializes variables with given values.

        Fed values take no space in the graph, and every tensor that depends on an initial value,
        such as the variable's copies on other replicas, depends on the fed value.

        Args:
          variables: Variables that were made inside the context.
          values: Values of the same shapes, in the same order.
        """
        tensors = [self._tensors[variable.name] for variable in variables]
        pairs = zip(tensors, values, strict=True)
        return {tensor: value for tensor, value in pairs if tensor is not None}

    def _create(self, next_creator: Callable[..., Any], **arguments: Any) -> Any:
        given = arguments["initial_value"]
        made: list[tf.Tensor] = []

        def note_value(*args: Any, **kwargs: Any) -> tf.Tensor:
            made.append(tf.convert_to_tensor(given(*args, **kwargs)))
            return made[-1]

        if callable(given):
            arguments["initial_value"] = note_value
        variable = next_creator(**arguments)
        if not callable(given):
            made.append(variable.initial_value)
        # A mirrored variable computes the first replica's value, and the others copy it.
        self._tensors[variable.name] = made[0] if made else None
        return variable
