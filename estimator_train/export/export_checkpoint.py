"""Exports a checkpoint as a SavedModel with a graph for each mode."""

import contextlib
import traceback
from collections.abc import Callable, Collection, Iterator, Mapping

import tensorflow as tf

from estimator_train.engine.checkpoints import warm_start
from estimator_train.engine.checkpoints.reading import retry_on_deleted_checkpoint
from estimator_train.engine.graph.step_graph import call_model_fn, open_model_graph
from estimator_train.engine.job import Job
from estimator_train.engine.sessions.restore import prepare_restore
from estimator_train.engine.sessions.session import make_session_config
from estimator_train.engine.tf_internals import saver_entries
from estimator_train.export.receivers import ReceiverFn
from estimator_train.export.saved_model import EXPORT_TAGS, SavedModelWriter, open_writer
from estimator_train.export.signatures import make_signatures


def export(
    job: Job,
    export_dir_base: str,
    input_receiver_fn_map: Mapping[str, ReceiverFn | None],
    *,
    latest_checkpoint: Callable[[], str | None],
    assets_extra: Mapping[str, str] | None = None,
    as_text: bool = False,
    checkpoint_path: str | None = None,
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
        return export_from(checkpoint_path)
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
        signatures = make_signatures(spec, receiver, outputs)
        by_name = not spec.scaffold.saver
        saver = _get_saver(spec.scaffold)
        local_init_op = spec.scaffold.local_init_op
        if local_init_op is None:
            local_init_op = tf.compat.v1.train.Scaffold.default_local_init_op()
        with tf.compat.v1.Session(graph=graph, config=make_session_config(job)) as session:
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
