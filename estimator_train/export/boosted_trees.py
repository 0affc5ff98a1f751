"""SavedModels of tf.estimator's boosted trees, whose kernels TensorFlow has removed.

TensorFlow still loads such a SavedModel, but cannot run it. A conversion replaces the operations
without kernels: the trees and the boundaries of buckets become constants of the graph.
"""

from __future__ import annotations

import contextlib
import functools
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import tensorflow as tf
from tensorflow.core.framework import variable_pb2
from tensorflow.core.protobuf import saved_model_pb2

from estimator_train.export.saved_model import write_by_rename
from estimator_train.export.tree_graphs import (
    Build,
    assign_buckets,
    build_nodes,
    flatten_trees,
    parse_trees,
    predict,
)

_LOG = tf.get_logger()
_v1 = tf.compat.v1
_Node: TypeAlias = tf.compat.v1.NodeDef
_FAMILY = "BoostedTrees"
_VARIABLES = (_v1.GraphKeys.GLOBAL_VARIABLES, _v1.GraphKeys.TRAINABLE_VARIABLES)
# Collections of operations and tensors that a loader uses.
_INITIALIZERS = ("legacy_init_op", "saved_model_main_op")
_KEPT = (_v1.GraphKeys.TABLE_INITIALIZERS, _v1.GraphKeys.ASSET_FILEPATHS, *_INITIALIZERS)
_ASSETS = "saved_model_assets"  # Files of the SavedModel, by tensors of ASSET_FILEPATHS.
_COPIED = (tf.saved_model.VARIABLES_DIRECTORY, tf.saved_model.ASSETS_DIRECTORY, "assets.extra")


def has_boosted_trees(export_dir: str) -> bool:
    """Returns whether a SavedModel has operations of boosted trees, which TensorFlow cannot run."""
    path = os.path.join(export_dir, tf.saved_model.SAVED_MODEL_FILENAME_PB)
    if not tf.io.gfile.exists(path):
        return False
    with tf.io.gfile.GFile(path, "rb") as file:
        return f"{_FAMILY}Predict".encode() in file.read()


@contextlib.contextmanager
def make_runnable(export_dir: str) -> Iterator[str]:
    """Yields the directory of a SavedModel, or of a temporary converted one for boosted trees."""
    if not has_boosted_trees(export_dir):
        yield export_dir
        return
    _LOG.info(
        "%s has boosted trees of tf.estimator, whose kernels TensorFlow has removed: a converted "
        "copy is loaded. `estimator-train convert-trees` writes one for other programs.",
        export_dir,
    )
    with tempfile.TemporaryDirectory() as temporary_dir:
        converted_dir = os.path.join(temporary_dir, "converted")
        convert_boosted_trees(export_dir, converted_dir)
        yield converted_dir


def convert_boosted_trees(
    export_dir: str | os.PathLike[str], converted_dir: str | os.PathLike[str]
) -> None:
    """Writes a SavedModel of tf.estimator's boosted trees as one that TensorFlow can run.

    The signatures stay the same. The new SavedModel needs nothing of this package. It contains the
    graph for serving only.

    Args:
      export_dir: Directory of the SavedModel, as `export_saved_model` of tf.estimator returned it.
      converted_dir: The new directory, which must not exist.

    Raises:
      ValueError: There is no SavedModel of boosted trees, converted_dir exists, or the graph for
        serving uses operations of their training.
    """
    source, target = os.fsdecode(export_dir), os.fsdecode(converted_dir).rstrip("/")
    if not has_boosted_trees(source):
        raise ValueError(
            f"{source} has no SavedModel of boosted trees of tf.estimator. Use the directory that "
            "contains its saved_model.pb; other SavedModels need no conversion."
        )
    if tf.io.gfile.exists(target):
        raise ValueError(f"{target} exists. Use a new directory for the converted SavedModel.")
    with tf.io.gfile.GFile(os.path.join(source, tf.saved_model.SAVED_MODEL_FILENAME_PB), "rb") as f:
        saved_model = saved_model_pb2.SavedModel.FromString(f.read())
    reader = tf.train.load_checkpoint(
        os.path.join(source, tf.saved_model.VARIABLES_DIRECTORY, tf.saved_model.VARIABLES_FILENAME)
    )
    converted = [
        _convert_graph(graph, reader)
        for graph in saved_model.meta_graphs
        if tf.saved_model.SERVING in graph.meta_info_def.tags
    ]
    del saved_model.meta_graphs[:]
    saved_model.meta_graphs.extend(converted)
    with write_by_rename(target) as temporary:
        for name in _COPIED:
            _copy_directory(os.path.join(source, name), os.path.join(temporary, name))
        path = os.path.join(temporary, tf.saved_model.SAVED_MODEL_FILENAME_PB)
        with tf.io.gfile.GFile(path, "wb") as file:
            file.write(saved_model.SerializeToString())


