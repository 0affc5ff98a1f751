"""Lets a hook observe the Keras model that a model_fn trains.

The graph of training holds both sides of the exchange. A `PreModelHook` calls `request_observation`
in its `before_model`. The model_fn of a Keras model then calls `publish_training`, and the hook
reads the result by `find_published_training`.
"""

from collections.abc import Iterable, Mapping, Sequence

import tensorflow as tf
import tf_keras

from estimator_train.estimator_spec.spec import EstimatorSpec
from estimator_train.keras.callbacks.observed_model import (
    ObservedModel,
    ObservedTraining,
    TrainedModel,
)

# Not strings: a saved graph includes the collections that strings name, and these hold Python
# objects.
_REQUESTS = ("estimator_train", "requested observation")
_PUBLISHED = ("estimator_train", "published training")


def request_observation() -> None:
    """Asks the next model_fn of the default graph to call `publish_training`."""
    tf.compat.v1.add_to_collection(_REQUESTS, True)


def is_observation_requested() -> bool:
    """Returns whether a hook observes the training in the default graph."""
    return bool(tf.compat.v1.get_collection(_REQUESTS))


def find_published_training() -> ObservedTraining | None:
    """Returns the training that was published in the default graph, or None."""
    published = tf.compat.v1.get_collection(_PUBLISHED)
    return published[0] if published else None


def publish(
    model: TrainedModel,
    logs: Mapping[str, tf.Tensor],
    step_logs: Mapping[str, tf.Tensor] | None,
    variables: Iterable[tf.Variable],
) -> None:
    """Publishes a training to the hooks of the default graph.

    Args:
      model: The model.
      logs: As in `ObservedTraining`.
      step_logs: As in `ObservedTraining`.
      variables: The variables of the metrics in `logs`, which hooks reset.
    """
    strategy = tf.distribute.get_strategy()
    resets = [
        part.initializer
        for variable in variables
        for part in strategy.experimental_local_results(variable)
    ]
    training = ObservedTraining(model, logs, step_logs, resets, strategy)
    tf.compat.v1.add_to_collection(_PUBLISHED, training)


def mean_loss(loss: tf.Tensor, outputs: Mapping[str, tf.Tensor]) -> tf_keras.metrics.Metric:
    """Returns the mean of batches' losses, weighted by batch size as in the logs of `fit`."""
    with tf.name_scope("metrics"):
        metric = tf_keras.metrics.Mean(name="mean_loss")
        metric.update_state(loss, tf.shape(next(iter(outputs.values())))[0])
    return metric


def publish_training(
    spec: EstimatorSpec, model: ObservedModel, metrics: Sequence[tf_keras.metrics.Metric]
) -> EstimatorSpec:
    """Publishes a training to hooks, and updates its metrics in each training step.

    Args:
      spec: A spec of training, with the metrics in its eval_metric_ops.
      model: The model. Of several replicas' models the first is published.
      metrics: The metrics of the spec.

    Returns:
      The spec with a train_op that updates the metrics, and without eval_metric_ops.
    """
    updates = [update for _, update in spec.eval_metric_ops.values()]
    logs = {name: value for name, (value, _) in spec.eval_metric_ops.items()}
    step_logs = None
    if not tf.distribute.has_strategy():
        with tf.control_dependencies(updates):
            results = (tf.identity(metric.result()) for metric in metrics)
            step_logs = dict(zip(logs, results, strict=True))
    if find_published_training() is None:
        variables = (variable for metric in metrics for variable in metric.variables)
        publish(model, logs, step_logs, variables)
    return spec._replace(train_op=tf.group(spec.train_op, *updates), eval_metric_ops={})
