"""The parts of a Keras model's graph that training, evaluation and initial checkpoints share."""

import dataclasses
from collections.abc import Mapping

import numpy as np
import tensorflow as tf
import tf_keras

from estimator_train.estimator_spec.spec import ModeKeys
from estimator_train.keras.callbacks.observed_model import ObservedModel
from estimator_train.keras.checkpoints.object_checkpoints import (
    ObjectBasedSaver,
    make_object_based_saver,
)
from estimator_train.keras.compiled.compile_arguments import CompileArguments
from estimator_train.keras.compiled.losses import CompiledLoss, divide_by_replicas
from estimator_train.keras.compiled.metrics import (
    list_added_metrics,
    plan_metrics,
    rename_metrics,
    update_metrics,
)
from estimator_train.keras.graph.initial_weights import InitialValues
from estimator_train.keras.graph.model_io import find_labels, find_weights
from estimator_train.keras.graph.model_operations import list_variables
from estimator_train.keras.graph.rebuilding import Blueprint, GraphModel
from estimator_train.keras.graph.structures import Structure, Trackable
from estimator_train.optimizers.base import GraphOptimizer, TrainStep
from estimator_train.optimizers.optimizer_pair import OptimizerPair
from estimator_train.run_config import RunConfig


@dataclasses.dataclass(frozen=True)
class GraphBuilder:
    """Builds a compiled Keras model in the default graph, part by part.

    Attributes:
      blueprint: Rebuilds the model in a graph.
      compiled: The arguments of `Model.compile`.
      optimizer: The graph form of the model's optimizer.
      is_object_based: Whether checkpoints name variables by their places in the model.
      metric_names_map: Keras's names of all metrics to the names to report, or None.
    """

    blueprint: Blueprint
    compiled: CompileArguments
    optimizer: GraphOptimizer | OptimizerPair
    is_object_based: bool
    metric_names_map: Mapping[str, str] | None

    def build_model(
        self, features: Structure, mode: str
    ) -> tuple[GraphModel, dict[tf.Tensor, np.ndarray]]:
        """Builds the model; returns it with a feed_dict that initializes it with its weights."""
        values = InitialValues()
        with values.record_variables():
            built = self.blueprint.call(
                features,
                training=mode == ModeKeys.TRAIN,
                allows_other_shapes=mode == ModeKeys.PREDICT,
            )
        weights = self.blueprint.weights
        if not weights or not self.blueprint.fits(built.model):
            return built, {}
        return built, values.make_feeds(list_variables(built.model), weights)

    def build_loss_and_metrics(
        self,
        built: GraphModel,
        labels: Structure,
        sample_weights: Structure,
        *,
        has_metrics: bool,
    ) -> tuple[tf.Tensor, dict[str, tf_keras.metrics.Metric]]:
        """Returns the loss, and by name the metrics of the model and of its layers.

        Args:
          built: The model.
          labels: The labels of input_fn, or None.
          sample_weights: The sample weights of input_fn, or None.
          has_metrics: Whether to make the metrics; otherwise the dict is empty.
        """
        names, outputs = built.names, built.outputs
        losses = CompiledLoss(self.compiled, names)
        planned = rename_metrics(plan_metrics(self.compiled, names), self.metric_names_map)
        compared = {*losses.by_output, *(metric.output for metric in planned)}
        labels = find_labels(labels, names, [n for n in names.names if n in compared], outputs)
        weights = find_weights(sample_weights, names)
        loss = losses.compute_total(outputs, labels, weights, built.losses)
        if not has_metrics:
            return loss, {}
        updated = update_metrics(planned, losses.by_output, outputs, labels, weights)
        return loss, {**list_added_metrics(built.model), **updated}

    def build_training(
        self, built: GraphModel, loss: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Operation, Trackable]:
        """Returns the loss to minimize, the train_op, and the optimizer to save."""
        if not self.optimizer.scales_loss:
            loss = divide_by_replicas(loss)
        step = self.minimize(built.model, loss)
        return loss, tf.group(step.operation, *built.updates), step.trackable

    def minimize(self, model: tf_keras.Model, loss: tf.Tensor) -> TrainStep:
        """Makes the optimizer minimize a loss."""
        step = tf.compat.v1.train.get_or_create_global_step()
        if isinstance(self.optimizer, OptimizerPair):
            parts = (model.linear_model, model.dnn_model)
            linear, deep = (_list_trainable(part) for part in parts)
            return self.optimizer.minimize(loss, linear, deep, step)
        return self.optimizer.minimize(loss, _list_trainable(model), step)

    def make_saver(
        self,
        built: GraphModel,
        optimizer: Trackable | None,
        config: RunConfig,
        mode: str = ModeKeys.TRAIN,
    ) -> ObjectBasedSaver | None:
        """Returns the saver of object-based checkpoints; None for checkpoints that name variables.

        Args:
          built: The model.
          optimizer: The optimizer to save, or None.
          config: A RunConfig, for the number of checkpoints to keep.
          mode: A ModeKeys value. In PREDICT weights may have other shapes than in checkpoints.
        """
        if not self.is_object_based:
            return None
        step = tf.compat.v1.train.get_or_create_global_step()
        checks_shapes = mode != ModeKeys.PREDICT
        return make_object_based_saver(built.model, optimizer, step, config, checks_shapes)

    def observe(
        self, built: GraphModel, optimizer: Trackable | None, features: Structure
    ) -> ObservedModel:
        """Returns the model as hooks and initial checkpoints use it.

        Args:
          built: The model.
          optimizer: The optimizer in the graph, or None.
          features: TensorSpecs of the features.
        """
        step = tf.compat.v1.train.get_or_create_global_step()
        return ObservedModel(self.blueprint, self.compiled, built.model, optimizer, step, features)


def _list_trainable(model: tf_keras.Model) -> list[tf.Variable]:
    """Returns the trainable variables of a model, without wrappers for mixed precision.

    Each replica of a strategy has a wrapper of its own around the variable that they share.
    """
    return [
        variable._variable if hasattr(variable, "true_dtype") else variable
        for variable in model.trainable_weights
    ]
