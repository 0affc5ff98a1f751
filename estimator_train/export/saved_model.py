"""Writes a SavedModel so that it appears under its name only when it is complete."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Mapping

import tensorflow as tf

from estimator_train.estimator_spec.export_outputs import SignatureDef
from estimator_train.estimator_spec.spec import ModeKeys

EXPORT_TAGS = {
    ModeKeys.TRAIN: [tf.saved_model.TRAINING],
    ModeKeys.EVAL: ["eval"],
    ModeKeys.PREDICT: [tf.saved_model.SERVING],
}
"""The tags of a mode's graph, in the order in which the graphs of a SavedModel are written."""

_TRAIN_OP_COLLECTION = "saved_model_train_op"  # where loaders look for the op that trains


class SavedModelWriter:
    """Adds graphs to a SavedModel; made by `saved_model_writer`.

    Attributes:
      path: directory under which the SavedModel appears when it is complete.
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
        """Adds the default graph; the first one added brings the values of the variables.

        Args:
          mode: a `ModeKeys` value; it decides the tags.
          session: a session of the graph. Of the first graph its variables are saved; of
            others it is not used.
          signatures: name to SignatureDef.
          saver: saves and restores the variables; a new Saver by default.
          main_op: what a loader runs after it restored the variables: initialization of
            local variables and tables.
          train_op: what trains the graph; only of a graph that can train.
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
        if self._has_variables:
            self._builder.add_meta_graph(**arguments)
        else:
            self._builder.add_meta_graph_and_variables(session, **arguments)
            self._has_variables = True


@contextlib.contextmanager
def saved_model_writer(
    export_dir_base: str,
    *,
    assets_extra: Mapping[str, str] | None = None,
    as_text: bool = False,
    strip_default_attrs: bool = True,
) -> Iterator[SavedModelWriter]:
    """Opens a new time-stamped SavedModel for graphs to be added.

    It is written to a directory beside its own, which is renamed when the context ends well and
    removed when it does not.

    Args:
      export_dir_base: directory in which the SavedModel's directory is made.
      assets_extra: path within `assets.extra` to the file that is copied there.
      as_text: whether to write saved_model.pbtxt instead of saved_model.pb.
      strip_default_attrs: whether to leave out attributes that have their default value, so
        that older TensorFlow can load the graphs.

    Yields:
      The writer.

    Raises:
      NotFoundError: a file of `assets_extra` does not exist.
    """
    _check_assets(assets_extra or {})
    path = timestamped_export_dir(export_dir_base)
    temporary_path = temp_export_dir(path)
    try:
        writer = SavedModelWriter(path, temporary_path, strip_default_attrs)
        yield writer
        writer._builder.save(as_text)
        _copy_assets(temporary_path, assets_extra or {})
        tf.io.gfile.rename(temporary_path, path)
    except BaseException:
        if tf.io.gfile.exists(temporary_path):
            tf.io.gfile.rmtree(temporary_path)
        raise


def timestamped_export_dir(export_dir_base: str) -> str:
    """A directory named by the time in seconds that does not exist yet, nor is being written.

    Args:
      export_dir_base: the directory in which it is to be.

    Returns:
      The path. Its name is an integer greater than those of earlier exports there.
    """
    timestamp = int(time.time())
    while True:
        path = os.path.join(export_dir_base, str(timestamp))
        if not tf.io.gfile.exists(path) and not tf.io.gfile.exists(temp_export_dir(path)):
            return path
        timestamp += 1


def temp_export_dir(export_dir: str) -> str:
    """The directory beside an export's own in which it is written.

    Args:
      export_dir: the directory the export is to have.

    Returns:
      The same path with "temp-" before its last name, which is no number, so that those who
      look for the latest export pass over it.
    """
    base, name = os.path.split(export_dir)
    return os.path.join(base, f"temp-{name}")


def _check_assets(assets_extra: Mapping[str, str]) -> None:
    """Fails before the graphs are built, not after."""
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
