"""Predictors from SavedModels."""

import os
from collections.abc import Iterable, Mapping
from typing import Any

import tensorflow as tf

from estimator_train.predictor.base import Predictor

DEFAULT_KEY = tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY


def from_saved_model(
    export_dir: str | os.PathLike[str] | bytes,
    signature_def_key: str | None = None,
    signature_def: Any = None,
    input_names: Mapping[str, str] | None = None,
    output_names: Mapping[str, str] | None = None,
    tags: str | Iterable[str] | None = None,
    graph: tf.Graph | None = None,
    config: tf.compat.v1.ConfigProto | None = None,
) -> Predictor:
    """Opens a SavedModel.

    Args:
      export_dir: Its directory, as `export_saved_model` returns it.
      signature_def_key: Which of its signatures to use; "serving_default" by default.
      signature_def: A SignatureDef to use instead of one of its own.
      input_names: Name to tensor name of the inputs, in place of a signature.
      output_names: Name to tensor name of the outputs, in place of a signature.
      tags: Tags of the graph, as one string with commas or several; "serve" by default.
      graph: The graph to load into; a new one by default.
      config: Configuration of the session.

    Returns:
      A predictor, which is also a context manager that closes it.

    Raises:
      ValueError: More than one of signature_def_key, signature_def and the names is given, only one
        kind of names, or the signature does not exist.
      OSError: There is no SavedModel, or none with these tags.
    """
    _check_one_choice(signature_def_key, signature_def, input_names, output_names)
    graph = graph or tf.Graph()
    session = tf.compat.v1.Session(graph=graph, config=config)
    try:
        with graph.as_default():
            found = _load(session, os.fsdecode(export_dir), _tags(tags))
            if input_names is None or output_names is None:
                signature = signature_def or _signature(found, signature_def_key, export_dir)
                input_names = _tensor_names(signature.inputs)
                output_names = _tensor_names(signature.outputs)
            return Predictor(session, _tensors(graph, input_names), _tensors(graph, output_names))
    except BaseException:
        session.close()
        raise


def _check_one_choice(key: Any, signature: Any, input_names: Any, output_names: Any) -> None:
    if (input_names is None) != (output_names is None):
        raise ValueError("input_names and output_names must both be specified or both be None.")
    given = [value for value in (key, signature, input_names) if value is not None]
    if len(given) > 1:
        raise ValueError(
            "You must specify at most one of signature_def_key, signature_def, or input_names and "
            f"output_names; got {len(given)} of them."
        )


def _load(session: tf.compat.v1.Session, export_dir: str, tags: list[str]) -> Any:
    if not tf.saved_model.contains_saved_model(export_dir):
        raise OSError(
            f"SavedModel file does not exist at: {export_dir}. Give the directory that "
            "`export_saved_model` returned, which holds saved_model.pb."
        )
    try:
        return tf.compat.v1.saved_model.load(session, tags, export_dir)
    except RuntimeError as error:
        raise OSError(f"{export_dir}: {error}") from error


def _tags(tags: str | Iterable[str] | None) -> list[str]:
    if tags is None:
        return [tf.saved_model.SERVING]
    return tags.split(",") if isinstance(tags, str) else list(tags)


def _signature(found: Any, key: str | None, export_dir: Any) -> Any:
    key = key or DEFAULT_KEY
    if key not in found.signature_def:
        raise ValueError(
            f'Got signature_def_key "{key}". Available signatures in {os.fsdecode(export_dir)} are '
            f"{sorted(found.signature_def)}."
        )
    return found.signature_def[key]


def _tensor_names(infos: Mapping[str, Any]) -> dict[str, str]:
    return {name: info.name for name, info in infos.items()}


def _tensors(graph: tf.Graph, names: Mapping[str, str]) -> dict[str, tf.Tensor]:
    return {name: graph.get_tensor_by_name(tensor) for name, tensor in names.items()}
