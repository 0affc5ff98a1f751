"""Stand-in for `tf.contrib.distributions`.

The distributions are those that TensorFlow has kept, and for other names, such as
MultivariateNormalDiag, those of the package tensorflow-probability if it is installed.
"""

import importlib
from typing import Any

import tensorflow as tf

_KEPT = tf.compat.v1.distributions
_PROBABILITY = "tensorflow_probability"


def __getattr__(name: str) -> Any:
    """Returns a distribution or function of this name."""
    if hasattr(_KEPT, name):
        return getattr(_KEPT, name)
    if name.startswith("__"):
        raise AttributeError(name)
    try:
        probability = importlib.import_module(_PROBABILITY)
    except ModuleNotFoundError:
        raise AttributeError(name) from None
    return (
        probability.bijectors if name == "bijectors" else getattr(probability.distributions, name)
    )
