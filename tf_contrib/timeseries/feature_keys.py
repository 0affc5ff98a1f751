"""Names of features, states and results of time series."""


class State:
    """Names of the state of a model, and of its parts in an exported model."""

    STATE_TUPLE = "start_tuple"
    STATE_PREFIX = "model_state"


class Times:
    """Name of the times."""

    TIMES = "times"


class Values:
    """Name of the values."""

    VALUES = "values"


class TrainEvalFeatures(Times, Values):
    """Features of training and evaluation."""


class PredictionFeatures(Times, State):
    """Features of prediction."""


class FilteringFeatures(Times, Values, State):
    """Features that update a state with later observations."""


class PredictionResults(Times):
    """Results of prediction."""


class FilteringResults(Times, State):
    """Results of evaluation, from which prediction continues."""


class SavedModelLabels:
    """Names of the signatures of an exported model."""

    PREDICT = "serving_default"
    FILTER = "filter"
    COLD_START_FILTER = "cold_start_filter"
