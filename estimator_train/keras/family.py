"""Which Keras a model is of, and what Estimators ask the package of a model.

Only this module imports the packages of both families.
"""

import json
import zipfile
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeAlias

import numpy as np
import tensorflow as tf
import tf_keras

from estimator_train.engine.checkpoints.warm_start import WarmStartSettings
from estimator_train.estimator_spec import EstimatorSpec
from estimator_train.keras.build_settings import BuildSettings
from estimator_train.keras.matching import SavedVariables
from estimator_train.keras.model_io import Structure
from estimator_train.keras.tf_keras import family as tf_keras_family
from estimator_train.run_config import RunConfig

ModelFn: TypeAlias = Callable[..., EstimatorSpec]
# A model of tf_keras or of Keras 3.
Model: TypeAlias = Any


class Family(Protocol):
    """What Estimators ask the package of a model: tf_keras or Keras 3.

    The modules `tf_keras.family` and `keras3.family` implement it.
    """

    def read_compiled(
        self,
        model: Model,
        custom_objects: Mapping[str, Any] | None,
        checkpoint_format: str | None,
        **reports: Any,
    ) -> ModelFn:
        """Makes the model_fn of a compiled model."""

    def read_trained(
        self,
        model: Model,
        custom_objects: Mapping[str, Any] | None,
        checkpoint_format: str | None,
        **reports: Any,
    ) -> ModelFn:
        """Makes the model_fn that continues the training of a model by `fit`."""

    def read_built(
        self, model: Model, build: Callable[[], Model], settings: BuildSettings
    ) -> ModelFn:
        """Makes the model_fn of a model that a user's function built."""

    def write_initial_weights(self, model_fn: Any, config: RunConfig) -> WarmStartSettings | None:
        """Writes the weights for the start of training; returns settings to start from them."""

    def write_state_after_fit(self, model: Model, model_fn: Any, config: RunConfig) -> str:
        """Writes the state of a model after `fit` as a checkpoint; returns its path prefix."""

    def match_variables(
        self, model: Model, saved: SavedVariables, name_map: Mapping[str, str] | None
    ) -> dict[str, str]:
        """Maps the names of a model's variables, in its order, to names in a checkpoint."""

    def load_variables(
        self, model: Model, saved: SavedVariables, matched: Mapping[str, str]
    ) -> None:
        """Loads a checkpoint into a model, and the state of its optimizer if it is compiled."""

    def predict_checkpoint(
        self, model: Model, x: Structure, saved: SavedVariables, names: Mapping[str, str]
    ) -> list[np.ndarray]:
        """Returns the outputs of a model for one batch, with a checkpoint's variables."""


def find_family(model: object, argument: str) -> Family:
    """Returns the family of a model.

    Args:
      model: The model.
      argument: The name of the model in the error, such as the name of the argument.

    Raises:
      NotAModelError: It is not a model of tf_keras, nor of Keras 3.
    """
    if is_keras_3(model):
        # Imported here: programs of tf_keras do not wait for the import of Keras 3.
        from estimator_train.keras.keras3 import family as keras3_family

        return keras3_family
    if not isinstance(model, tf_keras.Model):
        raise NotAModelError(
            f"{argument} must be a tf_keras Model, got {model!r} of type {type(model).__name__}."
        )
    return tf_keras_family


class NotAModelError(TypeError, AttributeError):
    """Error for an object that is not a Keras model."""


def is_keras_3(model: object) -> bool:
    """Returns whether a class of Keras 3 is among the classes of an object."""
    return find_keras(model) == "keras"


def find_keras(value: object) -> str:
    """Returns the package of an object of Keras: "keras" for Keras 3, or "tf_keras"."""
    # By names: importing Keras 3 only to call isinstance would take seconds.
    packages = {cls.__module__.partition(".")[0] for cls in type(value).__mro__}
    return "keras" if "keras" in packages else "tf_keras"


def load_model_file(
    path: str,
    custom_objects: Mapping[str, Any] | None = None,
    *,
    compile: bool = True,
    safe_mode: bool = True,
) -> Any:
    """Loads a model of Keras 3 or tf_keras, as the file says.

    Args:
      path: A `.keras` or HDF5 file, or the directory of a SavedModel.
      custom_objects: Names to classes and functions that the model needs.
      compile: Whether to compile the model as it was.
      safe_mode: Whether to refuse Python code in the file.

    Raises:
      OSError: There is no model at the path.
    """
    if _is_of_keras_3(path):
        import keras as module
    else:
        module = tf_keras
    return module.models.load_model(
        path, custom_objects=dict(custom_objects or {}), compile=compile, safe_mode=safe_mode
    )


def _is_of_keras_3(path: str) -> bool:
    if tf.io.gfile.isdir(path) or not tf.io.gfile.exists(path):
        return False
    with tf.io.gfile.GFile(path, "rb") as file:
        if zipfile.is_zipfile(file):
            with zipfile.ZipFile(file) as archive:
                version = json.loads(archive.read("metadata.json"))["keras_version"]
            return str(version).startswith("3")
    return False
