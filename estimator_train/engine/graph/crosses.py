"""Warnings of crossed columns whose keys are of another kind than in the training.

TensorFlow hashes sparse keys before dense ones, so that the same values get other ids.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

import tensorflow as tf

_LOG = tf.get_logger()
CROSS = "SparseCross"  # The prefix of all versions of the operation.
# State of the process: the model_dirs and calls whose crosses were compared with the training's.
_compared: set[tuple[object, ...]] = set()


def warn_of_reordered_crosses(graph: tf.Graph, checkpoint_path: str | None, call: str) -> None:
    """Warns of crosses with other kinds of keys than in the training.

    A string key that is dense in the input_fn and sparse in a receiver or an input that parses it
    gives the same values other ids. Each model_dir has one warning for each cross and call.

    Args:
      graph: The graph that uses the checkpoint.
      checkpoint_path: The checkpoint, whose .meta file has the graph of the training; or None.
      call: What uses the graph, such as "export", for the warning.
    """
    if checkpoint_path is None:
        return
    crosses = _list_key_types(op.node_def for op in graph.get_operations() if _is_cross(op))
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


def _is_cross(op: tf.Operation) -> bool:
    return bool(op.type.startswith(CROSS))


def _read_training_crosses(path: str) -> dict[str, tuple[list[int], list[int]]]:
    with tf.io.gfile.GFile(path, "rb") as file:
        graph = tf.compat.v1.MetaGraphDef.FromString(file.read()).graph_def
    nodes = [*graph.node, *(node for one in graph.library.function for node in one.node_def)]
    return _list_key_types(node for node in nodes if node.op.startswith(CROSS))


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
