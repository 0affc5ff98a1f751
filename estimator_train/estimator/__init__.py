"""Estimator, with train, evaluate, predict and export."""

from estimator_train.estimator.estimator import Estimator, EstimatorV2, check_estimator

__all__ = ["Estimator", "EstimatorV2", "check_estimator"]
