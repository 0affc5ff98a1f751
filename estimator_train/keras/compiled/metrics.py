"""The metrics of a compiled Keras model in a graph."""

import dataclasses
import re
from collections.abc import Mapping
from typing import Any, TypeAlias

import tensorflow as tf
import tf_keras

from estimator_train.engine.tf_internals.modes import has_v2_behavior
from estimator_train.keras.compiled.compile_arguments import CompileArguments
from estimator_train.keras.compiled.losses import Loss
from estimator_train.keras.graph.io_names import Names
from estimator_train.keras.graph.structures import Structure

# A name, function, Metric or Loss.
GivenMetric: TypeAlias = Any
_ACCURACY = ("accuracy", "acc")
_CROSSENTROPY = ("crossentropy", "ce")


@dataclasses.dataclass(frozen=True)
class PlannedMetric:
    """Metric of one output.

    Attributes:
      name: The metric's key in the results of `evaluate`.
      output: The name of the output.
      metric: The name, function, Metric or Loss that `compile` was given.
      weighted: Whether sample weights weight the metric.
    """

    name: str
    output: str
    metric: GivenMetric
    weighted: bool


def plan_metrics(compiled: CompileArguments, names: Names) -> list[PlannedMetric]:
    """Returns the metrics of a model under Keras's names.

    Args:
      compiled: The arguments of `Model.compile`.
      names: The names of the model's outputs.

    Raises:
      ValueError: A dict of metrics has an unknown output, or a list of lists another length.
    """
    groups = {
        False: _group_by_output(compiled.metrics, names, "metrics"),
        True: _group_by_output(compiled.weighted_metrics, names, "weighted_metrics"),
    }
    planned: list[PlannedMetric] = []
    for output in names.names:
        for weighted, group in groups.items():
            for place, metric in enumerate(group[output]):
                if metric in group[output][:place]:
                    continue  # Keras keeps one metric of a name.
                name = _name(metric)
                name = f"{output}_{name}" if len(names.names) > 1 else name
                name = _make_unique(name, ["loss", *(other.name for other in planned)])
                planned.append(PlannedMetric(name, output, metric, weighted))
    return planned


def rename_metrics(
    planned: list[PlannedMetric], names_map: Mapping[str, str] | None
) -> list[PlannedMetric]:
    """Returns the metrics under the names that `metric_names_map` gives them.

    Args:
      planned: The metrics with Keras's names.
      names_map: Keras's names of all metrics to new names, or None. It is ignored for a model
        without metrics.

    Raises:
      ValueError: The map lacks a metric, or has a name that no metric has.
    """
    if not names_map or not planned:
        return planned
    names = [metric.name for metric in planned]
    missing = [name for name in names if name not in names_map]
    if missing:
        raise ValueError(
            "Invalid `metric_names_map`. The following keras model metric names:"
            f'"{missing}" do not exist in the `metric_names_map` dictionary'
        )
    unexpected = [name for name in names_map if name not in names]
    if unexpected:
        raise ValueError(
            "Invalid `metric_names_map`. There are unexpected keys in the `metric_names_map` "
            f"dictionary. Expected keys: {names}, Received: {unexpected}"
        )
    return [dataclasses.replace(metric, name=names_map[metric.name]) for metric in planned]


def update_metrics(
    planned: list[PlannedMetric],
    losses: Mapping[str, tf_keras.losses.Loss],
    outputs: Mapping[str, tf.Tensor],
    labels: Mapping[str, tf.Tensor],
    sample_weights: Mapping[str, tf.Tensor | None],
) -> dict[str, tf_keras.metrics.Metric]:
    """Makes the metrics in the default graph and updates them with the batch.

    Args:
      planned: The metrics.
      losses: Loss objects by output name, which decide the meaning of "accuracy".
      outputs: The model's outputs by name.
      labels: Labels by output name.
      sample_weights: Sample weights by output name; None for an output without weights.

    Returns:
      Name to the tf_keras Metric.
    """
    metrics = {}
    for plan in planned:
        output, label = outputs[plan.output], labels[plan.output]
        with tf.name_scope("metrics"):
            metric = _make_metric(plan, losses.get(plan.output), output, label)
            weights = _mask_weights(sample_weights[plan.output] if plan.weighted else None, output)
            metric.update_state(label, output, sample_weight=weights)
        metrics[plan.name] = metric
    return metrics


def list_added_metrics(model: tf_keras.Model) -> dict[str, tf_keras.metrics.Metric]:
    """Returns the metrics that layers of a model add and update, by name."""
    return {metric.name: metric for metric in model.metrics if metric.updates}


