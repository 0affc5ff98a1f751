"""Linear models of feature columns of `tf.contrib.layers`."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import tensorflow as tf

from tf_contrib._types import Collections, Column, Scope
from tf_contrib.layers.columns import (
    ONLY_FEATURE,
    check_names,
    class_name,
    select_features,
)
from tf_contrib.layers.columns.transforming import TransformedFeatures
from tf_contrib.layers.embedding import safe_embedding_lookup_sparse

_v1 = tf.compat.v1


def weighted_sum_from_feature_columns(
    columns_to_tensors: Mapping[str, Any],
    feature_columns: Iterable[Column],
    num_outputs: int,
    weight_collections: Collections | None = None,
    trainable: bool = True,
    scope: Scope | None = None,
) -> tuple[tf.Tensor, dict[Column, list[tf.Variable]], tf.Variable]:
    """Adds up a linear function of each column; see `tf.feature_column.linear_model`.

    The names of variables are those of tf.contrib.

    Args:
      columns_to_tensors: Features by name.
      feature_columns: Columns.
      num_outputs: Number of sums for each example.
      weight_collections: More collections of the weights.
      trainable: Whether the variables are trained.
      scope: Variable scope.

    Returns:
      The sums, of shape [batch_size, num_outputs]; the weights of each column; the bias.

    Raises:
      ValueError: Two columns have one name, or a column has no linear function.
    """
    columns = check_names(feature_columns)
    for column in columns:
        if class_name(column).startswith(("Embedding", "Indicator")):
            raise ValueError(f"Error creating weighted sum for column: {column.name}.")
    numeric = {column.name for column in columns if class_name(column).startswith("Numeric")}
    # linear_model finds the weights of a column by its own names, so it does not find these.
    found: dict[str, tf.Variable] = {}

    def get_under_old_name(
        getter: Callable[..., tf.Variable], name: str, *args: Any, **kwargs: Any
    ) -> tf.Variable:
        *outer, column, last = name.split("/")
        if last == "bias_weights":
            column, path = last, [*outer, "bias_weight"]
        else:
            scope = "" if column == ONLY_FEATURE else column
            path = [*outer[:-1], scope, "weight" if column in numeric else last]
        found[column] = getter("/".join(path), *args, **kwargs)
        return found[column]

    default = "weighted_sum_from_feature_columns"
    with _v1.variable_scope(scope, default, custom_getter=get_under_old_name):
        total = _v1.feature_column.linear_model(
            select_features(columns_to_tensors),
            columns,
            units=num_outputs,
            weight_collections=weight_collections,
            trainable=trainable,
        )
    weights = {column: [found[column.name]] for column in columns}
    for column in columns:
        # The old function listed the parts of a sparse column's weights only.
        if column.name not in numeric:
            weights[column] = _list_parts(found[column.name])
    return total, weights, found["bias_weights"]


def joint_weighted_sum_from_feature_columns(
    columns_to_tensors: Mapping[str, Any],
    feature_columns: Iterable[Column],
    num_outputs: int,
    weight_collections: Collections | None = None,
    trainable: bool = True,
    scope: Scope | None = None,
) -> tuple[tf.Tensor, list[tf.Variable], tf.Variable]:
    """Adds up the weights of the ids of sparse columns, which one variable holds.

    Arguments are those of `weighted_sum_from_feature_columns`.

    Returns:
      The sums, of shape [batch_size, num_outputs]; the variable of all weights; the bias.

    Raises:
      ValueError: Two columns have one name, or a column is an embedding.
      NotImplementedError: A column has no ids.
      AssertionError: A column has weights.
    """
    columns = sorted(check_names(feature_columns), key=lambda column: column.name)
    for column in columns:
        kind = class_name(column)
        if kind.startswith(("Embedding", "Indicator")):
            raise ValueError(f"Error creating weighted sum for column: {column.name}.")
        if kind.startswith("Numeric"):
            raise NotImplementedError(f"{column.name} has no ids for a joint sum.")
        if kind.startswith("Weighted"):
            raise AssertionError(
                f"Joint sums of weights are not supported, and {column.name} has weights. "
                "Use weighted_sum_from_feature_columns."
            )
    cache = TransformedFeatures(select_features(columns_to_tensors))
    keys = [_v1.GraphKeys.GLOBAL_VARIABLES, _v1.GraphKeys.MODEL_VARIABLES]
    options = {
        "initializer": tf.zeros_initializer(),
        "trainable": trainable,
        "collections": [*keys, *(weight_collections or ())],
    }
    with _v1.variable_scope(scope, "joint_weighted_sum_from_feature_columns"):
        sizes = [column.num_buckets for column in columns]
        weights = _v1.get_variable(
            "linear_weights/weights", [sum(sizes), num_outputs], tf.float32, **options
        )
        bias = _v1.get_variable("bias_weight", [num_outputs], tf.float32, **options)
        sums = []
        for index, column in enumerate(columns):
            ids = column.get_sparse_tensors(cache, None).id_tensor
            # As in TensorFlow 1, the id -1 of an unknown word is the last id of the column before.
            shifted = ids.with_values(ids.values + sum(sizes[:index]))
            joint = tf.convert_to_tensor(weights)
            sums.append(safe_embedding_lookup_sparse([joint], shifted, combiner="sum"))
        return tf.add_n(sums) + bias, _list_parts(weights), bias


def _list_parts(variable: Any) -> list[tf.Variable]:
    return list(variable) if hasattr(variable, "as_tensor") else [variable]
