"""Gradient boosted decision trees, grown layer by layer in the graph."""

from estimator_train.canned.boosted_trees.estimators import (
    BoostedTreesClassifier,
    BoostedTreesEstimator,
    BoostedTreesRegressor,
)

__all__ = ["BoostedTreesClassifier", "BoostedTreesEstimator", "BoostedTreesRegressor"]
