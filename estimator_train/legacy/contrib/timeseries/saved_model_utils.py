"""Filtering and prediction by an exported model of time series."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_train.legacy.contrib.timeseries.feature_keys import (
    FilteringResults,
    PredictionResults,
    SavedModelLabels,
    State,
)
from estimator_train.legacy.contrib.timeseries.input_pipeline import continuation
from estimator_train.legacy.contrib.timeseries.serving import state_names


def predict_continuation(
    continue_from: Mapping[str, Any],
    signatures: Any,
    session: Any,
    steps: int | None = None,
    times: Any = None,
    exogenous_features: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Predictions after the times that were filtered.

    Args:
      continue_from: What `Estimator.evaluate`, `cold_start_filter` or `filter_continuation`
        returned.
      signatures: What `tf.saved_model.loader.load` returned.
      session: The session that it loaded the model into.
      steps: How many times are predicted.
      times: Instead of steps: the times, [number of series, window] or [window].
      exogenous_features: Arrays [number of series, window, ...].

    Returns:
      Names to arrays [number of series, window, ...].
    """
    features = continuation(continue_from, steps, times, exogenous_features)
    features |= _state_of(continue_from)
    results = _run(SavedModelLabels.PREDICT, signatures, session, features)
    return {**results, PredictionResults.TIMES: features[PredictionResults.TIMES]}


def cold_start_filter(signatures: Any, session: Any, features: Mapping[str, Any]) -> dict[str, Any]:
    """The state after observations, beginning with the model's start state.

    Args:
      signatures: What `tf.saved_model.loader.load` returned.
      session: The session that it loaded the model into.
      features: Times, values and exogenous features of a window, or of several.

    Returns:
      The state and times, from which to continue.
    """
    return _filtered(SavedModelLabels.COLD_START_FILTER, signatures, session, features)


def filter_continuation(
    continue_from: Mapping[str, Any], signatures: Any, session: Any, features: Mapping[str, Any]
) -> dict[str, Any]:
    """The state after further observations, whose features are given.

    continue_from is as for `predict_continuation`, all else as for `cold_start_filter`.
    """
    given = {**features, **_state_of(continue_from)}
    return _filtered(SavedModelLabels.FILTER, signatures, session, given)


def _state_of(results: Mapping[str, Any]) -> dict[str, Any]:
    if FilteringResults.STATE_TUPLE in results:
        parts = tf.nest.flatten(results[FilteringResults.STATE_TUPLE])
        return dict(zip(state_names(parts), parts, strict=True))
    return {name: value for name, value in results.items() if name.startswith(State.STATE_PREFIX)}


def _filtered(
    label: str, signatures: Any, session: Any, features: Mapping[str, Any]
) -> dict[str, Any]:
    one = np.ndim(features[FilteringResults.TIMES]) == 1
    given = {
        name: np.asarray(values)[None]
        if one and not name.startswith(State.STATE_PREFIX)
        else values
        for name, values in features.items()
    }
    results = _run(label, signatures, session, given)
    return {**results, FilteringResults.TIMES: given[FilteringResults.TIMES]}


def _run(label: str, signatures: Any, session: Any, features: Mapping[str, Any]) -> dict[str, Any]:
    """Runs a signature with the features that it takes, each in the shape that it takes."""
    signature = signatures.signature_def[label]
    fed = {}
    for name, tensor in signature.inputs.items():
        if name in features:
            value, rank = np.asarray(features[name]), len(tensor.tensor_shape.dim)
            fed[tensor.name] = value[..., None] if value.ndim == rank - 1 else value
    fetched = {name: tensor.name for name, tensor in signature.outputs.items()}
    return session.run(fetched, fed)
