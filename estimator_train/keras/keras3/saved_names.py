"""The names that the variables of an eager Keras 3 model have in checkpoints."""

import keras
import tensorflow as tf

from estimator_train.keras.keras3.blueprint import Blueprint, is_layered, list_model_variables
from estimator_train.keras.keras3.graph_model import name_keras_variables
from estimator_train.keras.keras3.variable_names import VariableNames


def list_saved_names(model: keras.Model) -> tuple[list[str], list[str]]:
    """Returns the names of a model's variables, and of those of its optimizer if it is compiled.

    Makes the variables of the optimizer, if it has none.
    """
    optimizer = model.optimizer if model.compiled else None
    if optimizer is not None and not optimizer.built:
        optimizer.build(model.trainable_variables)
    if not is_layered(model):
        names = VariableNames.from_eager_model(model)
        of_model = [names.name_of(variable.path) for variable in list_model_variables(model)]
        variables = optimizer.variables if optimizer is not None else []
        return of_model, [names.name_of(variable.path) for variable in variables]
    blueprint = Blueprint(model)
    with tf.Graph().as_default(), name_keras_variables(blueprint):
        made = blueprint.make()
        variables = []
        if optimizer is not None:
            made.optimizer.build(made.trainable_variables)
            variables = made.optimizer.variables
        return _list_names_in_graph(list_model_variables(made)), _list_names_in_graph(variables)


def _list_names_in_graph(variables: list[keras.Variable]) -> list[str]:
    return [variable.value.op.name for variable in variables]
