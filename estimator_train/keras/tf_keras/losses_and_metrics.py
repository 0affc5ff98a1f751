"""Arguments of `Model.compile`; loss and metrics of a compiled tf_keras model in a graph."""

import copy
import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import tensorflow as tf
import tf_keras

from estimator_train.engine.tf_internals.modes import has_v2_behavior
from estimator_train.keras.build_settings import CompileArguments, GivenMetric, copy_metric
from estimator_train.keras.model_io import Names, Structure

_UNCOMPILED = (
    "The given keras model has not been compiled yet. Please compile the model with "
    "`model.compile()` before calling `model_to_estimator()`."
)
Loss: TypeAlias = tf_keras.losses.Loss
_SUMS = (tf_keras.losses.Reduction.SUM, tf_keras.losses.Reduction.NONE)
_ACCURACY = ("accuracy", "acc")
_CROSSENTROPY = ("crossentropy", "ce")


def read_compile_arguments(model: tf_keras.Model) -> CompileArguments:
    """Returns the arguments that a model was compiled with.

    Args:
      model: A tf_keras Model.

    Raises:
      ValueError: The model is not compiled.
    """
    # The public get_compile_config() serializes the arguments, which loses functions and objects
    # that are not registered.
    compiled = getattr(model, "_compile_config", None)
    optimizer = getattr(model, "optimizer", None)
    if optimizer is not None and hasattr(model, "_compile_metrics"):
        # A model made after `disable_v2_behavior()` is of another class, with these attributes.
        return CompileArguments(
            optimizer,
            model.loss,
            model.loss_weights,
            model._compile_metrics,
            model._compile_weighted_metrics,
        )
    if compiled is None or optimizer is None:
        raise ValueError(_UNCOMPILED)
    given = compiled.config
    return CompileArguments(
        optimizer,
        given.get("loss"),
        given.get("loss_weights"),
        given.get("metrics"),
        given.get("weighted_metrics"),
    )


class CompiledLoss:
    """Losses of a model's outputs.

    Args:
      compiled: The arguments of `Model.compile`.
      names: The names of the model's outputs.

    Attributes:
      by_output: Loss objects by output name, for outputs that have a loss.

    Raises:
      ValueError: `loss` or `loss_weights` names an unknown output, or has a wrong length.
    """

    def __init__(self, compiled: CompileArguments, names: Names) -> None:
        given = names.spread(compiled.loss, "loss")
        self._weights = names.spread(compiled.loss_weights, "loss_weights")
        self.by_output = {
            name: _make_loss(loss) for name, loss in given.items() if loss is not None
        }

    def compute_total(
        self,
        outputs: Mapping[str, tf.Tensor],
        labels: Mapping[str, tf.Tensor],
        sample_weights: Mapping[str, tf.Tensor | None],
        extra: Sequence[tf.Tensor],
    ) -> tf.Tensor:
        """Returns the loss that training minimizes, a float scalar.

        Under a strategy it is the loss of one replica; the mean over replicas is the loss of the
        global batch.

        Args:
          outputs: The model's outputs by name.
          labels: Labels by output name.
          sample_weights: Sample weights by output name; None for an output without weights.
          extra: Losses of layers: regularization and `add_loss`.

        Raises:
          ValueError: There is no loss.
        """
        with tf.name_scope("loss"):
            terms = [
                self._compute_term(name, labels[name], outputs[name], sample_weights[name])
                for name in self.by_output
            ]
            terms += [tf.cast(tf.reduce_sum(loss), tf.float32) for loss in extra]
            if not terms:
                raise ValueError(
                    "The model cannot be compiled because it has no loss to optimize. Pass `loss` "
                    "to `model.compile()`, or use `add_loss` in the model."
                )
            return tf.add_n(terms)

    def _compute_term(
        self, name: str, label: tf.Tensor, output: tf.Tensor, sample_weight: tf.Tensor | None
    ) -> tf.Tensor:
        loss = self.by_output[name]
        with tf.name_scope(f"{name}_loss"):
            value = tf.reduce_sum(loss(label, output, sample_weight=sample_weight))
            if loss.reduction in _SUMS:
                # A sum over the batch is also a sum over the replicas.
                value *= tf.distribute.get_strategy().num_replicas_in_sync
        weight = self._weights[name]
        return tf.cast(value if weight is None else value * weight, tf.float32)


def _make_loss(given: "str | dict[str, Any] | Callable[..., Any] | Loss") -> Loss:
    """Returns a Loss object for a name, config, function or Loss."""
    loss = tf_keras.losses.get(given)
    if isinstance(loss, tf_keras.losses.Loss):
        loss = copy.copy(loss)
    else:
        name = getattr(loss, "__name__", type(loss).__name__)
        loss = tf_keras.__internal__.losses.LossFunctionWrapper(loss, name=name)
    # As in Keras's own training loop: each replica computes its mean, and the loss is the mean of
    # these. Without this attribute a Loss object raises ValueError under a strategy.
    loss._allow_sum_over_batch_size = True
    return loss


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
