"""Stand-in for `tf.contrib.timeseries`: readers, input_fns and estimators of time series.

The modules have the names under which programs import them from
`tensorflow.contrib.timeseries.python.timeseries`.
"""

from estimator_train.legacy.contrib.timeseries import saved_model_utils
from estimator_train.legacy.contrib.timeseries.ar_model import ARModel
from estimator_train.legacy.contrib.timeseries.estimators import (
    ARRegressor,
    StructuralEnsembleRegressor,
    TimeSeriesRegressor,
)
from estimator_train.legacy.contrib.timeseries.feature_keys import (
    FilteringResults,
    TrainEvalFeatures,
)
from estimator_train.legacy.contrib.timeseries.head import OneShotPredictionHead
from estimator_train.legacy.contrib.timeseries.input_pipeline import (
    CSVReader,
    NumpyReader,
    RandomWindowInputFn,
    WholeDatasetInputFn,
    predict_continuation_input_fn,
)

__all__ = [
    "ARModel",
    "ARRegressor",
    "CSVReader",
    "FilteringResults",
    "NumpyReader",
    "OneShotPredictionHead",
    "RandomWindowInputFn",
    "StructuralEnsembleRegressor",
    "TimeSeriesRegressor",
    "TrainEvalFeatures",
    "WholeDatasetInputFn",
    "predict_continuation_input_fn",
    "saved_model_utils",
]
