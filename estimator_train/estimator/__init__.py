"""Estimator, with train, evaluate, predict and export."""

from estimator_train.estimator.estimator import Estimator, EstimatorV2

__all__ = ["Estimator", "EstimatorV2"]
