"""Exports a checkpoint as a SavedModel with a graph for each mode.

The directory gets its name when it is complete.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
import traceback
from collections.abc import Callable, Collection, Iterator, Mapping

import tensorflow as tf

from estimator_train import remote
from estimator_train.engine.checkpoints import warm_start
from estimator_train.engine.checkpoints.reading import (
    retry_on_deleted_checkpoint,
    warn_of_reordered_crosses,
)
from estimator_train.engine.graph.step_graph import call_model_fn, open_model_graph
from estimator_train.engine.job import Job
from estimator_train.engine.sessions.restore import prepare_restore
from estimator_train.engine.sessions.session import make_session_config
from estimator_train.engine.tf_internals import saver_entries, sessions
from estimator_train.engine.tf_internals.graphs import serialize_once, write_fingerprint
from estimator_train.estimator_spec import ModeKeys
from estimator_train.estimator_spec.export_outputs import SignatureDef
from estimator_train.export.receivers import ReceiverFn
from estimator_train.export.signatures import make_signatures

EXPORT_TAGS = {
    ModeKeys.TRAIN: [tf.saved_model.TRAINING],
    ModeKeys.EVAL: ["eval"],
    ModeKeys.PREDICT: [tf.saved_model.SERVING],
}
"""Tags of the graph of each mode, in the order in which a SavedModel contains the graphs."""

TIMESTAMP = re.compile(r"\d{10}")
"""Pattern of the name of an export: the time in seconds."""

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
      InvalidArgumentError: A file of `assets_extra` is a directory.
      AlreadyExistsError: A path of `assets_extra` is a directory, or is given twice.
    """
    _check_assets(assets_extra or {})
    if ":/" in export_dir_base:
        remote.prepare_path(export_dir_base, "export_dir_base")
    path = _claim_export_dir(export_dir_base)
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
    # Servers take the greatest number, also where another machine's clock was ahead.
    timestamp = max([int(time.time()), *(int(name) + 1 for name in list_exports(export_dir_base))])
    while True:
        path = os.path.join(export_dir_base, str(timestamp))
        if not tf.io.gfile.exists(path) and not tf.io.gfile.exists(get_temporary_dir(path)):
            return path
        timestamp += 1


def list_exports(export_path: str) -> list[str]:
    """Returns the names of the time-stamped exports in a directory, the oldest first."""
    return [name for name in list_names(export_path) if TIMESTAMP.fullmatch(name)]


def list_names(directory: str) -> list[str]:
    """Returns the sorted names in a directory; none if there is no directory."""
    if not tf.io.gfile.isdir(directory):
        return []
    return sorted(name.rstrip("/") for name in tf.io.gfile.listdir(directory))


def _claim_export_dir(export_dir_base: str) -> str:
    """Chooses a directory and creates its temporary one, which another export then leaves alone."""
    if "://" in export_dir_base:  # Such storages have no operation that fails if it exists.
        return choose_export_dir(export_dir_base)
    os.makedirs(export_dir_base, exist_ok=True)
    while True:
        path = choose_export_dir(export_dir_base)
        try:
            os.mkdir(get_temporary_dir(path))  # gfile.mkdir accepts an existing directory.
        except FileExistsError:
            continue
        if not os.path.exists(path):
            return path
        os.rmdir(get_temporary_dir(path))  # The other export has ended in between.


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
    """Checks extra assets before the graphs are built.

    Args:
      assets_extra: Maps paths in `assets.extra` to the files to copy there.

    Raises:
      NotFoundError: A file does not exist.
      InvalidArgumentError: A file is a directory.
      AlreadyExistsError: A path is a directory, or is given twice.
    """
    targets: set[str] = set()
    for destination, source in assets_extra.items():
        place = f"assets_extra[{destination!r}]"
        if not tf.io.gfile.exists(source):
            raise tf.errors.NotFoundError(
                None, None, f"{source}; No such file or directory, in {place}"
            )
        if tf.io.gfile.isdir(source):
            raise tf.errors.InvalidArgumentError(
                None, None, f"{source} is a directory, in {place}; give each of its files."
            )
        name = os.fsdecode(destination)
        target = os.path.normpath(name)
        if name.endswith("/") or target == os.curdir or target in targets:
            raise tf.errors.AlreadyExistsError(
                None, None, f"{place} is no path of a new file in assets.extra; give another one."
            )
        targets.add(target)


def _copy_assets(export_dir: str, assets_extra: Mapping[str, str]) -> None:
    """Copies extra assets into the directory of a SavedModel."""
    for destination, source in assets_extra.items():
        path = os.path.join(export_dir, "assets.extra", os.fsdecode(destination))
        tf.io.gfile.makedirs(os.path.dirname(path))
        tf.io.gfile.copy(source, path)


