"""Checkpoints of tf.estimator's boosted trees, whose kernels TensorFlow has removed.

They contain the trees as one message. A model_dir with such a checkpoint is converted: it gets a
checkpoint of the same trees as variables, and a folder with a copy for tf.estimator.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_train.canned.boosted_trees.ensemble import SCOPE, Ensemble, Settings
from estimator_train.canned.boosted_trees.features import Features, Quantiles, create_quantiles
from estimator_train.canned.boosted_trees.growing import Grower
from estimator_train.engine.checkpoints.integrity import latest_checkpoint
from estimator_train.engine.storage import atomic_write, copy_checkpoint
from estimator_train.export.tree_graphs import get_leaf_values, get_split, parse_trees

_LOG = tf.get_logger()
_TREES = f"{SCOPE}:0_serialized"
_BOUNDARIES = f"{SCOPE}/QuantileAccumulator:0_bucket_boundaries_"
_COPIES = "tf_estimator"  # Folder of a model_dir with copies for tf.estimator.


def convert_model_dir(model_dir: str, features: Features, settings: Settings, logits: int) -> None:
    """Adds a checkpoint of this package if the latest one of a model_dir is of tf.estimator.

    Args:
      model_dir: The directory.
      features: Features of the trees.
      settings: Settings of the model.
      logits: Number of logits.

    Raises:
      ValueError: The trees do not fit the model.
    """
    path = latest_checkpoint(model_dir)
    if path is None:
        return
    reader = tf.train.load_checkpoint(path)
    if not reader.has_tensor(_TREES):
        return
    copies = os.path.join(model_dir, _COPIES)
    tf.io.gfile.makedirs(copies)
    copied = os.path.join(copies, os.path.basename(path))
    copy_checkpoint(path, copied)
    _write_list(copied)
    step = reader.get_tensor("global_step")
    converted = os.path.join(model_dir, f"converted.ckpt-{step}")
    _write_checkpoint(reader, converted, features, settings, logits)
    _write_list(converted)
    _LOG.info(
        "Converted the boosted trees of tf.estimator in %s to %s; %s has a copy for tf.estimator.",
        path,
        converted,
        copies,
    )


def _write_list(path: str) -> None:
    """Makes a checkpoint the only one that the file `checkpoint` of its directory lists."""
    directory, name = os.path.split(path)
    atomic_write(os.path.join(directory, "checkpoint"), f'model_checkpoint_path: "{name}"\n')


def _write_checkpoint(
    reader: Any, path: str, features: Features, settings: Settings, logits: int
) -> None:
    """Writes a checkpoint of all variables of a training, with the trees of the original."""
    message = parse_trees(reader.get_tensor(_TREES))
    n_trees = max(settings.n_trees, len(message.trees))
    with tf.Graph().as_default():
        step = tf.compat.v1.train.create_global_step()
        quantiles = create_quantiles(features.numeric_size, settings)
        ensemble = Ensemble(n_trees, settings.max_depth, logits, settings.center_bias)
        Grower(ensemble, features, settings, logits)
        values = {
            step: reader.get_tensor("global_step"),
            ensemble.centering: _read_flag(reader, "center_bias_needed"),
            **_read_ensemble(message, ensemble, logits),
            **(_read_boundaries(reader, quantiles) if quantiles else {}),
        }
        with tf.compat.v1.Session() as session:
            session.run(tf.compat.v1.global_variables_initializer())
            for variable, value in values.items():
                session.run(variable.initializer, {variable.initializer.inputs[1]: value})
            saver = tf.compat.v1.train.Saver()
            saver.save(session, path, write_meta_graph=False, write_state=False)


def _read_ensemble(message: Any, ensemble: Ensemble, logits: int) -> dict[tf.Variable, Any]:
    """Returns the values of the variables of an ensemble."""
    variables = (*ensemble.trees, ensemble.gain)
    feature, threshold, value, gain = arrays = [
        np.zeros(variable.initializer.inputs[1].shape.as_list(), variable.dtype.as_numpy_dtype)
        for variable in variables
    ]
    feature[:] = -1
    for tree, weight in enumerate(message.tree_weights):
        for place, node in _list_places(message.trees[tree].nodes, feature.shape[1]):
            leaf = node.metadata.original_leaf
            if node.HasField("leaf"):
                leaf = node.leaf
            else:
                split = get_split(node)
                feature[tree, place], threshold[tree, place] = split.feature_id, split.threshold
                gain[tree, place] = node.metadata.gain
            value[tree, place] = weight * np.asarray(get_leaf_values(leaf, logits))
    grown = [tree for tree in message.tree_metadata if not tree.is_finalized]
    return {
        **dict(zip(variables, arrays, strict=True)),
        ensemble.finished: len(message.tree_metadata) - len(grown),
        ensemble.layers: grown[-1].num_layers_grown if grown else 0,
        ensemble.attempted: message.growing_metadata.num_layers_attempted,
        ensemble.started: bool(message.trees),
    }


def _list_places(nodes: Any, inner: int) -> Iterator[tuple[int, Any]]:
    """Yields the nodes of a tree with their numbers in a full tree.

    Args:
      nodes: The nodes, of which the first is the root.
      inner: Number of inner nodes of a full tree.

    Raises:
      ValueError: The tree is deeper than that.
    """
    waiting = [(0, nodes[0])] if nodes else []
    while waiting:
        place, node = waiting.pop()
        if node.HasField("leaf"):
            yield place, node
            continue
        if place >= inner:
            raise ValueError(
                "The checkpoint of tf.estimator has trees of more layers than max_depth="
                f"{(inner + 1).bit_length() - 1}. Use the max_depth that the model was trained "
                "with."
            )
        yield place, node
        split = get_split(node)
        waiting.append((2 * place + 1, nodes[split.left_id]))
        waiting.append((2 * place + 2, nodes[split.right_id]))


def _read_flag(reader: Any, name: str) -> bool:
    """Returns a flag of the model; False if the checkpoint is of a TensorFlow without the flag."""
    key = f"{SCOPE}/{name}"
    return bool(reader.has_tensor(key) and reader.get_tensor(key))


def _read_boundaries(reader: Any, quantiles: Quantiles) -> dict[tf.Variable, Any]:
    """Returns the values of the variables of quantiles."""
    if not _read_flag(reader, "are_boundaries_ready"):
        return {}
    size, buckets = quantiles.boundaries.shape.as_list()
    boundaries = np.full([size, buckets], np.inf, np.float32)
    for row in range(size):
        found = reader.get_tensor(f"{_BOUNDARIES}{row}")
        if len(found) > buckets:
            raise ValueError(
                f"The checkpoint of tf.estimator has {len(found)} buckets for a numeric column, "
                f"and quantile_sketch_epsilon gives {buckets}. Use the number that the model was "
                "trained with."
            )
        boundaries[row, : len(found)] = found
    return {quantiles.boundaries: boundaries, quantiles.ready: True}
