"""Stand-in for `tf.contrib.learn`: RunConfig, Experiment, learn_runner and estimators of 2017."""

from types import SimpleNamespace

import estimator_train.compat.v1 as v1
from estimator_train.legacy.contrib.learn import datasets, monitors as monitors, preprocessing
from estimator_train.legacy.contrib.learn.arrays import (
    SKCompat,
    infer_real_valued_columns_from_input,
    infer_real_valued_columns_from_input_fn,
)
from estimator_train.legacy.contrib.learn.canned import (
    DNNClassifier,
    DNNRegressor,
    LinearClassifier,
    LinearRegressor,
)
from estimator_train.legacy.contrib.learn.combined import (
    DNNLinearCombinedClassifier,
    DNNLinearCombinedRegressor,
)
from estimator_train.legacy.contrib.learn.estimators import (
    DNNEstimator,
    Estimator,
    NotFittedError,
)
from estimator_train.legacy.contrib.learn.experiment import Experiment, make_export_strategy, run
from estimator_train.legacy.contrib.learn.keys import ModeKeys, PredictionKey, ProblemType
from estimator_train.legacy.contrib.learn.kmeans import KMeansClustering
from estimator_train.legacy.contrib.learn.model_fns import MetricSpec, ModelFnOps
from estimator_train.legacy.contrib.learn.run_config import RunConfig

__all__ = [
    "DNNClassifier",
    "DNNEstimator",
    "DNNLinearCombinedClassifier",
    "DNNLinearCombinedRegressor",
    "DNNRegressor",
    "Estimator",
    "Experiment",
    "KMeansClustering",
    "LinearClassifier",
    "LinearRegressor",
    "MetricSpec",
    "ModeKeys",
    "ModelFnOps",
    "NotFittedError",
    "PredictionKey",
    "ProblemType",
    "RunConfig",
    "SKCompat",
    "datasets",
    "infer_real_valued_columns_from_input",
    "infer_real_valued_columns_from_input_fn",
    "learn_runner",
    "make_export_strategy",
    "monitors",
    "preprocessing",
]

learn_runner = SimpleNamespace(run=run)
saved_model_export_utils = SimpleNamespace(make_export_strategy=make_export_strategy)
utils = SimpleNamespace(saved_model_export_utils=saved_model_export_utils)
learn_io = io = v1.inputs
