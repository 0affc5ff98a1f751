"""Stand-in for `tf.contrib.distributions`.

The distributions are those that TensorFlow has kept, those built here, and for other names, such
as bijectors, those of tensorflow-probability if it is installed.
"""

import importlib
from typing import Any

import tensorflow as tf

from tf_contrib.distributions.functions import (
    fill_triangular,
    fill_triangular_inverse,
    percentile,
    reduce_weighted_logsumexp,
    softplus_inverse,
)
from tf_contrib.distributions.mixtures import (
    Independent,
    Mixture,
    MixtureSameFamily,
)
from tf_contrib.distributions.normal import (
    MultivariateNormalDiag,
    MultivariateNormalFullCovariance,
    MultivariateNormalTriL,
)
from tf_contrib.distributions.one_hot import (
    ExpRelaxedOneHotCategorical,
    OneHotCategorical,
    RelaxedOneHotCategorical,
)
from tf_contrib.distributions.shaped import Deterministic, Logistic, Poisson
from tf_contrib.distributions.transformed import TransformedDistribution

__all__ = [
    "Deterministic",
    "ExpRelaxedOneHotCategorical",
    "Independent",
    "Logistic",
    "Mixture",
    "MixtureSameFamily",
    "MultivariateNormalDiag",
    "MultivariateNormalFullCovariance",
    "MultivariateNormalTriL",
    "OneHotCategorical",
    "Poisson",
    "RelaxedOneHotCategorical",
    "TransformedDistribution",
    "fill_triangular",
    "fill_triangular_inverse",
    "percentile",
    "reduce_weighted_logsumexp",
    "softplus_inverse",
]
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
    if name == "bijectors":
        return probability.bijectors
    for module in (probability.distributions, probability.stats, probability.math):
        if hasattr(module, name):
            return getattr(module, name)
    raise AttributeError(name)
