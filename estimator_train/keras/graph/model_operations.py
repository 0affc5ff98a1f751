"""Which operations of a graph change a model's variables, and which do not depend on a batch."""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf


def variables_of(model: Any) -> list[tf.Variable]:
    """The variables among a model's weights, which the vocabulary of a lookup layer is not."""
    return [weight for weight in model.weights if isinstance(weight, tf.Variable)]


def on_placeholders(operations: Sequence[tf.Operation]) -> set[tf.Operation]:
    """The operations of a call that depend on a placeholder made in that call.

    A model within a model is first made on placeholders, and its parts for them stay in the graph.
    """
    found: set[tf.Operation] = set()
    for operation in operations:
        sources = (tensor.op for tensor in operation.inputs)
        if operation.type == "Placeholder" or not found.isdisjoint(sources):
            found.add(operation)
    return found


def assignments(model: Any, operations: Sequence[tf.Operation]) -> list[tf.Operation]:
    """The operations that change a model's variables, other than to initialize them."""
    strategy = tf.distribute.get_strategy()
    handles = {
        part.handle.op.name
        for variable in variables_of(model)
        for part in strategy.experimental_local_results(variable)
    }
    initialization = "Assign"  # the last part of its name
    return [
        operation
        for operation in operations
        if "Assign" in operation.type
        and operation.name.rpartition("/")[2] != initialization
        and operation.inputs[0].op.name in handles
    ]
