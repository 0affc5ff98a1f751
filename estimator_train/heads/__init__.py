"""Heads: from logits to loss, metrics, predictions and export outputs.

`v1` has the heads of the v1 canned estimators, which sum the losses of a batch.
"""

from estimator_train.heads.base import Head
from estimator_train.heads.class_heads import BinaryClassHead, MultiClassHead
from estimator_train.heads.keys import MetricKeys, PredictionKeys
from estimator_train.heads.multi import MultiHead
from estimator_train.heads.multi_label import MultiLabelHead
from estimator_train.heads.regression import (
    LogisticRegressionHead,
    PoissonRegressionHead,
    RegressionHead,
)
from estimator_train.heads.sequential import SequentialHeadWrapper

__all__ = [
    "BinaryClassHead",
    "Head",
    "LogisticRegressionHead",
    "MetricKeys",
    "MultiClassHead",
    "MultiHead",
    "MultiLabelHead",
    "PoissonRegressionHead",
    "PredictionKeys",
    "RegressionHead",
    "SequentialHeadWrapper",
]
