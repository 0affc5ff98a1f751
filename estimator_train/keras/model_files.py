"""Loads models that `Model.save` wrote, by the Keras that wrote them."""

import json
import zipfile
from collections.abc import Mapping
from typing import Any

import tensorflow as tf
import tf_keras


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
