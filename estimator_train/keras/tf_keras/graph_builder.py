"""The parts of a tf_keras model's graph that training, evaluation and checkpoints share."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow as tf
import tf_keras

from estimator_train.estimator_spec import ModeKeys
from estimator_train.keras.build_settings import CompileArguments, copy_metric, divide_by_replicas
from estimator_train.keras.copied_layers import InitialValues
from estimator_train.keras.model_io import Structure, Trackable, find_labels, find_weights
from estimator_train.keras.observation import build_on_zeros
from estimator_train.keras.tf_keras.blueprint import TfKerasBlueprint, TfKerasGraphModel
from estimator_train.keras.tf_keras.checkpoints import (
    ObjectBasedSaver,
    make_object_based_saver,
)
from estimator_train.keras.tf_keras.graph_calls import list_layers, list_variables
from estimator_train.keras.tf_keras.losses_and_metrics import (
    CompiledLoss,
    list_added_metrics,
    plan_metrics,
    rename_metrics,
    update_metrics,
)
from estimator_train.optimizers.base import (
    GraphOptimizer,
    TrainStep,
    copy_optimizer,
    find_slots,
    get_iterations,
    get_learning_rate,
    make_slots,
)
from estimator_train.optimizers.several_optimizers import OptimizerPair, list_optimizers
from estimator_train.run_config import RunConfig

_Pairs = list[tuple[tf.Variable, tf.Variable]]


@dataclasses.dataclass(frozen=True)
class ObservedTfKeras:
    """A Keras model that is trained in a graph.

    Attributes:
      blueprint: Rebuilds the model.
      compiled: The arguments of `Model.compile`.
      model: The Keras model in the graph.
      optimizer: The optimizer in the graph, or None.
      global_step: The variable that counts training steps.
      features: TensorSpecs of the model's features, in their structure.
    """

    blueprint: TfKerasBlueprint
    compiled: CompileArguments
    model: tf_keras.Model
    optimizer: Trackable | None
    global_step: tf.Variable
    features: Structure

    def make_eager(self) -> tf_keras.Model:
        """Builds a compiled eager copy with its own variables; call it in eager code."""
        model = self.blueprint.build_eager_copy()
        _compile_like(model, self.compiled)
        build_on_zeros(model, self.features)
        if model.optimizer is not None:
            for optimizer, variables in list_optimizers(model, model.optimizer):
                make_slots(optimizer, variables)
        return model

    def pair_weights(self, model: tf_keras.Model) -> _Pairs:
        """Pairs the graph's weights and slots with those of an eager copy."""
        weights = list(zip(list_variables(self.model), list_variables(model), strict=True))
        if model.optimizer is None or self.optimizer is None:
            return weights
        slots: _Pairs = []
        for graph_part, eager_part in self._pair_optimizers(model):
            ours, theirs = find_slots(*graph_part), find_slots(*eager_part)
            slots += [(ours[key], theirs[key]) for key in theirs if key in ours]
        return weights + slots

    def pair_scalars(self, model: tf_keras.Model) -> _Pairs:
        """Pairs the optimizer's learning rate and count of updates with those of an eager copy."""
        if model.optimizer is None or self.optimizer is None:
            return []
        pairs = []
        for (ours, _), (theirs, _) in self._pair_optimizers(model):
            counted = get_iterations(ours)
            pairs += [
                (get_learning_rate(ours), get_learning_rate(theirs)),
                (self.global_step if counted is None else counted, get_iterations(theirs)),
            ]
        return [(ours, theirs) for ours, theirs in pairs if not (ours is None or theirs is None)]

    def list_parts(self, model: tf_keras.Model) -> list[Any]:
        """Returns the layers and weights of an eager copy, and its optimizer."""
        return [*list_layers(model), *model.weights, model.optimizer]

    def _pair_optimizers(self, model: tf_keras.Model) -> Any:
        """Pairs the graph's optimizers and their variables with those of an eager copy."""
        ours = list_optimizers(self.model, self.optimizer)
        return zip(ours, list_optimizers(model, model.optimizer), strict=True)


def _compile_like(model: tf_keras.Model, compiled: CompileArguments) -> None:
    """Compiles an eager model with copies of another model's compile arguments.

    A tf_keras model has no optimizers by patterns of names: it gets none where there are several.
    """
    several = isinstance(compiled.optimizer, dict)
    model.compile(
        "sgd" if several else tf.nest.map_structure(copy_optimizer, compiled.optimizer),
        compiled.loss,
        loss_weights=compiled.loss_weights,
        metrics=tf.nest.map_structure(copy_metric, compiled.metrics),
        weighted_metrics=tf.nest.map_structure(copy_metric, compiled.weighted_metrics),
    )
    if several:
        model.optimizer = None


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

    blueprint: TfKerasBlueprint
    compiled: CompileArguments
    optimizer: GraphOptimizer | OptimizerPair
    is_object_based: bool
    metric_names_map: Mapping[str, str] | None

    def build_model(
        self, features: Structure, mode: str
    ) -> tuple[TfKerasGraphModel, dict[tf.Tensor, np.ndarray]]:
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
        built: TfKerasGraphModel,
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
        self, built: TfKerasGraphModel, loss: tf.Tensor
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
        built: TfKerasGraphModel,
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
        self, built: TfKerasGraphModel, optimizer: Trackable | None, features: Structure
    ) -> ObservedTfKeras:
        """Returns the model as hooks and initial checkpoints use it.

        Args:
          built: The model.
          optimizer: The optimizer in the graph, or None.
          features: TensorSpecs of the features.
        """
        step = tf.compat.v1.train.get_or_create_global_step()
        return ObservedTfKeras(
            self.blueprint, self.compiled, built.model, optimizer, step, features
        )


def _list_trainable(model: tf_keras.Model) -> list[tf.Variable]:
    """Returns the trainable variables of a model, without wrappers for mixed precision.

    Each replica of a strategy has a wrapper of its own around the variable that they share.
    """
    return [
        variable._variable if hasattr(variable, "true_dtype") else variable
        for variable in model.trainable_weights
    ]
