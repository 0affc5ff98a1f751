"""Operations that change a model's variables, and operations that do not depend on a batch."""

from collections.abc import Sequence

import tensorflow as tf
import tf_keras


def list_variables(model: tf_keras.Model) -> list[tf.Variable]:
    """Returns the weights of a model that are variables, without vocabularies of lookup layers."""
    return [weight for weight in model.weights if isinstance(weight, tf.Variable)]


def find_operations_on_placeholders(operations: Sequence[tf.Operation]) -> set[tf.Operation]:
    """Returns the operations of a call that depend on a placeholder of that call.

    A model inside a model is first called on placeholders, and the operations stay in the graph.
    """
    found: set[tf.Operation] = set()
    for operation in operations:
        sources = (tensor.op for tensor in operation.inputs)
        if operation.type == "Placeholder" or not found.isdisjoint(sources):
            found.add(operation)
    return found


def list_assignments(
    model: tf_keras.Model, operations: Sequence[tf.Operation]
) -> list[tf.Operation]:
    """Returns the operations that assign a model's variables, without initializers."""
    strategy = tf.distribute.get_strategy()
    handles = {
        part.handle.op.name
        for variable in list_variables(model)
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
