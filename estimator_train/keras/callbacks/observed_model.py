"""A Keras model in the graph of training, and eager models like it for callbacks."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
import tf_keras

from estimator_train.estimator_spec.spec import EstimatorSpec
from estimator_train.keras.callbacks.observation import ObservedTraining, offer_observation
from estimator_train.keras.compiled.compile_arguments import CompileArguments
from estimator_train.keras.graph.model_operations import variables_of
from estimator_train.keras.graph.rebuilding import Blueprint
from estimator_train.optimizers.base import eager_copy
from estimator_train.optimizers.state import iterations_of, learning_rate_of, make_slots, slots_of

_Pairs = list[tuple[tf.Variable, tf.Variable]]


@dataclasses.dataclass(frozen=True)
class ObservedModel:
    """A model that is trained in a graph, and eager models like it.

    Attributes:
      blueprint: What the model was made from.
      compiled: What it is trained and evaluated with.
      model: The Keras model of the graph.
      optimizer: The optimizer of the graph.
      global_step: The count of steps.
      features: Specs of the features that the model is called on.
    """

    blueprint: Blueprint
    compiled: CompileArguments
    model: Any
    optimizer: Any
    global_step: tf.Variable
    features: Any

    def make_eager(self) -> Any:
        """Returns a compiled eager model with variables of its own; called in eager code."""
        model = self.blueprint.eager_copy()
        _compile_like(model, self.compiled)
        _build(model, self.features)
        if model.optimizer is not None:
            make_slots(model.optimizer, model.trainable_variables)
        return model

    def pairs(self, model: Any) -> _Pairs:
        """The graph's variables, each with its counterpart in an eager model."""
        weights = list(zip(variables_of(self.model), variables_of(model), strict=True))
        if model.optimizer is None or self.optimizer is None:
            return weights
        ours = slots_of(self.optimizer, self.model.trainable_weights)
        theirs = slots_of(model.optimizer, model.trainable_weights)
        return weights + [(ours[key], theirs[key]) for key in theirs if key in ours]

    def scalars(self, model: Any) -> _Pairs:
        """The same for the optimizer's learning rate and count of updates."""
        if model.optimizer is None or self.optimizer is None:
            return []
        counted = iterations_of(self.optimizer)
        pairs = [
            (learning_rate_of(self.optimizer), learning_rate_of(model.optimizer)),
            (self.global_step if counted is None else counted, iterations_of(model.optimizer)),
        ]
        return [(ours, theirs) for ours, theirs in pairs if not (ours is None or theirs is None)]


def eager_value(variable: tf.Variable) -> np.ndarray:
    """An eager variable's value, read from within a graph."""
    with tf.__internal__.eager_context.eager_mode():
        return variable.numpy()


def specs(features: Any) -> Any:
    """TensorSpecs of features."""
    return tf.nest.map_structure(lambda t: tf.TensorSpec(t.shape, t.dtype), features)


def mean_loss(loss: tf.Tensor, outputs: Mapping[str, tf.Tensor]) -> tf_keras.metrics.Metric:
    """The mean of the losses of batches, weighted by their sizes, as in the logs of `fit`."""
    with tf.name_scope("metrics"):
        metric = tf_keras.metrics.Mean(name="mean_loss")
        metric.update_state(loss, tf.shape(next(iter(outputs.values())))[0])
    return metric


def observed_spec(
    spec: EstimatorSpec, model: ObservedModel, metrics: Sequence[Any]
) -> EstimatorSpec:
    """Lets hooks observe the training of a model, and updates its metrics in each training step.

    Args:
      spec: A spec of training, with the metrics in its eval_metric_ops.
      model: The model.
      metrics: These metrics, tf_keras Metrics.

    Returns:
      The spec with a train_op that updates the metrics, and without eval_metric_ops.
    """
    strategy = tf.distribute.get_strategy()
    resets = [
        part.initializer
        for metric in metrics
        for variable in metric.variables
        for part in strategy.experimental_local_results(variable)
    ]
    updates = [update for _, update in spec.eval_metric_ops.values()]
    logs = {name: value for name, (value, _) in spec.eval_metric_ops.items()}
    step_logs = None
    if not tf.distribute.has_strategy():
        with tf.control_dependencies(updates):
            results = (tf.identity(metric.result()) for metric in metrics)
            step_logs = dict(zip(logs, results, strict=True))
    offer_observation(ObservedTraining(model, logs, step_logs, resets, strategy))
    return spec._replace(train_op=tf.group(spec.train_op, *updates), eval_metric_ops={})


def _compile_like(model: Any, compiled: CompileArguments) -> None:
    """Compiles an eager model with copies of what another one was compiled with.

    Of several optimizers it gets none, as a tf_keras model can have only one.
    """
    several = isinstance(compiled.optimizer, dict)
    model.compile(
        "sgd" if several else eager_copy(compiled.optimizer),
        compiled.loss,
        loss_weights=compiled.loss_weights,
        metrics=_copied(compiled.metrics),
        weighted_metrics=_copied(compiled.weighted_metrics),
    )
    if several:
        model.optimizer = None


def _build(model: Any, features: Any) -> None:
    """Makes the variables of an eager model, called on such features: unknown sizes are 1."""
    if model.built:
        return

    def blank(spec: tf.TensorSpec) -> tf.Tensor:
        return tf.zeros([size or 1 for size in spec.shape], spec.dtype)

    model(tf.nest.map_structure(blank, features))


def _copied(metrics: Any) -> Any:
    """The same structure with new Metric objects, which hold state."""
    if isinstance(metrics, dict):
        return {name: _copied(metric) for name, metric in metrics.items()}
    if isinstance(metrics, (list, tuple)):
        return [_copied(metric) for metric in metrics]
    if isinstance(metrics, tf_keras.metrics.Metric):
        return type(metrics).from_config(metrics.get_config())
    return metrics
