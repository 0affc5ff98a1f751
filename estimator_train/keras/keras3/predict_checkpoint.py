"""Predicts with a Keras 3 model in a graph, with the variables of a checkpoint."""

from collections.abc import Mapping

import keras
import numpy as np
import tensorflow as tf

from estimator_train.keras.checkpoints.saved_variables import SavedVariables
from estimator_train.keras.graph.structures import Structure
from estimator_train.keras.keras3 import steps
from estimator_train.keras.keras3.blueprint import Blueprint, list_model_variables
from estimator_train.keras.keras3.graph_model import build_model


def predict_checkpoint(
    model: keras.Model, x: Structure, saved: SavedVariables, names: Mapping[str, str]
) -> list[np.ndarray]:
    """Returns the outputs of a model for one batch.

    Args:
      model: The eager model. It does not change.
      x: Arrays, as the model takes them.
      saved: The variables of the checkpoint.
      names: Maps names of the model's variables to names in the checkpoint.
    """
    blueprint = Blueprint(model)
    with tf.Graph().as_default():
        x = tf.nest.map_structure(tf.constant, x)
        built = build_model(
            blueprint,
            lambda made: steps.make_variables(made, made.predict_step, (x,)),
            is_trained=False,
        )
        outputs = tf.nest.flatten(steps.predict_step(built.model, x))
        variables = [variable.value for variable in list_model_variables(built.model)]
        saver = tf.compat.v1.train.Saver(
            {saved.keys[names[v.op.name]]: v for v in variables if v.op.name in names}
        )
        initializers = [
            tf.compat.v1.global_variables_initializer(),
            tf.compat.v1.local_variables_initializer(),
            tf.compat.v1.tables_initializer(),
        ]
        with tf.compat.v1.Session() as session:
            session.run(initializers, built.feeds)
            saver.restore(session, saved.path)
            return session.run(outputs)