def _copy_directory(source: str, target: str) -> None:
    for directory, _, names in tf.io.gfile.walk(source):
        copy = os.path.join(target, os.path.relpath(directory, source))
        tf.io.gfile.makedirs(copy)
        for name in names:
            tf.io.gfile.copy(os.path.join(directory, name), os.path.join(copy, name), True)


def _convert_graph(meta_graph: Any, reader: Any) -> Any:
    """Returns a graph of a SavedModel whose operations of boosted trees are replaced.

    Args:
      meta_graph: The graph.
      reader: Reads the SavedModel's checkpoint, which has the trees.
    """
    nodes = {
        node.name: node
        for original in meta_graph.graph_def.node
        for node in _replace(original, reader)
    }
    collections = {
        name: meta_graph.collection_def[name]
        for name in (*_KEPT, *_VARIABLES, _ASSETS)
        if name in meta_graph.collection_def
    }
    targets = [*_list_signature_nodes(meta_graph), *_list_collected_nodes(collections)]
    needed = _find_needed(nodes, targets)
    left = sorted({node.op for node in needed if _FAMILY in node.op})
    if left:
        raise ValueError(
            f"The graph for serving uses {left}, which cannot be converted. Export the model again "
            "from its checkpoint: estimator_train reads those of tf.estimator."
        )
    result = _v1.MetaGraphDef(
        meta_info_def=meta_graph.meta_info_def,
        graph_def=_v1.GraphDef(
            node=needed,
            versions=meta_graph.graph_def.versions,
            library=meta_graph.graph_def.library,
        ),
        signature_def=meta_graph.signature_def,
        asset_file_def=meta_graph.asset_file_def,
    )
    for name, collection in collections.items():
        result.collection_def[name].CopyFrom(collection)
    with tf.Graph().as_default() as graph:
        saver = _v1.train.import_meta_graph(result)
        if saver is not None:
            result.saver_def.CopyFrom(saver.as_saver_def())
            result.graph_def.CopyFrom(graph.as_graph_def())
    return result


def _find_needed(nodes: Mapping[str, _Node], targets: Iterable[str]) -> list[_Node]:
    """Returns the nodes that targets need, the targets included, in the order of `nodes`."""
    needed: set[str] = set()
    waiting = [*targets]
    while waiting:
        name = waiting.pop()
        if name not in needed:
            needed.add(name)
            waiting.extend(map(_get_node_name, nodes[name].input))
    return [node for name, node in nodes.items() if name in needed]


def _list_signature_nodes(meta_graph: Any) -> Iterator[str]:
    """Yields the names of the nodes of all signatures."""
    for signature in meta_graph.signature_def.values():
        for info in (*signature.inputs.values(), *signature.outputs.values()):
            sparse = info.coo_sparse
            names = (sparse.values_tensor_name, sparse.indices_tensor_name)
            for name in (info.name, *names, sparse.dense_shape_tensor_name):
                if name:
                    yield _get_node_name(name)


def _list_collected_nodes(collections: dict[str, Any]) -> Iterator[str]:
    """Yields the names of the nodes that collections contain."""
    for name, collection in collections.items():
        if name not in _VARIABLES:
            yield from map(_get_node_name, collection.node_list.value)
            continue
        for serialized in collection.bytes_list.value:
            variable = variable_pb2.VariableDef.FromString(serialized)
            for part in (
                variable.variable_name,
                variable.initializer_name,
                variable.initial_value_name,
                variable.snapshot_name,
            ):
                if part:
                    yield _get_node_name(part)


def _get_node_name(reference: str) -> str:
    return reference.removeprefix("^").partition(":")[0]


def _replace(node: _Node, reader: Any) -> list[_Node]:
    """Returns the nodes that compute the outputs of one, which is kept if it has a kernel."""
    build: Build
    if node.op == f"{_FAMILY}Predict":
        logits = node.attr["logits_dimension"].i
        trees = parse_trees(reader.get_tensor(f"{_get_node_name(node.input[0])}:0_serialized"))
        build = functools.partial(predict, flatten_trees(trees, logits))
    elif node.op == f"{_FAMILY}Bucketize":
        build = assign_buckets
    elif node.op == f"{_FAMILY}QuantileStreamResourceGetBucketBoundaries":
        key = f"{_get_node_name(node.input[0])}:0_bucket_boundaries_"
        boundaries = [reader.get_tensor(f"{key}{i}") for i in range(node.attr["num_features"].i)]
        build = functools.partial(_return_constants, boundaries)
    else:
        return [node]
    dtype = tf.int32 if node.op == f"{_FAMILY}Predict" else tf.float32
    inputs = [name for name in node.input if not name.startswith("^")]
    return build_nodes(node.name, build, inputs, dtype)


def _return_constants(values: Sequence[np.ndarray], inputs: list[tf.Tensor]) -> list[tf.Tensor]:
    del inputs
    return [tf.constant(value) for value in values]
