"""Opens SavedModels as predictors."""

import os
from collections.abc import Callable, Iterable, Mapping

import tensorflow as tf
from google.protobuf.message import Message

from estimator_train.engine.tf_internals import sessions
from estimator_train.export.boosted_trees import make_runnable
from estimator_train.predictor.base import Predictor

DEFAULT_KEY = tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY


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
    """Opens a SavedModel.

    Args:
      export_dir: The directory of the SavedModel, as `export_saved_model` returns it.
      signature_def_key: Key of the signature to use; "serving_default" by default.
      signature_def: A SignatureDef that replaces those of the SavedModel.
      input_names: Maps input names to tensor names, instead of a signature.
      output_names: Maps output names to tensor names, instead of a signature.
      tags: Tags of the graph, as a sequence or a string with commas; "serve" by default.
      graph: The graph to load into; a new one by default.
      config: Configuration of the session.

    Returns:
      A predictor, which is also a context manager that closes it.

    Raises:
      ValueError: More than one of signature_def_key, signature_def and the names is given, only
        input_names or only output_names is given, or the signature does not exist.
      OSError: The directory has no SavedModel, or the SavedModel has no graph with these tags; the
        latter error is also a RuntimeError.
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
        find_signature=get_signature,
    )


def open_saved_model(
    export_dir: str | os.PathLike[str] | bytes,
    signature_def_key: str | None,
    signature_def: Message | None,
    input_names: Mapping[str, str] | None,
    output_names: Mapping[str, str] | None,
    tags: str | Iterable[str] | None,
    graph: tf.Graph | None,
    config: tf.compat.v1.ConfigProto | None,
    *,
    find_signature: Callable[[Message, str | None, str], Message],
) -> Predictor:
    """Opens a SavedModel as `from_saved_model` does.

    `find_signature` returns the signature for a MetaGraphDef, a key or None, and the directory.
    """
    _check_one_choice(signature_def_key, signature_def, input_names, output_names)
    graph = graph or tf.Graph()
    sessions.check_threads(config)
    session = tf.compat.v1.Session(graph=graph, config=config)
    try:
        with graph.as_default():
            meta_graph = _load(session, os.fsdecode(export_dir), _parse_tags(tags))
            if input_names is None or output_names is None:
                signature = signature_def or find_signature(
                    meta_graph, signature_def_key, os.fsdecode(export_dir)
                )
                input_names = _get_tensor_names(signature.inputs)
                output_names = _get_tensor_names(signature.outputs)
            inputs, outputs = _get_tensors(graph, input_names), _get_tensors(graph, output_names)
            return Predictor(session, inputs, outputs)
    except BaseException:
        session.close()
        raise


def _check_one_choice(
    key: str | None,
    signature: Message | None,
    input_names: Mapping[str, str] | None,
    output_names: Mapping[str, str] | None,
) -> None:
    if (input_names is None) != (output_names is None):
        raise ValueError("input_names and output_names must both be specified or both be None.")
    choices = [value for value in (key, signature, input_names) if value is not None]
    if len(choices) > 1:
        raise ValueError(
            "You must specify at most one of signature_def_key, signature_def, or input_names and "
            f"output_names; got {len(choices)} of them."
        )


class UnknownTagsError(OSError, RuntimeError):
    """A SavedModel has no graph with the tags."""


def _load(session: tf.compat.v1.Session, export_dir: str, tags: list[str]) -> Message:
    if not tf.saved_model.contains_saved_model(export_dir):
        raise OSError(
            f"SavedModel file does not exist at: {export_dir}. Use the directory that "
            "`export_saved_model` returned, which contains saved_model.pb."
        )
    try:
        with make_runnable(export_dir) as runnable_dir:
            return tf.compat.v1.saved_model.load(session, tags, runnable_dir)
    except RuntimeError as error:
        raise UnknownTagsError(f"{export_dir}: {error}") from error


def _parse_tags(tags: str | Iterable[str] | None) -> list[str]:
    if not tags:
        return [tf.saved_model.SERVING]
    return tags.split(",") if isinstance(tags, str) else list(tags)


def get_signature(meta_graph: Message, key: str | None, export_dir: str) -> Message:
    """Returns a signature of a SavedModel, by default "serving_default".

    Raises:
      ValueError: There is no such signature.
    """
    key = key or DEFAULT_KEY
    if key not in meta_graph.signature_def:
        raise ValueError(
            f'Got signature_def_key "{key}". Available signatures in {export_dir} are '
            f"{sorted(meta_graph.signature_def)}. signature_def_key chooses one of them."
        )
    return meta_graph.signature_def[key]


def _get_tensor_names(infos: Mapping[str, Message]) -> dict[str, str]:
    return {name: info.name for name, info in infos.items()}


def _get_tensors(graph: tf.Graph, names: Mapping[str, str]) -> dict[str, tf.Tensor]:
    return {name: graph.get_tensor_by_name(tensor) for name, tensor in names.items()}
