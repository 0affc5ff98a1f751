"""Stand-in for `tf.contrib.learn`: RunConfig, Experiment, learn_runner and estimators of 2017."""

import tensorflow as tf

from tf_contrib.learn import (
    datasets,
    learn_io,
    models,
    monitors as monitors,
    preprocessing,
    utils,
)
from tf_contrib.learn.arrays import (
    SKCompat,
    infer_real_valued_columns_from_input,
    infer_real_valued_columns_from_input_fn,
)
from tf_contrib.learn.canned import (
    DNNClassifier,
    DNNEstimator,
    DNNRegressor,
    LinearClassifier,
    LinearEstimator,
    LinearRegressor,
)
from tf_contrib.learn.combined import (
    DNNLinearCombinedClassifier,
    DNNLinearCombinedEstimator,
    DNNLinearCombinedRegressor,
)
from tf_contrib.learn.estimators import (
    Estimator,
    LearnEstimator,
    NotFittedError,
)
from tf_contrib.learn.experiments import learn_runner
from tf_contrib.learn.experiments.experiment import Experiment
from tf_contrib.learn.export_strategies import (
    ExportStrategy,
    make_export_strategy,
)
from tf_contrib.learn.heads import Head, no_op_train_fn
from tf_contrib.learn.heads.classes import (
    binary_svm_head,
    multi_class_head,
    multi_label_head,
)
from tf_contrib.learn.heads.numbers import (
    poisson_regression_head,
    regression_head,
)
from tf_contrib.learn.heads.several import multi_head
from tf_contrib.learn.keys import (
    ModeKeys,
    PredictionKey,
    PredictionType as PredictionType,
    ProblemType,
    RNNKeys as RNNKeys,
    TaskType,
)
from tf_contrib.learn.kmeans import KMeansClustering
from tf_contrib.learn.learn_io import (
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
from tf_contrib.learn.model_fns import MetricSpec, ModelFnOps
from tf_contrib.learn.models import ops
from tf_contrib.learn.run_config import (
    ClusterConfig as ClusterConfig,
    RunConfig,
)
from tf_contrib.learn.svm_logistic_rnn.dynamic_rnn import DynamicRnnEstimator
from tf_contrib.learn.svm_logistic_rnn.linear_sdca import SVM
from tf_contrib.learn.svm_logistic_rnn.logistic import LogisticRegressor
from tf_contrib.learn.utils import InputFnOps, build_parsing_serving_input_fn

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
