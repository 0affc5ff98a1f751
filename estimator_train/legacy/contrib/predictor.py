"""Stand-in for `tf.contrib.predictor`: models that stay in memory."""

import os
from collections.abc import Iterable, Mapping

import tensorflow as tf
from google.protobuf.message import Message

from estimator_train.predictor import (
    Predictor as Predictor,
    from_contrib_estimator as from_contrib_estimator,
    from_estimator as from_estimator,
)
from estimator_train.predictor.saved_model import get_signature, open_saved_model

_LOG = tf.get_logger()


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
