"""The model_fn of a Keras model."""

from collections.abc import Mapping
from typing import Any

import tensorflow as tf
import tf_keras

from estimator_train.estimator_spec.spec import EstimatorSpec, ModeKeys
from estimator_train.keras.callbacks.observation import (
    is_observation_requested,
    mean_loss,
    publish_training,
)
from estimator_train.keras.callbacks.observed_model import make_tensor_specs
from estimator_train.keras.compiled.compile_arguments import (
    CompileArguments,
    read_compile_arguments,
)
from estimator_train.keras.graph.layer_classes import keep_layer_classes
from estimator_train.keras.graph.model_io import as_tensors, split_features
from estimator_train.keras.graph.rebuilding import Blueprint
from estimator_train.keras.graph.structures import Optimizer, Structure
from estimator_train.keras.graph_builder import GraphBuilder
from estimator_train.keras.model_checks import list_overridden_steps
from estimator_train.keras.serving.export_outputs import check_export_outputs, make_export_outputs
from estimator_train.optimizers.base import GraphOptimizer
from estimator_train.optimizers.graph_optimizers import make_graph_optimizer
from estimator_train.optimizers.optimizer_pair import OptimizerPair
from estimator_train.run_config import RunConfig

_LOG = tf.get_logger()
CHECKPOINT = "checkpoint"
SAVER = "saver"


class KerasModelFn:
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
        blueprint: Blueprint,
        compiled: CompileArguments,
        optimizer: GraphOptimizer | OptimizerPair,
        checkpoint_format: str | None = CHECKPOINT,
        metric_names_map: Mapping[str, str] | None = None,
        export_outputs: Mapping[str, type] | None = None,
    ) -> None:
        object_based = checkpoint_format == CHECKPOINT
        self.builder = GraphBuilder(blueprint, compiled, optimizer, object_based, metric_names_map)
        self._export_outputs = check_export_outputs(export_outputs)

    @classmethod
    def from_compiled(
        cls, model: tf_keras.Model, custom_objects: Mapping[str, Any] | None, **settings: Any
    ) -> "KerasModelFn":
        """Makes the model_fn of a compiled model.

        Args:
          model: A compiled tf_keras Model. It is read now and never changed.
          custom_objects: Names to classes and functions that the model's config needs, or None.
          **settings: The remaining arguments of the class.

        Raises:
          ValueError: The model is not compiled, cannot be built again in a graph, or has an
            optimizer that cannot be used.
        """
        compiled = read_compile_arguments(model)
        _warn_of_overridden_steps(model)
        optimizer = make_graph_optimizers(model, compiled.optimizer)
        return cls(Blueprint(model, custom_objects), compiled, optimizer, **settings)

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
                    metrics = {"loss": mean_loss(loss, built.outputs), **metrics}
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
            return publish_training(spec, model, list(metrics.values()))


def check_checkpoint_format(checkpoint_format: str | None) -> None:
    """Checks the name of a format of checkpoints; None is the format "saver".

    Raises:
      ValueError: The format is unknown.
    """
    if checkpoint_format not in (None, CHECKPOINT, SAVER):
        raise ValueError(
            f'Checkpoint format must be one of "checkpoint" or "saver". Got {checkpoint_format}'
        )


def check_model_has_format(blueprint: Blueprint, checkpoint_format: str | None) -> None:
    """Checks that checkpoints of a new model can have a format.

    Raises:
      ValueError: The model is subclassed, and the format needs the places of its variables.
    """
    if checkpoint_format == CHECKPOINT and not blueprint.is_layered:
        raise ValueError(
            "Object-based checkpoints are currently not supported with subclassed models. "
            'Pass checkpoint_format="saver".'
        )


def make_graph_optimizers(
    model: tf_keras.Model, given: Optimizer, *, original_names: bool = True
) -> GraphOptimizer | OptimizerPair:
    """Returns the graph form of a compiled model's optimizer, or of its two optimizers.

    Args:
      model: The compiled model.
      given: Its optimizer, or for a WideDeepModel a list of two.
      original_names: As for `make_graph_optimizer`.

    Raises:
      ValueError: A setting of an optimizer cannot be read, or has no effect in a graph.
      TypeError: It is not an optimizer.
    """
    if isinstance(model, tf_keras.experimental.WideDeepModel) and isinstance(given, (list, tuple)):
        linear, deep = (make_graph_optimizer(one, original_names=original_names) for one in given)
        return OptimizerPair(linear, deep)
    return make_graph_optimizer(given, original_names=original_names)


def _warn_of_overridden_steps(model: tf_keras.Model) -> None:
    """Warns that an Estimator does not call a model's own train_step and its like."""
    overridden = list_overridden_steps(model, ("train_step", "test_step", "predict_step"))
    if overridden:
        _LOG.warning(
            "%s has its own %s, which an Estimator does not call: it trains and evaluates with the "
            "loss, metrics and optimizer of compile().",
            type(model).__name__,
            " and ".join(overridden),
        )
