"""Messages of tf.estimator's boosted trees, and the operations that compute trees in exports."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import tensorflow as tf
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_v1 = tf.compat.v1
_Node: TypeAlias = tf.compat.v1.NodeDef
# Builds the outputs of an operation from its inputs.
Build: TypeAlias = Callable[[list[tf.Tensor]], list[tf.Tensor]]
_PACKAGE = "boosted_trees"
# Messages and their fields, as (number, name, type): the part of the format that a model needs.
_MESSAGES = {
    "Leaf": [(1, "vector", "Vector"), (3, "scalar", "float")],
    "Vector": [(1, "value", "float[]")],
    "Split": [
        (1, "feature_id", "int32"),
        (2, "threshold", "int32"),  # Of a categorical split: the value that goes left.
        (3, "left_id", "int32"),
        (4, "right_id", "int32"),
    ],
    "NodeMetadata": [(1, "gain", "float"), (2, "original_leaf", "Leaf")],
    "Node": [
        (1, "leaf", "Leaf"),
        (2, "bucketized_split", "Split"),
        (3, "categorical_split", "Split"),
        (777, "metadata", "NodeMetadata"),
    ],
    "Tree": [(1, "nodes", "Node[]")],
    "TreeMetadata": [(2, "num_layers_grown", "int32"), (3, "is_finalized", "bool")],
    "GrowingMetadata": [(2, "num_layers_attempted", "int64")],
    "TreeEnsemble": [
        (1, "trees", "Tree[]"),
        (2, "tree_weights", "float[]"),
        (3, "tree_metadata", "TreeMetadata[]"),
        (4, "growing_metadata", "GrowingMetadata"),
    ],
}


def parse_trees(serialized: bytes) -> Any:
    """Returns the message TreeEnsemble from its bytes."""
    file = descriptor_pb2.FileDescriptorProto(name="boosted_trees.proto", package=_PACKAGE)
    types = descriptor_pb2.FieldDescriptorProto
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for number, field_name, kind in fields:
            is_list, type_name = kind.endswith("[]"), kind.removesuffix("[]")
            field = message.field.add(name=field_name, number=number)
            field.label = types.LABEL_REPEATED if is_list else types.LABEL_OPTIONAL
            if type_name in _MESSAGES:
                field.type, field.type_name = types.TYPE_MESSAGE, f".{_PACKAGE}.{type_name}"
            else:
                field.type = types.Type.Value(f"TYPE_{type_name.upper()}")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    descriptor = pool.FindMessageTypeByName(f"{_PACKAGE}.TreeEnsemble")
    trees = message_factory.GetMessageClass(descriptor)()
    trees.ParseFromString(serialized)
    return trees


def get_split(node: Any) -> Any:
    """Returns the split of an inner node."""
    is_categorical = node.HasField("categorical_split")
    return node.categorical_split if is_categorical else node.bucketized_split


def get_leaf_values(leaf: Any, logits: int) -> list[float]:
    """Returns what a leaf adds to each logit; zeros for a node that never was a leaf."""
    return list(leaf.vector.value) or [leaf.scalar] * logits


class TreeNodes(NamedTuple):
    """Nodes of all trees, one after another.

    Attributes:
      feature: Feature on which a node splits, int32 [nodes]; 0 for leaves.
      threshold: Last bucket or number that goes left, or the only one if the split is by value;
        int32 or float32.
      by_value: Whether the split is by value, bool.
      left: Number of the left child, int32; a leaf is its own child.
      right: Number of the right child, int32.
      value: What a leaf adds to the logits, float32 [nodes, logits].
      roots: Numbers of the roots, int32 [trees].
      depth: Number of splits on the longest path.
    """

    feature: np.ndarray
    threshold: np.ndarray
    by_value: np.ndarray
    left: np.ndarray
    right: np.ndarray
    value: np.ndarray
    roots: np.ndarray
    depth: int


def flatten_trees(ensemble: Any, logits: int) -> TreeNodes:
    """Returns the nodes of the trees in a message TreeEnsemble."""
    splits: list[tuple[int, int, bool, int, int]] = []
    values: list[np.ndarray] = []
    roots, depth = [], 0
    for tree, weight in zip(ensemble.trees, ensemble.tree_weights, strict=True):
        if not tree.nodes:
            continue
        first = len(splits)
        roots.append(first)
        depth = max(depth, _find_depth(tree.nodes))
        for number, node in enumerate(tree.nodes, first):
            if node.HasField("leaf"):
                splits.append((0, 0, False, number, number))
                leaf = np.asarray(get_leaf_values(node.leaf, logits), np.float32)
                values.append(np.float32(weight) * leaf)
                continue
            split = get_split(node)
            by_value = node.HasField("categorical_split")
            children = first + split.left_id, first + split.right_id
            splits.append((split.feature_id, split.threshold, by_value, *children))
            values.append(np.zeros(logits, np.float32))
    columns = np.asarray(splits, np.int32).reshape(-1, 5).T
    feature, threshold, by_value, left, right = columns
    value = np.asarray(values, np.float32).reshape(-1, logits)
    places = np.asarray(roots, np.int32)
    return TreeNodes(feature, threshold, by_value.astype(bool), left, right, value, places, depth)


def _find_depth(nodes: Any) -> int:
    """Returns the number of splits on the longest path of a tree."""
    depth, level = -1, [0]
    while level:
        depth += 1
        splits = [
            get_split(nodes[number]) for number in level if not nodes[number].HasField("leaf")
        ]
        level = [child for split in splits for child in (split.left_id, split.right_id)]
    return depth


def flatten_complete_trees(
    feature: np.ndarray, threshold: np.ndarray, by_value: np.ndarray, value: np.ndarray
) -> TreeNodes:
    """Returns the nodes of trees that `estimator_train.engine.portability.TreeLogits` describes."""
    trees, size, _ = value.shape
    inner = feature.shape[1]
    splits = np.zeros([trees, size], bool)
    splits[:, :inner] = feature >= 0
    reached = np.zeros_like(splits)
    reached[:, 0] = True
    for parent in range(inner):
        has_children = reached[:, parent] & splits[:, parent]
        reached[:, 2 * parent + 1 : 2 * parent + 3] = has_children[:, None]
    tree, node = np.nonzero(reached)
    number = np.cumsum(reached).reshape(reached.shape) - 1
    is_split = splits[tree, node]
    place = np.where(is_split, node, 0)  # Leaves of the last level have no feature.
    left, right = (number[tree, np.where(is_split, 2 * node + side, node)] for side in (1, 2))
    return TreeNodes(
        np.where(is_split, feature[tree, place], 0).astype(np.int32),
        np.where(is_split, threshold[tree, place], 0).astype(np.float32),
        is_split & by_value[tree, place],
        left.astype(np.int32),
        right.astype(np.int32),
        np.where(is_split[:, None], 0, value[tree, node]).astype(np.float32),
        number[:, 0].astype(np.int32),
        int(np.log2(node.max(initial=0) + 1)),
    )


def predict(nodes: TreeNodes, inputs: list[tf.Tensor]) -> list[tf.Tensor]:
    """Returns the logits, float32 [batch, logits].

    Args:
      nodes: The nodes of the trees.
      inputs: The resource of the trees, unused, then the bucket of each feature, int32 [batch, 1].
    """
    return [sum_trees(nodes, tf.concat([tf.reshape(each, [-1, 1]) for each in inputs[1:]], 1))]


def sum_trees(nodes: TreeNodes, given: tf.Tensor) -> tf.Tensor:
    """Returns the logits, float32 [batch, logits], by operations that every runtime has.

    Args:
      nodes: The nodes of the trees.
      given: Bucket or number of each feature, of the type of the thresholds, [batch, features].
    """
    row = (tf.range(tf.shape(given)[0]) * tf.shape(given)[1])[:, None]
    flat = tf.reshape(given, [-1])
    node = tf.zeros_like(row) + nodes.roots
    for _ in range(nodes.depth):
        found = tf.gather(flat, row + tf.gather(nodes.feature, node))
        threshold = tf.gather(nodes.threshold, node)
        by_value = tf.gather(nodes.by_value, node)
        goes_right = tf.where(by_value, tf.not_equal(found, threshold), found > threshold)
        node = tf.where(goes_right, tf.gather(nodes.right, node), tf.gather(nodes.left, node))
    return tf.reduce_sum(tf.gather(nodes.value, node), 1)


def assign_buckets(inputs: list[tf.Tensor]) -> list[tf.Tensor]:
    """Returns the bucket of each number, int32 of the shape of the numbers.

    A bucket ends with its boundary. Numbers above the last boundary are in the last bucket.

    Args:
      inputs: For each feature its numbers, float32 [batch], and then for each its boundaries.
    """
    count = len(inputs) // 2
    return [
        tf.minimum(tf.searchsorted(boundaries, tf.reshape(numbers, [-1])), tf.size(boundaries) - 1)
        for numbers, boundaries in zip(inputs[:count], inputs[count:], strict=True)
    ]


def build_nodes(name: str, build: Build, inputs: Sequence[str], dtype: tf.DType) -> list[_Node]:
    """Returns the nodes of a graph that replace one node.

    Args:
      name: Name of the node.
      build: Builds its outputs.
      inputs: Names of its inputs.
      dtype: Type of the inputs.
    """
    with tf.Graph().as_default() as graph:
        given = [_v1.placeholder(dtype, name=f"input_{i}") for i in range(len(inputs))]
        tf.raw_ops.IdentityN(input=build(given), name="result")
    renamed = {f"input_{i}": tensor for i, tensor in enumerate(inputs)} | {"result": name}
    return [
        _rename(part, name, renamed)
        for part in graph.as_graph_def().node
        if part.op != "Placeholder"
    ]


def _rename(node: _Node, scope: str, renamed: Mapping[str, str]) -> _Node:
    """Returns a node in a scope.

    Args:
      node: The node.
      scope: Prefix of its name and of those of its inputs.
      renamed: Names that get others instead.
    """
    result = _Node()
    result.CopyFrom(node)
    result.name = renamed.get(node.name, f"{scope}/{node.name}")
    result.input[:] = [renamed.get(name, f"{scope}/{name}") for name in node.input]
    return result
