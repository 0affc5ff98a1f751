"""`tf.contrib.saved_model`: Keras models as SavedModels."""

import os
import time
from typing import Any

import tf_keras

__all__ = ["load_keras_model", "save_keras_model"]


def save_keras_model(
    model: Any,
    saved_model_path: str,
    custom_objects: Any = None,
    as_text: bool = False,
    input_signature: Any = None,
    serving_only: bool = False,
) -> bytes:
    """Saves a model into a new time-stamped directory.

    Args:
      model: A Keras model.
      saved_model_path: Where that directory is made.
      custom_objects: Not needed any more.
      as_text: Not supported any more; the form is binary.
      input_signature: Not needed any more.
      serving_only: Leave out what training needs.

    Returns:
      The path of the directory, as bytes.
    """
    del custom_objects, as_text, input_signature
    path = os.path.join(saved_model_path, str(int(time.time())))
    tf_keras.models.save_model(model, path, include_optimizer=not serving_only, save_format="tf")
    return os.fsencode(path)


def load_keras_model(saved_model_path: str | bytes, custom_objects: Any = None) -> Any:
    """Loads a model that `save_keras_model` wrote.

    Args:
      saved_model_path: The path that it returned.
      custom_objects: Names to the classes and functions of one's own that the model has.
    """
    return tf_keras.models.load_model(os.fsdecode(saved_model_path), custom_objects)
