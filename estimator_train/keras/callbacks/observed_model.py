"""A Keras model in the graph of training, and eager copies of it for callbacks."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import tensorflow as tf
import tf_keras

from estimator_train.keras.compiled.compile_arguments import CompileArguments
from estimator_train.keras.compiled.metrics import copy_metric
from estimator_train.keras.graph.model_operations import list_variables
from estimator_train.keras.graph.rebuilding import Blueprint
from estimator_train.keras.graph.structures import Structure, Trackable
from estimator_train.optimizers.base import copy_optimizer
from estimator_train.optimizers.optimizer_pair import list_optimizers
from estimator_train.optimizers.state import (
    find_slots,
    get_iterations,
    get_learning_rate,
    make_slots,
)

_Pairs = list[tuple[tf.Variable, tf.Variable]]


@dataclasses.dataclass(frozen=True)
class ObservedModel:
    """A Keras model that is trained in a graph.

    Attributes:
      blueprint: Rebuilds the model.
      compiled: The arguments of `Model.compile`.
      model: The Keras model in the graph.
      optimizer: The optimizer in the graph, or None.
      global_step: The variable that counts training steps.
      features: TensorSpecs of the model's features, in their structure.
    """

    blueprint: Blueprint
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

    def _pair_optimizers(self, model: tf_keras.Model) -> Any:
        """Pairs the graph's optimizers and their variables with those of an eager copy."""
        ours = list_optimizers(self.model, self.optimizer)
        return zip(ours, list_optimizers(model, model.optimizer), strict=True)


class TrainedModel(Protocol):
    """A model in the graph of training, of tf_keras or of Keras 3."""

    def make_eager(self) -> tf_keras.Model:
        """Builds a compiled eager copy with its own variables; call it in eager code."""

    def pair_weights(self, model: tf_keras.Model) -> _Pairs:
        """Pairs the graph's weights and slots with those of an eager copy."""

    def pair_scalars(self, model: tf_keras.Model) -> _Pairs:
        """Pairs the optimizer's learning rate and count of updates with those of an eager copy."""


@dataclasses.dataclass(frozen=True)
class ObservedTraining:
    """The training of a Keras model that hooks observe.

    Attributes:
      model: The model.
      logs: Scalar tensors by name: mean loss and metrics since the last reset.
      step_logs: The same values after a step, to fetch in that step's session call; None under a
        strategy.
      resets: Operations that reset the loss and metrics.
      strategy: The strategy that trains the model.
    """

    model: TrainedModel
    logs: Mapping[str, tf.Tensor]
    step_logs: Mapping[str, tf.Tensor] | None
    resets: Sequence[tf.Operation]
    strategy: tf.distribute.Strategy


def make_tensor_specs(features: Structure) -> Structure:
    """Returns TensorSpecs of features, in their structure."""
    return tf.nest.map_structure(lambda t: tf.TensorSpec(t.shape, t.dtype), features)


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


def build_on_zeros(model: Any, features: Structure) -> None:
    """Makes the variables of an eager model by calling it on zeros; unknown sizes are 1.

    Args:
      model: A model of tf_keras or Keras 3.
      features: TensorSpecs of its features.
    """
    if model.built:
        return

    def make_zeros(spec: tf.TensorSpec) -> tf.Tensor:
        return tf.zeros([size or 1 for size in spec.shape], spec.dtype)

    model(tf.nest.map_structure(make_zeros, features))
