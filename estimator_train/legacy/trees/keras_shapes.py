"""Shapes of inputs that Keras models took before TensorFlow 2.4."""

import importlib
from typing import Any


def take_others() -> None:
    """Lets Keras models of declared inputs be called with inputs of other shapes, once and for all.

    `fit` and its like compare arrays with the declared shapes all the same.
    """
    functional = importlib.import_module("tf_keras.src.engine.functional").Functional
    own = functional.input_spec
    functional.input_spec = property(
        lambda model: getattr(model, "_manual_input_spec", None), own.fset
    )


def __getattr__(name: str) -> Any:
    """What `keras.engine.network.Network` is now: who asks for it was written for such models."""
    if name != "Network":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    take_others()
    return importlib.import_module("tf_keras").Model
