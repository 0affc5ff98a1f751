"""Stand-in for `tf.contrib.timeseries`: readers, input_fns and estimators of time series.

The modules have the names under which programs import them from
`tensorflow.contrib.timeseries.python.timeseries`.
"""

from tf_contrib.timeseries import saved_model_utils
from tf_contrib.timeseries.ar_model import ARModel
from tf_contrib.timeseries.estimators import (
    ARRegressor,
    StructuralEnsembleRegressor,
    TimeSeriesRegressor,
)
from tf_contrib.timeseries.feature_keys import (
    FilteringResults,
    TrainEvalFeatures,
)
from tf_contrib.timeseries.head import OneShotPredictionHead
from tf_contrib.timeseries.input_pipeline import (
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
