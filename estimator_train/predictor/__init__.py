"""Predictors, which keep a model in memory and predict batch after batch.

`estimator.predictor()` opens the model of an Estimator; `from_saved_model` opens an exported model.
The names are those of `tf.contrib.predictor`.
"""

from estimator_train.predictor.base import Predictor
from estimator_train.predictor.live import EstimatorPredictor, from_estimator
from estimator_train.predictor.saved_model import from_saved_model

from_contrib_estimator = from_estimator

__all__ = [
    "EstimatorPredictor",
    "Predictor",
    "from_contrib_estimator",
    "from_estimator",
    "from_saved_model",
]
