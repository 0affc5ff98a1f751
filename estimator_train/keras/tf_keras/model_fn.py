"""The model_fn of a Keras model."""

from collections.abc import Mapping, Sequence

import tensorflow as tf
import tf_keras

from estimator_train.estimator_spec import EstimatorSpec, ModeKeys
from estimator_train.keras.build_settings import CompileArguments
from estimator_train.keras.model_io import (
    CHECKPOINT,
    Structure,
    as_tensors,
    check_export_outputs,
    make_export_outputs,
    split_features,
)
from estimator_train.keras.observation import (
    find_published_training,
    is_observation_requested,
    make_tensor_specs,
    publish,
)
from estimator_train.keras.tf_keras.blueprint import TfKerasBlueprint
from estimator_train.keras.tf_keras.graph_builder import GraphBuilder, ObservedTfKeras
from estimator_train.keras.tf_keras.graph_calls import keep_layer_classes
from estimator_train.optimizers.base import GraphOptimizer
from estimator_train.optimizers.several_optimizers import OptimizerPair
from estimator_train.run_config import RunConfig

_LOG = tf.get_logger()


class TfKerasModelFn:
    """A model_fn that builds a Keras model.

    Args:
      blueprint: Rebuilds the model in a graph.
      compiled: The arguments of `Model.compile`.
      optimizer: The graph form of the model's optimizer.
      checkpoint_format: "checkpoint" for object-based checkpoints, "saver" for checkpoints that
        name variables.
      metric_names_map: Keras's names of all metrics to the names to report, or None.
      export_outputs: Output names to classes of ExportOutput, or functions that return one; or
        None.

    Attributes:
      builder: Builds the parts of the model's graph.

    Raises:
      TypeError: export_outputs is not a dict of such classes or functions.
    """

    def __init__(
        self,
        blueprint: TfKerasBlueprint,
        compiled: CompileArguments,
        optimizer: GraphOptimizer | OptimizerPair,
        checkpoint_format: str | None = CHECKPOINT,
        metric_names_map: Mapping[str, str] | None = None,
        export_outputs: Mapping[str, type] | None = None,
    ) -> None:
        object_based = checkpoint_format == CHECKPOINT
        self.builder = GraphBuilder(blueprint, compiled, optimizer, object_based, metric_names_map)
        self._export_outputs = check_export_outputs(export_outputs)

    @tf.autograph.experimental.do_not_convert
    def __call__(
        self, features: Structure, labels: Structure, mode: str, config: RunConfig
    ) -> EstimatorSpec:
        """Builds the model in the default graph.

        Args:
          features: A tensor or NumPy array, or a list, tuple or dict of them, as the model takes
            them; or a dict of `features` and `sample_weights`.
          labels: The labels of the model's outputs in the same form, or None.
          mode: A ModeKeys value.
          config: A RunConfig, for the number of checkpoints to keep.
        """
        features, sample_weights = split_features(as_tensors(features))
        labels = as_tensors(labels)
        is_observed = mode == ModeKeys.TRAIN and is_observation_requested()
        # EstimatorSpec also makes operations of metrics, which changes the classes of layers.
        with keep_layer_classes():
            built, feeds = self.builder.build_model(features, mode)
            loss = train_op = optimizer = None
            metrics: dict[str, tf_keras.metrics.Metric] = {}
            if mode != ModeKeys.PREDICT:
                loss, metrics = self.builder.build_loss_and_metrics(
                    built, labels, sample_weights, has_metrics=mode == ModeKeys.EVAL or is_observed
                )
                if is_observed:
                    metrics = {"loss": _make_mean_loss(loss, built.outputs), **metrics}
            if mode == ModeKeys.TRAIN:
                loss, train_op, optimizer = self.builder.build_training(built, loss)
            saver = self.builder.make_saver(built, optimizer, config, mode)
            spec = EstimatorSpec(
                mode=mode,
                predictions=dict(built.outputs),
                loss=loss,
                train_op=train_op,
                eval_metric_ops=metrics,
                export_outputs=make_export_outputs(
                    self._export_outputs, built.names, built.outputs
                ),
                scaffold=tf.compat.v1.train.Scaffold(init_feed_dict=feeds or None, saver=saver),
            )
            if not is_observed:
                return spec
            model = self.builder.observe(built, optimizer, make_tensor_specs(features))
            return _publish_training(spec, model, list(metrics.values()))


def check_model_has_format(blueprint: TfKerasBlueprint, checkpoint_format: str | None) -> None:
    """Checks that checkpoints of a new model can have a format.

    Raises:
      ValueError: The model is subclassed, and the format needs the places of its variables.
    """
    if checkpoint_format == CHECKPOINT and not blueprint.is_layered:
        raise ValueError(
            "Object-based checkpoints are currently not supported with subclassed models. "
            'Pass checkpoint_format="saver".'
        )


def _make_mean_loss(loss: tf.Tensor, outputs: Mapping[str, tf.Tensor]) -> tf_keras.metrics.Metric:
    """Makes the mean of batches' losses, weighted by batch size as in the logs of `fit`."""
    with tf.name_scope("metrics"):
        metric = tf_keras.metrics.Mean(name="mean_loss")
        metric.update_state(loss, tf.shape(next(iter(outputs.values())))[0])
    return metric


def _publish_training(
    spec: EstimatorSpec, model: ObservedTfKeras, metrics: Sequence[tf_keras.metrics.Metric]
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