def export(
    job: Job,
    export_dir_base: str,
    input_receiver_fn_map: Mapping[str, ReceiverFn | None],
    *,
    latest_checkpoint: Callable[[], str | None],
    assets_extra: Mapping[str, str] | None = None,
    as_text: bool = False,
    checkpoint_path: str | bytes | os.PathLike[str] | None = None,
    strip_default_attrs: bool = True,
    outputs: Collection[str] | None = None,
) -> bytes:
    """Writes a SavedModel of a checkpoint.

    Args:
      job: The call of the Estimator.
      export_dir_base: The directory in which to create the time-stamped export directory.
      input_receiver_fn_map: Maps modes to functions that return a receiver; modes with None are
        not exported.
      latest_checkpoint: Function that returns the latest checkpoint, or None.
      assets_extra: Maps paths in `assets.extra` to the files to copy there.
      as_text: Whether to write the graph as text.
      checkpoint_path: The checkpoint; by default the latest in model_dir or, before any training,
        the one to warm-start from.
      strip_default_attrs: Whether to omit attributes with default values.
      outputs: Names of predictions for the only signature; None for all export_outputs.

    Returns:
      The path of the SavedModel, as bytes.

    Raises:
      ValueError: There is no checkpoint, or no mode to export.
    """
    receiver_fns = {mode: input_receiver_fn_map.get(mode) for mode in EXPORT_TAGS}
    if not any(receiver_fns.values()):
        raise ValueError(
            f"No valid modes for exporting found. Got {input_receiver_fn_map.keys()}. Valid are "
            f"{list(EXPORT_TAGS)}."
        )

    def export_from(path: str | None) -> bytes:
        # Before any training, the only model is the one to warm-start from.
        path = path or warm_start.find_source(job.warm_start)
        if not path:
            raise ValueError(f"Couldn't find trained model at {job.model_dir}.")
        with open_writer(
            export_dir_base,
            assets_extra=assets_extra,
            as_text=as_text,
            strip_default_attrs=strip_default_attrs,
        ) as writer:
            for mode, receiver_fn in receiver_fns.items():
                if receiver_fn:
                    _add_mode(job, writer, mode, receiver_fn, path, outputs)
        return writer.path.encode()

    if checkpoint_path:
        return export_from(os.fsdecode(checkpoint_path))
    return retry_on_deleted_checkpoint(job.model_dir, export_from, latest_checkpoint())


def _add_mode(
    job: Job,
    writer: SavedModelWriter,
    mode: str,
    input_receiver_fn: ReceiverFn,
    checkpoint_path: str,
    outputs: Collection[str] | None,
) -> None:
    with open_model_graph(job) as graph:
        job.create_global_step(graph)
        receiver = input_receiver_fn()
        if receiver is None:
            raise AttributeError(
                f"'NoneType' object has no attribute 'features': input_receiver_fn "
                f"({input_receiver_fn}) returned None, expected a receiver."
            )
        spec = call_model_fn(job, receiver.features, getattr(receiver, "labels", None), mode)
        warn_of_reordered_crosses(graph, checkpoint_path, "export")
        signatures = make_signatures(spec, receiver, outputs)
        by_name = not spec.scaffold.saver
        saver = _get_saver(spec.scaffold)
        local_init_op = spec.scaffold.local_init_op
        if local_init_op is None:
            local_init_op = tf.compat.v1.train.Scaffold.default_local_init_op()
        settings = make_session_config(job)
        sessions.check_threads(settings)
        with tf.compat.v1.Session(graph=graph, config=settings) as session:
            savers = graph.get_collection_ref(tf.compat.v1.GraphKeys.SAVERS)
            users_savers = list(savers)
            with (
                _name_mode(mode, checkpoint_path),
                prepare_restore(checkpoint_path, by_name),
            ):
                saver.restore(session, checkpoint_path)
            # A SavedModel cannot hold the Saver that `prepare_restore` adds; its loaders would
            # log an error.
            savers[:] = users_savers
            writer.add(
                mode,
                session,
                signatures,
                saver=saver,
                main_op=local_init_op,
                train_op=spec.train_op,
            )


def _get_saver(scaffold: tf.compat.v1.train.Scaffold) -> tf.compat.v1.train.Saver:
    """Returns the Saver that restores the variables and writes them to the SavedModel."""
    if isinstance(scaffold.saver, tf.train.Checkpoint):
        return saver_entries.make_saver_by_places(scaffold.saver)
    return scaffold.saver or tf.compat.v1.train.Saver(sharded=True)


@contextlib.contextmanager
def _name_mode(mode: str, checkpoint_path: str) -> Iterator[None]:
    """Adds the mode to errors about variables that are missing in the checkpoint."""
    try:
        yield
    except tf.errors.NotFoundError as error:
        raise ValueError(
            "Could not load all requested variables from checkpoint. Please make sure your "
            "model_fn does not expect variables that were not saved in the checkpoint.\n\n"
            f"Encountered error with mode `{mode}` while restoring checkpoint from: "
            f"`{checkpoint_path}`. Full Traceback:\n\n{traceback.format_exc()}"
        ) from error
