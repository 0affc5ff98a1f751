"""Stand-in for `tf.contrib.predictor`: models that stay in memory."""

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import tensorflow as tf
from google.protobuf.message import Message

from estimator_train.extension import (
    get_signature,
    make_output_getter,
    open_estimator,
    open_saved_model,
)
from estimator_train.predictor import EstimatorPredictor, Predictor as Predictor
from tf_contrib.learn.estimators import LearnEstimator

_LOG = tf.get_logger()


def from_estimator(
    estimator: Any,
    serving_input_receiver_fn: Callable[[], Any],
    output_key: str | None = None,
    graph: tf.Graph | None = None,
    config: tf.compat.v1.ConfigProto | None = None,
) -> EstimatorPredictor:
    """Opens an Estimator; see `estimator_train.predictor.from_estimator` for the arguments.

    As in TensorFlow 1.15, an Estimator that has not been trained predicts with initial variables.
    """
    getter = make_output_getter(output_key)
    predictor = open_estimator(estimator, serving_input_receiver_fn, getter, config)
    _warn_of_untrained(predictor, estimator)
    return predictor


def from_contrib_estimator(
    estimator: Any,
    prediction_input_fn: Callable[[], Any],
    input_alternative_key: str | None = None,
    output_alternative_key: str | None = None,
    graph: tf.Graph | None = None,
    config: tf.compat.v1.ConfigProto | None = None,
) -> EstimatorPredictor:
    """Opens an estimator of `tf.contrib.learn`.

    Args:
      estimator: The estimator; one of tf.estimator is opened by `from_estimator`.
      prediction_input_fn: Function that returns InputFnOps.
      input_alternative_key: Unused.
      output_alternative_key: Key of the output alternative to compute; required if the model has
        several.
      graph: Unused, because the model always gets a new graph.
      config: Configuration of the session; the estimator's by default.

    Raises:
      ValueError: The key is missing or unknown.
    """
    if not isinstance(estimator, LearnEstimator):
        return from_estimator(estimator, prediction_input_fn, output_alternative_key, graph, config)

    def get_outputs(spec: Any, receiver: Any) -> Any:
        alternatives = getattr(spec, "output_alternatives", None)
        return _choose(alternatives, output_alternative_key) if alternatives else spec.predictions

    predictor = open_estimator(estimator, prediction_input_fn, get_outputs, config)
    _warn_of_untrained(predictor, estimator)
    return predictor


def _choose(alternatives: Mapping[str | None, tuple[Any, Any]], key: str | None) -> Any:
    known = sorted(alternatives, key=str)
    if key is None and len(alternatives) == 1:
        ((_, outputs),) = alternatives.values()
        return outputs
    if key is None:
        raise ValueError(
            "Please specify a default_output_alternative.  Available output_alternatives are: "
            f"{known}"
        )
    if key not in alternatives:
        raise ValueError(
            f"Requested default_output_alternative: {key}, but available output_alternatives are: "
            f"{known}"
        )
    return alternatives[key][1]


def _warn_of_untrained(predictor: EstimatorPredictor, estimator: Any) -> None:
    if predictor.checkpoint_path is None:
        _LOG.warning("%s has no checkpoint: predicting with initial values.", estimator.model_dir)


def from_saved_model(
    export_dir: str | os.PathLike[str] | bytes,
    signature_def_key: str | None = None,
    signature_def: Message | None = None,
    input_names: Mapping[str, str] | None = None,
    output_names: Mapping[str, str] | None = None,
    tags: str | Iterable[str] | None = None,
    graph: tf.Graph | None = None,
    config: tf.compat.v1.ConfigProto | None = None,
) -> Predictor:
    """Opens a SavedModel; see `estimator_train.predictor.from_saved_model` for the arguments.

    As in TensorFlow 1.15, a predictor of an unknown signature has neither inputs nor outputs;
    programs use its session and graph.
    """
    return open_saved_model(
        export_dir,
        signature_def_key,
        signature_def,
        input_names,
        output_names,
        tags,
        graph,
        config,
        find_signature=_find_or_make_signature,
    )


def _find_or_make_signature(meta_graph: Message, key: str | None, export_dir: str) -> Message:
    """Returns a signature of a SavedModel, or an empty one with a warning."""
    try:
        return get_signature(meta_graph, key, export_dir)
    except ValueError as error:
        _LOG.warning("%s The predictor has neither inputs nor outputs.", error)
        return tf.compat.v1.MetaGraphDef().signature_def[""]
