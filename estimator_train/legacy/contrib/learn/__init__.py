"""Stand-in for `tf.contrib.learn`: RunConfig, Experiment, learn_runner and estimators of 2017."""

import tensorflow as tf

from estimator_train.legacy.contrib.learn import (
    datasets,
    learn_io,
    models,
    monitors as monitors,
    preprocessing,
    utils,
)
from estimator_train.legacy.contrib.learn.arrays import (
    SKCompat,
    infer_real_valued_columns_from_input,
    infer_real_valued_columns_from_input_fn,
)
from estimator_train.legacy.contrib.learn.canned import (
    DNNClassifier,
    DNNEstimator,
    DNNRegressor,
    LinearClassifier,
    LinearEstimator,
    LinearRegressor,
)
from estimator_train.legacy.contrib.learn.combined import (
    DNNLinearCombinedClassifier,
    DNNLinearCombinedEstimator,
    DNNLinearCombinedRegressor,
)
from estimator_train.legacy.contrib.learn.estimators import (
    Estimator,
    LearnEstimator,
    NotFittedError,
)
from estimator_train.legacy.contrib.learn.experiments import learn_runner
from estimator_train.legacy.contrib.learn.experiments.experiment import Experiment
from estimator_train.legacy.contrib.learn.export_strategies import (
    ExportStrategy,
    make_export_strategy,
)
from estimator_train.legacy.contrib.learn.heads import Head, no_op_train_fn
from estimator_train.legacy.contrib.learn.heads.classes import (
    binary_svm_head,
    multi_class_head,
    multi_label_head,
)
from estimator_train.legacy.contrib.learn.heads.numbers import (
    poisson_regression_head,
    regression_head,
)
from estimator_train.legacy.contrib.learn.heads.several import multi_head
from estimator_train.legacy.contrib.learn.keys import (
    ModeKeys,
    PredictionKey,
    PredictionType as PredictionType,
    ProblemType,
    RNNKeys as RNNKeys,
    TaskType,
)
from estimator_train.legacy.contrib.learn.kmeans import KMeansClustering
from estimator_train.legacy.contrib.learn.learn_io import (
    extract_pandas_data,
    extract_pandas_labels,
    extract_pandas_matrix,
    read_batch_examples,
    read_batch_features,
    read_batch_record_features,
    read_keyed_batch_examples,
    read_keyed_batch_examples_shared_queue,
    read_keyed_batch_features,
    read_keyed_batch_features_shared_queue,
)
from estimator_train.legacy.contrib.learn.model_fns import MetricSpec, ModelFnOps
from estimator_train.legacy.contrib.learn.models import ops
from estimator_train.legacy.contrib.learn.rare.dynamic_rnn import DynamicRnnEstimator
from estimator_train.legacy.contrib.learn.rare.linear_sdca import SVM
from estimator_train.legacy.contrib.learn.rare.logistic import LogisticRegressor
from estimator_train.legacy.contrib.learn.run_config import (
    ClusterConfig as ClusterConfig,
    RunConfig,
)
from estimator_train.legacy.contrib.learn.utils import InputFnOps, build_parsing_serving_input_fn

__all__ = [
    "BaseEstimator",
    "DNNClassifier",
    "DNNEstimator",
    "DNNLinearCombinedClassifier",
    "DNNLinearCombinedEstimator",
    "DNNLinearCombinedRegressor",
    "DNNRegressor",
    "DynamicRnnEstimator",
    "Estimator",
    "Evaluable",
    "Experiment",
    "ExportStrategy",
    "Head",
    "InputFnOps",
    "KMeansClustering",
    "LinearClassifier",
    "LinearEstimator",
    "LinearRegressor",
    "LogisticRegressor",
    "MetricSpec",
    "ModeKeys",
    "ModelFnOps",
    "NanLossDuringTrainingError",
    "NotFittedError",
    "PredictionKey",
    "ProblemType",
    "RunConfig",
    "SKCompat",
    "SVM",
    "TaskType",
    "Trainable",
    "binary_svm_head",
    "build_parsing_serving_input_fn",
    "datasets",
    "extract_pandas_data",
    "extract_pandas_labels",
    "extract_pandas_matrix",
    "infer_real_valued_columns_from_input",
    "infer_real_valued_columns_from_input_fn",
    "learn_runner",
    "make_export_strategy",
    "models",
    "monitors",
    "multi_class_head",
    "multi_head",
    "multi_label_head",
    "no_op_train_fn",
    "ops",
    "poisson_regression_head",
    "preprocessing",
    "read_batch_examples",
    "read_batch_features",
    "read_batch_record_features",
    "read_keyed_batch_examples",
    "read_keyed_batch_examples_shared_queue",
    "read_keyed_batch_features",
    "read_keyed_batch_features_shared_queue",
    "regression_head",
    "utils",
]

BaseEstimator = LearnEstimator
# Interfaces of estimators.
Evaluable = Trainable = LearnEstimator
NanLossDuringTrainingError = tf.compat.v1.train.NanLossDuringTrainingError
io = learn_io
