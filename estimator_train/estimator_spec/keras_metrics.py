"""Keras metrics in eval_metric_ops: objects of tf_keras, or of Keras 3."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

import tensorflow as tf

from estimator_train.engine.tf_internals import graph_edits

if TYPE_CHECKING:
    import tf_keras

# A metric of tf_keras or of Keras 3, neither of which this module imports.
KerasMetric: TypeAlias = "tf_keras.metrics.Metric"
_KERAS = ("tf_keras", "keras")
_FIRST_VALUE = "Assign"  # the last part of the name of the operation that gives it


def is_keras_metric(value: object) -> bool:
    """Returns whether a value is a metric of tf_keras or Keras 3, without importing them."""
    loaded = [sys.modules[name] for name in _KERAS if hasattr(sys.modules.get(name), "metrics")]
    return any(isinstance(value, keras.metrics.Metric) for keras in loaded)


def split_metric(metric: KerasMetric) -> tuple[Any, Any]:
    """Splits an entry of eval_metric_ops into its value tensor and its update operation.

    Args:
      metric: a Keras metric on which `update_state` was called in the current graph, or a
        (value, update_op) tuple, which is returned unchanged.

    Returns:
      The pair (value, update_op).

    Raises:
      ValueError: a Keras metric that was never updated.
    """
    if not is_keras_metric(metric):
        return metric
    # A metric of Keras 3 does not list its update operations.
    updates = metric.updates[:1] if hasattr(metric, "updates") else _find_assignments(metric)
    if not updates:
        raise ValueError(f'Please call update_state(...) on the "{metric.name}" metric')
    return metric.result(), updates[0] if len(updates) == 1 else tf.group(updates)


def add_local_variables(metric: KerasMetric) -> None:
    """Adds a Keras metric's variables to the collections that the session initializes."""
    variables = _list_variables(metric)
    # Keras 3 adds them to the weights, which checkpoints save.
    of_model = tf.compat.v1.get_collection_ref(tf.compat.v1.GraphKeys.GLOBAL_VARIABLES)
    theirs = {variable.ref() for variable in variables}
    of_model[:] = [variable for variable in of_model if variable.ref() not in theirs]
    for collection in (
        tf.compat.v1.GraphKeys.LOCAL_VARIABLES,
        tf.compat.v1.GraphKeys.METRIC_VARIABLES,
    ):
        known = {variable.ref() for variable in tf.compat.v1.get_collection(collection)}
        for variable in variables:
            if variable.ref() not in known:
                tf.compat.v1.add_to_collection(collection, variable)


def _list_variables(metric: KerasMetric) -> list[tf.Variable]:
    """Returns a metric's variables as TensorFlow variables, which Keras 3 wraps."""
    found: Iterable[Any] = metric.variables
    return [v if isinstance(v, tf.Variable) else v.value for v in found]


def _find_assignments(metric: KerasMetric) -> list[tf.Operation]:
    """Returns the operations that update a metric's variables, without their initializers.

    Each waits for the inputs of the previous ones: a count that does not depend on the batch would
    otherwise be incremented after the end of the input.
    """
    handles = {variable.handle.op.name for variable in _list_variables(metric)}
    found = [
        operation
        for operation in tf.compat.v1.get_default_graph().get_operations()
        if "Assign" in operation.type
        and operation.name.rpartition("/")[2] != _FIRST_VALUE
        and operation.inputs[0].op.name in handles
    ]
    values = [operation.inputs[1].op for operation in found]
    for i, operation in enumerate(found[1:], start=1):
        for value in values[:i]:
            graph_edits.run_after(operation, value)
    return found
