"""A Keras 3 model in the default graph, with all its variables."""

import contextlib
import dataclasses
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

import keras
import numpy as np
import tensorflow as tf

from estimator_train.keras.graph.initial_weights import InitialValues
from estimator_train.keras.keras3.blueprint import Blueprint, list_model_variables
from estimator_train.keras.keras3.keras_internals import isolate_state
from estimator_train.keras.keras3.variable_names import VariableNames

# What `train_step` takes, (x,), (x, y) or (x, y, sample_weight), and what it returns.
Data: TypeAlias = Any
Logs: TypeAlias = dict[str, tf.Tensor]


@dataclasses.dataclass(frozen=True)
class GraphModel:
    """A Keras 3 model in the default graph.

    Attributes:
      model: The model.
      feeds: Feed_dict that initializes it with the values of the user's model.
    """

    model: keras.Model
    feeds: dict[tf.Tensor, np.ndarray]


def build_model(
    blueprint: Blueprint, first_call: Callable[[keras.Model], object], *, is_trained: bool
) -> GraphModel:
    """Makes a model with all its variables in the default graph.

    Args:
      blueprint: Makes the model.
      first_call: Makes the variables that layers and metrics make in their first calls.
      is_trained: Whether checkpoints have the variables of the optimizer.
    """
    values = InitialValues()
    with values.record_variables(), name_keras_variables(blueprint):
        model = blueprint.make()
        first_call(model)
        if is_trained and model.optimizer is not None and not model.optimizer.built:
            model.optimizer.build(model.trainable_variables)
    feeds = {}
    if blueprint.fits(model):
        variables = [variable.value for variable in list_model_variables(model)]
        feeds = values.make_feeds(variables, blueprint.values)
    unsaved = list(model.metrics_variables)
    if not is_trained and model.optimizer is not None:
        unsaved += model.optimizer.variables
    _make_local(variable.value for variable in unsaved)
    return GraphModel(model, feeds)


@contextlib.contextmanager
def name_keras_variables(blueprint: Blueprint) -> Iterator[None]:
    """Names the variables that Keras creates inside this context.

    Other creators of variables get these names in contexts that enclose this one.
    """
    names = VariableNames(blueprint.model if blueprint.has_given_names else None)
    with isolate_state(), tf.variable_creator_scope(names.creator):
        yield


def _make_local(variables: Iterable[tf.Variable]) -> None:
    """Makes variables local: sessions initialize them, and checkpoints do not have them."""
    keys = tf.compat.v1.GraphKeys
    saved = tf.compat.v1.get_collection_ref(keys.GLOBAL_VARIABLES)
    for variable in variables:
        parts = [variable, *tf.distribute.get_strategy().experimental_local_results(variable)]
        saved[:] = [other for other in saved if all(other is not part for part in parts)]
        tf.compat.v1.add_to_collection(keys.LOCAL_VARIABLES, variable)
        tf.compat.v1.add_to_collection(keys.METRIC_VARIABLES, variable)
