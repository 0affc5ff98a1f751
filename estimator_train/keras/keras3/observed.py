"""A Keras 3 model in training, as callbacks observe it."""

import dataclasses

import keras
import tensorflow as tf

from estimator_train.keras.callbacks.observation import publish
from estimator_train.keras.callbacks.observed_model import build_on_zeros
from estimator_train.keras.graph.structures import Structure
from estimator_train.keras.keras3 import steps
from estimator_train.keras.keras3.blueprint import Blueprint, list_model_variables
from estimator_train.keras.keras3.graph_model import Logs

_SCALARS = ("learning_rate", "iteration")
_Pairs = list[tuple[tf.Variable, keras.Variable]]


@dataclasses.dataclass(frozen=True)
class ObservedKeras3:
    """A Keras 3 model that is trained in a graph.

    Attributes:
      blueprint: Makes the model.
      model: The model in the graph.
      features: TensorSpecs of the model's features, in their structure.
    """

    blueprint: Blueprint
    model: keras.Model
    features: Structure

    def make_eager(self) -> keras.Model:
        """Builds a compiled eager copy with its own variables; call it in eager code."""
        model = self.blueprint.make()
        build_on_zeros(model, self.features)
        if model.optimizer is not None:
            model.optimizer.build(model.trainable_variables)
        return model

    def pair_weights(self, model: keras.Model) -> _Pairs:
        """Pairs the graph's weights and slots with those of an eager copy."""
        ours, theirs = list_model_variables(self.model), list_model_variables(model)
        pairs = [(v.value, other) for v, other in zip(ours, theirs, strict=True)]
        return pairs + self._pair_optimizers(model, scalars=False)

    def pair_scalars(self, model: keras.Model) -> _Pairs:
        """Pairs the optimizer's learning rate and count of updates with those of an eager copy."""
        return self._pair_optimizers(model, scalars=True)

    def _pair_optimizers(self, model: keras.Model, *, scalars: bool) -> _Pairs:
        if self.model.optimizer is None:
            return []
        both = zip(self.model.optimizer.variables, model.optimizer.variables, strict=True)
        return [(v.value, other) for v, other in both if (v.name in _SCALARS) == scalars]


def observe(observed: ObservedKeras3, logs: Logs) -> None:
    """Publishes a training to hooks.

    Args:
      observed: The model.
      logs: The logs of a step, with a value per replica under a strategy; its metrics continue
        from step to step.
    """
    model = observed.model
    results = steps.list_results(model)
    step_logs = None
    if not tf.distribute.has_strategy():
        with tf.control_dependencies(list(logs.values())):
            own = {name: value for name, value in logs.items() if name not in results}
            step_logs = {**steps.list_results(model), **own}
    publish(observed, results, step_logs, [v.value for v in model.metrics_variables])
