"""Stand-in for `tf.contrib.saved_model`: Keras models as SavedModels."""

import os
import time
from collections.abc import Mapping
from typing import Any

import tf_keras

__all__ = ["load_keras_model", "save_keras_model"]


def save_keras_model(
    model: tf_keras.Model,
    saved_model_path: str,
    custom_objects: Mapping[str, Any] | None = None,
    as_text: bool = False,
    input_signature: object = None,
    serving_only: bool = False,
) -> bytes:
    """Saves a model in a new directory named by the current time.

    Args:
      model: Keras model.
      saved_model_path: Parent of the new directory.
      custom_objects: Unused.
      as_text: Unused: SavedModels are binary.
      input_signature: Unused.
      serving_only: Whether to omit the optimizer.

    Returns:
      The path of the directory, as bytes.
    """
    del custom_objects, as_text, input_signature
    path = os.path.join(saved_model_path, str(int(time.time())))
    tf_keras.models.save_model(model, path, include_optimizer=not serving_only, save_format="tf")
    return os.fsencode(path)


def load_keras_model(
    saved_model_path: str | bytes, custom_objects: Mapping[str, Any] | None = None
) -> tf_keras.Model:
    """Loads a model that `save_keras_model` saved.

    Args:
      saved_model_path: Path that `save_keras_model` returned.
      custom_objects: Custom classes and functions of the model by name.
    """
    return tf_keras.models.load_model(os.fsdecode(saved_model_path), custom_objects)
