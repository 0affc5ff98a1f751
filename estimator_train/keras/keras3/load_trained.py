"""Loads an Estimator's checkpoint into a Keras 3 model."""

from collections.abc import Mapping

import keras
import tensorflow as tf

from estimator_train.keras.checkpoints.matching import match_variables
from estimator_train.keras.checkpoints.saved_variables import SavedVariables
from estimator_train.keras.keras3.saved_names import Variables, name_saved_variables

_LOG = tf.get_logger()
_SEED = "/seed_generator_state"


def load_keras_3(model: keras.Model, saved: SavedVariables, matched: Mapping[str, str]) -> None:
    """Loads a checkpoint into a Keras 3 model.

    Args:
      model: The model.
      saved: The variables of the checkpoint.
      matched: The result of `match_keras_3`.
    """
    of_model, of_optimizer = name_saved_variables(model)
    for name, variable in of_model.items():
        if name in matched:
            variable.assign(saved.value(matched[name]))
    _load_optimizer(of_optimizer, saved)


def match_keras_3(
    model: keras.Model, saved: SavedVariables, name_map: Mapping[str, str] | None
) -> dict[str, str]:
    """Maps the names of a model's variables, in its order, to names in a checkpoint.

    Seeds that the checkpoint lacks are left out.

    Raises:
      ValueError: A variable is not in the checkpoint.
    """
    of_model, _ = name_saved_variables(model)
    shapes = {
        name: tuple(variable.shape)
        for name, variable in of_model.items()
        if name in saved.keys or not name.endswith(_SEED)
    }
    return match_variables(model.name, shapes, saved, name_map, {})


def _load_optimizer(variables: Variables, saved: SavedVariables) -> None:
    """Loads the optimizer's variables; warns of those that the checkpoint lacks."""
    absent = []
    for name, variable in variables.items():
        if saved.shapes.get(name) == tuple(variable.shape):
            variable.assign(saved.value(name))
        elif name.endswith("/iteration") and saved.global_step is not None:
            variable.assign(saved.global_step)
        elif not name.endswith("/learning_rate"):
            absent.append(name)
    if absent:
        _LOG.warning("%s has no optimizer state for %s.", saved.path, ", ".join(absent[:5]))
