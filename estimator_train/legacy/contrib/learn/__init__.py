"""Stand-in for `tf.contrib.learn`: RunConfig, Experiment, learn_runner and estimators of 2017."""

from estimator_train.legacy.contrib.learn import (
    datasets,
    experiment as learn_runner,
    learn_io,
    models,
    monitors as monitors,
    ops,
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
from estimator_train.legacy.contrib.learn.experiment import Experiment
from estimator_train.legacy.contrib.learn.export_strategies import (
    ExportStrategy,
    make_export_strategy,
)
from estimator_train.legacy.contrib.learn.keys import (
    ModeKeys,
    PredictionKey,
    ProblemType,
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
from estimator_train.legacy.contrib.learn.run_config import RunConfig
from estimator_train.legacy.contrib.learn.utils import InputFnOps, build_parsing_serving_input_fn

__all__ = [
    "DNNClassifier",
    "DNNEstimator",
    "DNNLinearCombinedClassifier",
    "DNNLinearCombinedRegressor",
    "DNNRegressor",
    "Estimator",
    "Experiment",
    "ExportStrategy",
    "InputFnOps",
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
    "TaskType",
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
    "ops",
    "preprocessing",
    "read_batch_examples",
    "read_batch_features",
    "read_batch_record_features",
    "read_keyed_batch_examples",
    "read_keyed_batch_examples_shared_queue",
    "read_keyed_batch_features",
    "read_keyed_batch_features_shared_queue",
    "utils",
]

io = learn_io
