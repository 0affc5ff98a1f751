"""Heads: from logits to loss, metrics, predictions and export outputs."""

from estimator_train.heads.base import Head
from estimator_train.heads.binary_class import BinaryClassHead
from estimator_train.heads.keys import MetricKeys, PredictionKeys
from estimator_train.heads.multi_class import MultiClassHead
from estimator_train.heads.regression import (
    LogisticRegressionHead,
    PoissonRegressionHead,
    RegressionHead,
)

__all__ = [
    "BinaryClassHead",
    "Head",
    "LogisticRegressionHead",
    "MetricKeys",
    "MultiClassHead",
    "PoissonRegressionHead",
    "PredictionKeys",
    "RegressionHead",
]
