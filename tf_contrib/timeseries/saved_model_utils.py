"""Filtering and prediction with an exported time series model."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from tf_contrib._types import Session, TensorLike
from tf_contrib.timeseries.feature_keys import (
    FilteringResults,
    PredictionResults,
    SavedModelLabels,
    State,
)
from tf_contrib.timeseries.input_pipeline import create_continuation
from tf_contrib.timeseries.serving import get_state_names


def predict_continuation(
    continue_from: Mapping[str, Any],
    signatures: tf.compat.v1.MetaGraphDef,
    session: Session,
    steps: int | None = None,
    times: TensorLike | None = None,
    exogenous_features: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Predicts the values after filtered times.

    Args:
      continue_from: Result of `Estimator.evaluate`, `cold_start_filter` or `filter_continuation`.
      signatures: Result of `tf.saved_model.loader.load`.
      session: Session with the loaded model.
      steps: Number of times to predict.
      times: Times to predict, instead of steps: [num_series, window] or [window].
      exogenous_features: Arrays [num_series, window, ...].

    Returns:
      Arrays [num_series, window, ...] by name.
    """
    features = create_continuation(continue_from, steps, times, exogenous_features)
    features |= _get_state(continue_from)
    results = _run(SavedModelLabels.PREDICT, signatures, session, features)
    return {**results, PredictionResults.TIMES: features[PredictionResults.TIMES]}


def cold_start_filter(
    signatures: tf.compat.v1.MetaGraphDef, session: Session, features: Mapping[str, Any]
) -> dict[str, Any]:
    """Computes the state after observations from the start state of the model.

    Args:
      signatures: Result of `tf.saved_model.loader.load`.
      session: Session with the loaded model.
      features: Times, values and exogenous features of one window or several.

    Returns:
      The state and the times, from which to continue.
    """
    return _filter(SavedModelLabels.COLD_START_FILTER, signatures, session, features)


def filter_continuation(
    continue_from: Mapping[str, Any],
    signatures: tf.compat.v1.MetaGraphDef,
    session: Session,
    features: Mapping[str, Any],
) -> dict[str, Any]:
    """Computes the state after further observations.

    Args:
      continue_from: Earlier result, as for `predict_continuation`.
      signatures: Result of `tf.saved_model.loader.load`.
      session: Session with the loaded model.
      features: Times, values and exogenous features of one window or several.

    Returns:
      The state and the times, from which to continue.
    """
    batched_features = {**features, **_get_state(continue_from)}
    return _filter(SavedModelLabels.FILTER, signatures, session, batched_features)


def _get_state(results: Mapping[str, Any]) -> dict[str, Any]:
    if FilteringResults.STATE_TUPLE in results:
        parts = tf.nest.flatten(results[FilteringResults.STATE_TUPLE])
        return dict(zip(get_state_names(parts), parts, strict=True))
    return {name: value for name, value in results.items() if name.startswith(State.STATE_PREFIX)}


def _filter(
    label: str, signatures: tf.compat.v1.MetaGraphDef, session: Session, features: Mapping[str, Any]
) -> dict[str, Any]:
    is_single_series = np.ndim(features[FilteringResults.TIMES]) == 1
    batched_features = {
        name: np.asarray(values)[None]
        if is_single_series and not name.startswith(State.STATE_PREFIX)
        else values
        for name, values in features.items()
    }
    results = _run(label, signatures, session, batched_features)
    return {**results, FilteringResults.TIMES: batched_features[FilteringResults.TIMES]}


def _run(
    label: str, signatures: tf.compat.v1.MetaGraphDef, session: Session, features: Mapping[str, Any]
) -> dict[str, Any]:
    """Runs a signature with its input features, reshaped to the ranks of the inputs."""
    signature = signatures.signature_def[label]
    feeds = {}
    for name, tensor in signature.inputs.items():
        if name in features:
            value, rank = np.asarray(features[name]), len(tensor.tensor_shape.dim)
            feeds[tensor.name] = value[..., None] if value.ndim == rank - 1 else value
    fetches = {name: tensor.name for name, tensor in signature.outputs.items()}
    return session.run(fetches, feeds)
