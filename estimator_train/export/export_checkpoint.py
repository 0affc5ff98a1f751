"""Exporting a checkpoint as a SavedModel with a graph for each mode."""

import contextlib
import traceback
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import tensorflow as tf

from estimator_train.engine import tf_internals
from estimator_train.engine.checkpoints import warm_start
from estimator_train.engine.checkpoints.reading import with_latest
from estimator_train.engine.context import EstimatorContext
from estimator_train.engine.graph.step_graph import call_model_fn, model_graph
from estimator_train.engine.sessions.session import explained_restore, session_config
from estimator_train.export.saved_model import EXPORT_TAGS, SavedModelWriter, saved_model_writer
from estimator_train.export.signatures import signatures_of


def export(
    context: EstimatorContext,
    export_dir_base: str,
    input_receiver_fn_map: Mapping[str, Callable[[], Any]],
    *,
    assets_extra: Mapping[str, str] | None = None,
    as_text: bool = False,
    checkpoint_path: str | None = None,
    strip_default_attrs: bool = True,
) -> bytes:
    """Writes one SavedModel of a checkpoint.

    Args:
      context: The estimator that is run.
      export_dir_base: The directory in which a time-stamped one is made.
      input_receiver_fn_map: Mode to the function that returns its receiver; None for none.
      assets_extra: Path within `assets.extra` to the file that is copied there.
      as_text: Whether to write the graph as text.
      checkpoint_path: The checkpoint; by default the latest in model_dir, or where there is none
        yet, the one that training would start from.
      strip_default_attrs: Whether to leave out attributes that have their default value.

    Returns:
      The path of the SavedModel, as bytes.

    Raises:
      ValueError: There is no checkpoint, or no mode that can be exported.
    """
    modes = [mode for mode in EXPORT_TAGS if input_receiver_fn_map.get(mode)]
    if not modes:
        raise ValueError(
            f"No valid modes for exporting found. Got {input_receiver_fn_map.keys()}. Valid are "
            f"{list(EXPORT_TAGS)}."
        )

    def export_from(path: str | None) -> bytes:
        # Before any training, what training would start from is the model that there is.
        path = path or warm_start.source_of(context.warm_start)
        if not path:
            raise ValueError(f"Couldn't find trained model at {context.model_dir}.")
        with saved_model_writer(
            export_dir_base,
            assets_extra=assets_extra,
            as_text=as_text,
            strip_default_attrs=strip_default_attrs,
        ) as writer:
            for mode in modes:
                _add_mode(context, writer, mode, input_receiver_fn_map[mode], path)
        return writer.path.encode()

    if checkpoint_path:
        return export_from(checkpoint_path)
    return with_latest(context.model_dir, export_from)


def _add_mode(
    context: EstimatorContext,
    writer: SavedModelWriter,
    mode: str,
    input_receiver_fn: Callable[[], Any],
    checkpoint_path: str,
) -> None:
    with model_graph(context) as graph:
        tf.compat.v1.train.create_global_step()
        receiver = input_receiver_fn()
        if receiver is None:
            raise AttributeError(
                f"'NoneType' object has no attribute 'features': input_receiver_fn "
                f"({input_receiver_fn}) returned None where a receiver is needed."
            )
        spec = call_model_fn(context, receiver.features, getattr(receiver, "labels", None), mode)
        signatures = signatures_of(spec, receiver)
        by_name = not spec.scaffold.saver
        saver = _saver(spec.scaffold)
        local_init_op = spec.scaffold.local_init_op
        if local_init_op is None:
            local_init_op = tf.compat.v1.train.Scaffold.default_local_init_op()
        with tf.compat.v1.Session(graph=graph, config=session_config(context)) as session:
            with _named(mode, checkpoint_path), explained_restore(checkpoint_path, by_name):
                saver.restore(session, checkpoint_path)
            writer.add(
                mode,
                session,
                signatures,
                saver=saver,
                main_op=local_init_op,
                train_op=spec.train_op,
            )


def _saver(scaffold: tf.compat.v1.train.Scaffold) -> Any:
    """What restores the variables, and saves them into the SavedModel."""
    if isinstance(scaffold.saver, tf.train.Checkpoint):
        return tf_internals.saver_by_places(scaffold.saver)
    return scaffold.saver or tf.compat.v1.train.Saver(sharded=True)


@contextlib.contextmanager
def _named(mode: str, checkpoint_path: str) -> Iterator[None]:
    """Within it, an error about a variable that is not in the checkpoint names the mode."""
    try:
        yield
    except tf.errors.NotFoundError as error:
        raise ValueError(
            "Could not load all requested variables from checkpoint. Please make sure your "
            "model_fn does not expect variables that were not saved in the checkpoint.\n\n"
            f"Encountered error with mode `{mode}` while restoring checkpoint from: "
            f"`{checkpoint_path}`. Full Traceback:\n\n{traceback.format_exc()}"
        ) from error
