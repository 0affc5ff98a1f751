"""Reads checkpoints: chooses one for a call, and returns values from it.

A warning names crossed columns whose keys are of another kind than in the training.
"""

import os
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import tensorflow as tf

from estimator_train import remote
from estimator_train.engine import storage
from estimator_train.engine.checkpoints.integrity import (
    find_damage,
    is_unchanged,
    latest_checkpoint,
    was_replaced,
)

_LOG = tf.get_logger()
_CROSS = "SparseCross"  # The prefix of all versions of the operation.
# State of the process: the model_dirs and calls whose crosses were compared with the training's.
_compared: set[tuple[object, ...]] = set()
_Result = TypeVar("_Result")


def log_untrained(model_dir: str, checkpoint_path: str | None, purpose: str) -> None:
    """Logs that variables are initialized, if there is no checkpoint to restore.

    Args:
      model_dir: The directory of the checkpoints.
      checkpoint_path: The checkpoint to restore, or None.
      purpose: The verb in the log line: "evaluate".
    """
    if checkpoint_path is None:
        _LOG.info(
            "Could not find trained model in model_dir: %s, running initialization to %s.",
            model_dir,
            purpose,
        )


def retry_on_deleted_checkpoint(
    model_dir: str, use: Callable[[str | None], _Result], path: str | None = None
) -> _Result:
    """Calls a function with the latest checkpoint, and with the next if it cannot be restored.

    A job that trains in model_dir keeps only the last few checkpoints; the values of a large
    checkpoint are verified when they are restored.

    Args:
      model_dir: The directory of the checkpoints.
      use: Takes the path prefix, or None if there is no checkpoint. If it fails and its checkpoint
        was deleted or is damaged, this function calls it with the next one.
      path: The first checkpoint to try; by default the latest.

    Returns:
      The value that `use` returns.

    Raises:
      StorageFaultError: The storage failed at every attempt to restore the checkpoint.
    """
    path = path or latest_checkpoint(model_dir, to_restore=True)
    delays = storage.retry_delays()
    while True:
        try:
            return use(path)
        except (tf.errors.OpError, ValueError, OSError) as error:
            if storage.is_restore_fault(error) or remote.is_replaced(error):
                storage.wait_after_fault(f"restore {path}", error, delays)
                continue
            is_torn = is_damaged(path, error)
            if path is None or not (is_torn or was_replaced(path)):
                raise
            before, path = path, latest_checkpoint(model_dir, to_restore=True)
            if path is None or path == before:
                raise
            if not is_torn:  # `latest_checkpoint` warns of damage.
                _LOG.info("%s was deleted before it was read; using %s.", before, path)


def is_damaged(path: str | None, error: BaseException) -> bool:
    """Returns whether damage of a checkpoint explains the error of its restore.

    Reads the checkpoint, unless this process has read or written it before.

    Args:
      path: The checkpoint's path prefix, or None.
      error: The error of the session call that restored the checkpoint.

    Raises:
      StorageFaultError: The storage failed.
    """
    if path is None or not storage.is_of_restore(error) or is_unchanged(path):
        return False
    return find_damage(path) is not None


def read_saved_global_step(model_dir: str) -> int:
    """Returns the global step of the latest checkpoint; 0 without a checkpoint."""
    return retry_on_deleted_checkpoint(
        model_dir, lambda path: 0 if path is None else read_global_step(path)
    )


def has_reached_step(model_dir: str, step: int) -> bool:
    """Returns whether the latest intact checkpoint is at a global step or after it."""
    if read_saved_global_step(model_dir) < step:
        return False
    latest_checkpoint(model_dir)  # No restore follows that would verify a large checkpoint.
    return read_saved_global_step(model_dir) >= step


def read_global_step(path: str) -> int:
    """Returns the global step in a checkpoint of either format; 0 if it has no global step."""
    reader = tf.train.load_checkpoint(path)
    for name in reader.get_variable_to_shape_map():
        # An object-based checkpoint has "name/.ATTRIBUTES/VARIABLE_VALUE".
        if name.split("/")[0] in ("global_step", "estimator_global_step"):
            return int(reader.get_tensor(name))
    return 0


