"""Lets Keras models accept input shapes that they accepted before TensorFlow 2.4."""

import importlib
from typing import Any


def accept_other_shapes() -> None:
    """Lets calls of functional Keras models pass inputs whose shapes differ from the declared ones.

    The change holds for the process. `fit`, `evaluate` and `predict` still check the shapes.
    """
    functional = importlib.import_module("tf_keras.src.engine.functional").Functional
    original = functional.input_spec
    functional.input_spec = property(
        lambda model: getattr(model, "_manual_input_spec", None), original.fset
    )


def __getattr__(name: str) -> Any:
    """Returns the class for `keras.engine.network.Network`.

    A program that imports it was written before TensorFlow 2.4.
    """
    if name != "Network":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    accept_other_shapes()
    return importlib.import_module("tf_keras").Model
