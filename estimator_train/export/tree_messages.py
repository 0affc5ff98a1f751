"""Message in which tf.estimator's boosted trees are saved, in checkpoints and SavedModels."""

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

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