def _read_latest(model_dir: str, read: Callable[[str], _Result]) -> _Result:
    def use(path: str | None) -> _Result:
        if path is None:
            raise ValueError(f"Could not find trained model in model_dir: {model_dir}.")
        return read(path)

    return retry_on_deleted_checkpoint(model_dir, use)


def read_variable_names(model_dir: str) -> list[str]:
    """Returns the names of the variables in the latest checkpoint.

    Raises:
      ValueError: There is no checkpoint.
    """
    return [name for name, _ in _read_latest(model_dir, tf.train.list_variables)]


def read_variable_value(model_dir: str, name: str) -> Any:
    """Returns the value of a variable in the latest checkpoint, a NumPy array.

    Raises:
      ValueError: There is no checkpoint.
    """
    return _read_latest(model_dir, lambda path: tf.train.load_variable(path, name))


def warn_of_reordered_crosses(graph: tf.Graph, checkpoint_path: str | None, call: str) -> None:
    """Warns of crosses with other kinds of keys than in the training.

    TensorFlow hashes sparse keys first: a string key that is dense in the input_fn and sparse in a
    receiver or an input that parses it gives the same values other ids. Each model_dir has one
    warning for each cross and call.

    Args:
      graph: The graph that uses the checkpoint.
      checkpoint_path: The checkpoint, whose .meta file has the graph of the training; or None.
      call: What uses the graph, such as "export", for the warning.
    """
    if checkpoint_path is None:
        return
    crosses = _list_key_types(
        op.node_def for op in graph.get_operations() if op.type.startswith(_CROSS)
    )
    path, key = f"{checkpoint_path}.meta", (os.path.dirname(checkpoint_path), call, repr(crosses))
    # Each new checkpoint has a file, which takes as long to read as the graph is large.
    if not crosses or key in _compared or not tf.io.gfile.exists(path):
        return
    _compared.add(key)
    training = _read_training_crosses(path)
    for name, (sparse, dense) in crosses.items():
        trained_sparse, trained_dense = training.get(name, (sparse, dense))
        mixes_types = set(sparse) & set(dense) or set(trained_sparse) & set(trained_dense)
        # Keys of one type and kind keep the order of the column.
        keeps_order = sparse + dense == trained_sparse + trained_dense and not mixes_types
        if len(sparse) != len(trained_sparse) and not keeps_order:
            _LOG.warning(
                "The crossed column of %s has %d sparse and %d dense keys in this %s, and had "
                "%d and %d in the training. TensorFlow hashes sparse keys first, so that the same "
                "values can look up other weights. Let the features be of the same kind as in the "
                "training: tf.io.FixedLenFeature reads dense strings, and tf.sparse.from_dense "
                "makes strings sparse.",
                name,
                len(sparse),
                len(dense),
                call,
                len(trained_sparse),
                len(trained_dense),
            )


def _read_training_crosses(path: str) -> dict[str, tuple[list[int], list[int]]]:
    with tf.io.gfile.GFile(path, "rb") as file:
        graph = tf.compat.v1.MetaGraphDef.FromString(file.read()).graph_def
    nodes = [*graph.node, *(node for one in graph.library.function for node in one.node_def)]
    return _list_key_types(node for node in nodes if node.op.startswith(_CROSS))


def _list_key_types(
    nodes: Iterable[tf.compat.v1.NodeDef],
) -> dict[str, tuple[list[int], list[int]]]:
    """Returns the names of crosses with several keys, and the types of sparse and dense keys."""
    found = {}
    for node in nodes:
        sparse, dense = (list(node.attr[f"{kind}_types"].list.type) for kind in ("sparse", "dense"))
        if len(sparse) + len(dense) > 1:
            found[node.name] = sparse, dense
    return found
