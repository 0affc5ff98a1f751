"""Canned estimators: complete models on feature columns. `v1` has their v1 forms."""

from estimator_train.canned.column_kinds import (
    classifier_parse_example_spec,
    regressor_parse_example_spec,
)
from estimator_train.canned.dnn import (
    DNNClassifier,
    DNNEstimator,
    DNNLinearCombinedClassifier,
    DNNLinearCombinedEstimator,
    DNNLinearCombinedRegressor,
    DNNRegressor,
)
from estimator_train.canned.linear import (
    BaselineClassifier,
    BaselineEstimator,
    BaselineRegressor,
    LinearClassifier,
    LinearEstimator,
    LinearRegressor,
)

__all__ = [
    "BaselineClassifier",
    "BaselineEstimator",
    "BaselineRegressor",
    "DNNClassifier",
    "DNNEstimator",
    "DNNLinearCombinedClassifier",
    "DNNLinearCombinedEstimator",
    "DNNLinearCombinedRegressor",
    "DNNRegressor",
    "LinearClassifier",
    "LinearEstimator",
    "LinearRegressor",
    "classifier_parse_example_spec",
    "regressor_parse_example_spec",
]