def _group_by_output(
    metrics: Structure, names: Names, argument: str
) -> dict[str, list[GivenMetric]]:
    """Returns lists of metrics by output; a flat list applies to each output."""
    if isinstance(metrics, (list, tuple)) and not any(
        isinstance(entry, (list, tuple)) for entry in metrics
    ):
        return {name: list(metrics) for name in names.names}
    return {name: _as_list(entry) for name, entry in names.spread(metrics, argument).items()}


def _as_list(entry: Structure) -> list[GivenMetric]:
    if entry is None:
        return []
    return list(entry) if isinstance(entry, (list, tuple)) else [entry]


def _name(metric: GivenMetric) -> str:
    if isinstance(metric, str):
        return metric if has_v2_behavior() else _name_in_version_1(metric)
    name = getattr(metric, "name", None) or getattr(metric, "__name__", None)
    return name or type(metric).__name__


def _name_in_version_1(metric: str) -> str:
    """Returns the name of a metric in TensorFlow 1, and after `disable_v2_behavior()`."""
    if metric in _ACCURACY:
        return "acc"
    if metric in _CROSSENTROPY:
        return "ce"
    found = tf_keras.metrics.get(metric)
    name = getattr(found, "__name__", None) or found.name
    return re.sub(r"_\d+$", "", name)  # Keras numbers further objects of a class.


def _make_unique(name: str, taken: list[str]) -> str:
    candidates = [name, *(f"{name}_{i}" for i in range(1, len(taken) + 1))]
    return next(candidate for candidate in candidates if candidate not in taken)


def _make_metric(
    plan: PlannedMetric, loss: Loss | None, output: tf.Tensor, label: tf.Tensor
) -> tf_keras.metrics.Metric:
    """Makes a new Metric object in the default graph.

    Raises:
      TypeError: A Metric object cannot be made again from its config.
    """
    if isinstance(plan.metric, tf_keras.metrics.Metric):
        return copy_metric(plan.metric)
    name = re.sub(r"[^\w.\-/]", "_", _name(plan.metric)).lstrip("_") or "metric"
    function = _find_function(plan.metric, loss, output, label)
    if isinstance(function, tf_keras.metrics.Metric):
        return function
    if isinstance(function, tf_keras.losses.Loss):
        function = function.call
    return tf_keras.metrics.MeanMetricWrapper(function, name=name)


def copy_metric(metric: GivenMetric) -> GivenMetric:
    """Returns a new object of a Metric of tf_keras or Keras 3, and other values as they are.

    Raises:
      TypeError: A Metric object cannot be made again from its config.
    """
    if isinstance(metric, type) or not hasattr(metric, "update_state"):
        return metric
    try:
        return type(metric).from_config(metric.get_config())
    except TypeError as error:
        raise TypeError(
            f"The metric '{metric.name}' cannot be made again in a graph: give "
            f"{type(metric).__name__} a get_config() with all arguments of its __init__. {error}"
        ) from error


def _find_function(
    metric: GivenMetric, loss: Loss | None, output: tf.Tensor, label: tf.Tensor
) -> GivenMetric:
    for names in (_ACCURACY, _CROSSENTROPY):
        if metric in names:
            return getattr(tf_keras.metrics, f"{_choose_prefix(loss, output, label)}_{names[0]}")
    return tf_keras.metrics.get(metric) if isinstance(metric, str) else metric


def _choose_prefix(loss: Loss | None, output: tf.Tensor, label: tf.Tensor) -> str:
    """Returns the prefix of the accuracy's name, by the loss or the shapes."""
    if _is_loss(loss, tf_keras.losses.SparseCategoricalCrossentropy):
        return "sparse_categorical"
    if _is_loss(loss, tf_keras.losses.BinaryCrossentropy) or output.shape[-1] == 1:
        return "binary"
    ranks_differ = label.shape.rank is not None and label.shape.rank < output.shape.rank
    return "sparse_categorical" if ranks_differ or label.shape[-1] == 1 else "categorical"


def _is_loss(loss: Loss | None, cls: type) -> bool:
    """Returns whether a Loss is of a class, or wraps the function with the class's name."""
    return isinstance(loss, cls) or getattr(loss, "name", None) == cls().name


def _mask_weights(weights: tf.Tensor | None, output: tf.Tensor) -> tf.Tensor | None:
    """Returns sample weights that are zero at the masked time steps of a sequence."""
    mask = getattr(output, "_keras_mask", None)
    if mask is None:
        return weights
    mask = tf.cast(mask, output.dtype)
    if weights is None:
        return mask
    while weights.shape.rank < mask.shape.rank:
        weights = tf.expand_dims(weights, -1)
    return mask * tf.cast(weights, mask.dtype)
