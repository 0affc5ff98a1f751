"""Linear models of feature columns of `tf.contrib.layers`."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import tensorflow as tf

from estimator_train.legacy.contrib._types import Collections, Column, Scope
from estimator_train.legacy.contrib.layers.columns import class_name

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
    columns = list(feature_columns)
    if len({column.name for column in columns}) < len(columns):
        raise ValueError("Duplicate feature column found for columns: " + str(columns))
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
            path = [*outer[:-1], column, "weight" if column in numeric else last]
        found[column] = getter("/".join(path), *args, **kwargs)
        return found[column]

    default = "weighted_sum_from_feature_columns"
    with _v1.variable_scope(scope, default, custom_getter=get_under_old_name):
        total = _v1.feature_column.linear_model(
            dict(columns_to_tensors),
            columns,
            units=num_outputs,
            weight_collections=weight_collections,
            trainable=trainable,
        )
    weights = {column: [found[column.name]] for column in columns}
    for column in columns:
        # The old function listed the parts of a sparse column's weights only.
        if column.name not in numeric and hasattr(found[column.name], "as_tensor"):
            weights[column] = list(found[column.name])
    return total, weights, found["bias_weights"]
