"""Writes a SavedModel atomically: its directory gets its name when it is complete."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Mapping

import tensorflow as tf

from estimator_train import remote
from estimator_train.engine.tf_internals.graph_messages import serialize_once, write_fingerprint
from estimator_train.estimator_spec.export_outputs import SignatureDef
from estimator_train.estimator_spec.spec import ModeKeys

EXPORT_TAGS = {
    ModeKeys.TRAIN: [tf.saved_model.TRAINING],
    ModeKeys.EVAL: ["eval"],
    ModeKeys.PREDICT: [tf.saved_model.SERVING],
}
"""Tags of the graph of each mode, in the order in which a SavedModel contains the graphs."""

_TRAIN_OP_COLLECTION = "saved_model_train_op"  # Loaders find the train_op in this collection.


class SavedModelWriter:
    """Writer of the graphs of a SavedModel; `open_writer` creates it.

    Attributes:
      path: Directory of the SavedModel when it is complete.
    """

    def __init__(self, path: str, temporary_path: str, strip_default_attrs: bool):
        self.path = path
        self._builder = tf.compat.v1.saved_model.Builder(temporary_path)
        self._strip_default_attrs = strip_default_attrs
        self._has_variables = False

    def add(
        self,
        mode: str,
        session: tf.compat.v1.Session,
        signatures: Mapping[str, SignatureDef],
        *,
        saver: tf.compat.v1.train.Saver | None = None,
        main_op: tf.Operation | None = None,
        train_op: tf.Operation | tf.Tensor | None = None,
    ) -> None:
        """Adds the default graph, and saves the variables if this is the first graph.

        Args:
          mode: A `ModeKeys` value, which determines the tags.
          session: A session of the graph. Only the session of the first graph is used, to save
            the variables.
          signatures: Maps names to SignatureDefs.
          saver: Saver of the variables; a new Saver by default.
          main_op: Operation that a loader runs after restoring the variables, to initialize local
            variables and tables.
          train_op: Operation that runs a training step, if the graph can train.
        """
        if train_op is not None:
            tf.compat.v1.add_to_collection(_TRAIN_OP_COLLECTION, train_op)
        arguments = {
            "tags": EXPORT_TAGS[mode],
            "signature_def_map": dict(signatures),
            "assets_collection": tf.compat.v1.get_collection(
                tf.compat.v1.GraphKeys.ASSET_FILEPATHS
            ),
            "main_op": main_op,
            "saver": saver,
            "strip_default_attrs": self._strip_default_attrs,
        }
        with serialize_once(tf.compat.v1.get_default_graph()):
            if self._has_variables:
                self._builder.add_meta_graph(**arguments)
            else:
                self._builder.add_meta_graph_and_variables(session, **arguments)
                self._has_variables = True


@contextlib.contextmanager
def open_writer(
    export_dir_base: str,
    *,
    assets_extra: Mapping[str, str] | None = None,
    as_text: bool = False,
    strip_default_attrs: bool = True,
) -> Iterator[SavedModelWriter]:
    """Opens a new time-stamped SavedModel.

    The writer uses a temporary directory, which is renamed when the context ends without an error
    and removed otherwise.

    Args:
      export_dir_base: Directory in which to create the directory of the SavedModel.
      assets_extra: Maps paths in `assets.extra` to the files to copy there.
      as_text: Whether to write saved_model.pbtxt instead of saved_model.pb.
      strip_default_attrs: Whether to omit attributes with default values, so that older versions
        of TensorFlow can load the graphs.

    Yields:
      The writer.

    Raises:
      NotFoundError: A file of `assets_extra` does not exist.
    """
    _check_assets(assets_extra or {})
    if ":/" in export_dir_base:
        remote.prepare_path(export_dir_base, "export_dir_base")
    path = choose_export_dir(export_dir_base)
    with write_by_rename(path) as temporary_path:
        writer = SavedModelWriter(path, temporary_path, strip_default_attrs)
        yield writer
        writer._builder.save(as_text)
        if not as_text:
            write_fingerprint(temporary_path)
        _copy_assets(temporary_path, assets_extra or {})


@contextlib.contextmanager
def write_by_rename(export_dir: str) -> Iterator[str]:
    """Yields a temporary directory, which becomes `export_dir`, or is removed after an error."""
    temporary_dir = get_temporary_dir(export_dir)
    try:
        yield temporary_dir
        tf.io.gfile.rename(temporary_dir, export_dir)
    except BaseException:
        if tf.io.gfile.exists(temporary_dir):
            tf.io.gfile.rmtree(temporary_dir)
        raise


def choose_export_dir(export_dir_base: str) -> str:
    """Returns a directory name from the time in seconds that no other export uses.

    Args:
      export_dir_base: The directory of all exports.

    Returns:
      The path. Its last part is an integer greater than those of earlier exports.
    """
    timestamp = int(time.time())
    while True:
        path = os.path.join(export_dir_base, str(timestamp))
        if not tf.io.gfile.exists(path) and not tf.io.gfile.exists(get_temporary_dir(path)):
            return path
        timestamp += 1


def get_temporary_dir(export_dir: str) -> str:
    """Returns the temporary directory for an export.

    Args:
      export_dir: The final directory of the export.

    Returns:
      The same path with "temp-" before its last part. Programs that look for the latest export
      ignore it, because it is not a number.
    """
    base, name = os.path.split(export_dir)
    return os.path.join(base, f"temp-{name}")


def _check_assets(assets_extra: Mapping[str, str]) -> None:
    """Raises NotFoundError before the graphs are built if an asset does not exist."""
    for destination, source in assets_extra.items():
        if not tf.io.gfile.exists(source):
            raise tf.errors.NotFoundError(
                None, None, f"{source}; No such file or directory, in assets_extra[{destination!r}]"
            )


def _copy_assets(export_dir: str, assets_extra: Mapping[str, str]) -> None:
    for destination, source in assets_extra.items():
        path = os.path.join(export_dir, "assets.extra", destination)
        tf.io.gfile.makedirs(os.path.dirname(path))
        tf.io.gfile.copy(source, path)
