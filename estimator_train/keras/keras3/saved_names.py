"""The names that the variables of an eager Keras 3 model have in checkpoints."""

from typing import TypeAlias

import keras
import tensorflow as tf

from estimator_train.keras.keras3.blueprint import Blueprint, is_layered, list_model_variables
from estimator_train.keras.keras3.graph_model import name_keras_variables
from estimator_train.keras.keras3.variable_names import VariableNames

Variables: TypeAlias = dict[str, keras.Variable]


def name_saved_variables(model: keras.Model) -> tuple[Variables, Variables]:
    """Maps names in checkpoints to a model's variables, and to those of its optimizer.

    Makes the variables of the optimizer, if it has none. A model that is not compiled has no
    optimizer.
    """
    optimizer = model.optimizer if model.compiled else None
    if optimizer is not None and not optimizer.built:
        optimizer.build(model.trainable_variables)
    of_model = list_model_variables(model)
    variables = [*of_model, *(optimizer.variables if optimizer is not None else [])]
    if is_layered(model):
        blueprint = Blueprint(model)
        with tf.Graph().as_default(), name_keras_variables(blueprint):
            made = blueprint.make()
            in_graph = list_model_variables(made)
            if optimizer is not None:
                made.optimizer.build(made.trainable_variables)
                in_graph += made.optimizer.variables
            names = [variable.value.op.name for variable in in_graph]
    else:
        known = VariableNames.from_eager_model(model)
        names = [known.name_of(variable.path) for variable in variables]
    named = list(zip(names, variables, strict=True))
    return dict(named[: len(of_model)]), dict(named[len(of_model) :])
