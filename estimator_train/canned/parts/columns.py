"""Feature columns: from the features of a batch to the inputs of a model.

A column converts its features to ids or numbers; this module creates its variables and tables.
`tf.compat.v1.get_variable` creates the variables, so that scopes name, partition and share them,
also under a strategy.
"""

from __future__ import annotations

import contextlib
import inspect
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

import tensorflow as tf
import tf_keras

from estimator_train.canned.parts.argument_types import FeatureColumn, FeatureColumns
from estimator_train.canned.parts.lookups import Ids, make_ids
from estimator_train.engine.tf_internals import column_types
from estimator_train.heads.types import FeatureTensors

_v1 = tf.compat.v1
_V1_COLUMN = (
    "Received a feature column from TensorFlow v1, but this is a TensorFlow v2 Estimator. Please "
    "either use v2 feature columns (accessible via tf.feature_column.* in TF 2.x) with this "
    "Estimator, or switch to a v1 Estimator for use with v1 feature columns (accessible via "
    "tf.compat.v1.estimator.* and tf.compat.v1.feature_column.*, respectively."
)


def validate_columns(columns: FeatureColumns, *, v1: bool = False) -> list[Any]:
    """Returns feature columns in the order of their names.

    Args:
      columns: One or several columns.
      v1: Whether columns that exist in `tf.compat.v1.feature_column` alone are allowed.

    Raises:
      ValueError: There are no columns, one is not a column, or two have one name.
    """
    if isinstance(columns, Mapping):
        raise ValueError("Expected feature_columns to be iterable, found dict.")
    found: list[Any] = [columns] if _is_column(columns) else list(cast("Any", columns) or ())
    if not found:
        raise ValueError("feature_columns must not be empty.")
    by_name: dict[str, Any] = {}
    for column in found:
        if not _is_column(column):
            raise ValueError(
                f"Items of feature_columns must be a _FeatureColumn. Given (type {type(column)}): "
                f"{column}."
            )
        if not (v1 or _is_v2(column)):
            raise ValueError(_V1_COLUMN + f"). Given: {column}")
        if column.name in by_name:
            raise ValueError(
                f"Duplicate feature column name found for columns: {by_name[column.name]} and "
                f"{column}. This usually means that these columns refer to same base feature. "
                "Either one must be discarded or a duplicated but renamed item must be inserted "
                "in features dict."
            )
        by_name[column.name] = column
    return [by_name[name] for name in sorted(by_name)]


def has_v1_columns(columns: Sequence[FeatureColumn]) -> bool:
    """Returns whether some columns exist in `tf.compat.v1.feature_column` alone."""
    return not all(map(_is_v2, columns))


class Weighted(NamedTuple):
    """Linear model of columns.

    Attributes:
      sums: float32 of shape [batch, units], without the bias.
      weights: The variables, one for each column.
      inputs: Factor of each variable: `Ids`, or float32 of shape [batch, size].
    """

    sums: tf.Tensor
    weights: list[Any]
    inputs: list[Any]


class Batch:
    """Features of one batch; columns that use the same feature share its transformation.

    Args:
      features: Feature name to tensor.
      v1: Whether a v1 model is built, which names shared embeddings and summaries within the
        scope of the model.

    Raises:
      ValueError: features are not a dict.
    """

    def __init__(self, features: FeatureTensors, *, v1: bool = False) -> None:
        if not isinstance(features, Mapping):
            raise ValueError(
                f"features should be a dictionary of `Tensor`s. Given type: {type(features)}"
            )
        self.features = dict(features)
        self._cache = column_types.FeatureTransformationCache(self.features)
        self._tables: dict[Any, Any] = {}
        self._ids_by_column: dict[Any, Ids] = {}
        self.v1 = v1

    def summary_scope(self) -> Any:
        """Returns the name scope of the summaries of a model."""
        return contextlib.nullcontext() if self.v1 else tf.name_scope("")

    def dense(
        self,
        columns: Sequence[FeatureColumn],
        scope: str = "input_layer",
        training: bool | None = None,
    ) -> tf.Tensor:
        """Returns the numbers of dense columns side by side, float32 of shape [batch, size].

        Args:
          columns: Checked columns, after which their variables are named.
          scope: First part of the names of variables.
          training: Value for columns whose `get_dense_tensor` takes `training`, or None to pass
            no value.

        Raises:
          ValueError: A column is not dense, or its feature is missing.
        """
        if has_v1_columns(columns):
            return _v1.feature_column.input_layer(self.features, columns)
        if training is not None and not self.v1 and _is_dense_features_replaced():
            layer = tf_keras.layers.DenseFeatures(columns, name=scope)
            return layer(self.features, training=training)
        state, shared = _ColumnState(self._tables), self._get_shared_scope()
        with _v1.variable_scope(scope, use_resource=True):
            parts = [self._get_numbers(column, state, shared, training) for column in columns]
            return tf.concat(parts, axis=1)

    def assign_buckets(self, column: FeatureColumn) -> tf.Tensor:
        """Returns the bucket of each number of a bucketized column, integers [batch, size].

        Args:
          column: The column.

        Raises:
          ValueError: Its feature is missing.
        """
        found = self._cache.get(column, _ColumnState(self._tables))
        return tf.reshape(found, [tf.shape(found)[0], math.prod(column.source_column.shape)])

    def sequence(self, columns: Sequence[FeatureColumn]) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns the numbers of sequence columns, [batch, time, size], and lengths, [batch].

        Args:
          columns: Checked columns, after which their variables are named.

        Raises:
          ValueError: A column is not a sequence column of numbers.
        """
        state, shared = _ColumnState(self._tables), self._get_shared_scope()
        parts, lengths = [], []
        for column in columns:
            _check_kind(column, column_types.SequenceDenseColumn)
            with _v1.variable_scope(_find_scope_name(column)):
                column.create_state(state)
                with _v1.variable_scope(shared, auxiliary_name_scope=False):
                    tensor, length = column.get_sequence_dense_tensor(self._cache, state)
                shape = tf.shape(tensor)
                size = column.variable_shape.num_elements()
                parts.append(tf.reshape(tensor, [shape[0], shape[1], size]))
                lengths.append(length)
        same = [
            tf.debugging.assert_equal(
                length, lengths[0], f"sequence_feature_columns {columns[0].name} and {column.name} "
                "must have the same lengths of sequences",
            )
            for column, length in zip(columns[1:], lengths[1:], strict=True)
        ]  # fmt: skip
        with tf.control_dependencies(same):
            return tf.concat(parts, axis=2), tf.identity(lengths[0])

    def compute_weighted_sum(
        self, columns: Sequence[FeatureColumn], units: int, combiner: str
    ) -> Weighted:
        """Returns a linear model of the columns, without its bias.

        Args:
          columns: Checked columns, categorical or dense, after which weights are named.
          units: Number of outputs for an example.
          combiner: How several values of a categorical column become one: "sum", "mean" or
            "sqrtn".

        Raises:
          ValueError: A column is neither categorical nor dense, or its feature is missing.
        """
        state, shared = _ColumnState(self._tables), self._get_shared_scope()
        sums, weights, inputs = [], [], []
        for column in columns:
            found = self._compute_linear_input(column, state, shared)
            with _v1.variable_scope(_find_scope_name(column)):
                if isinstance(found, Ids):
                    weight = _create_weights(column.num_buckets, units)
                    sums.append(found.combine(weight, combiner))
                else:
                    weight = _create_weights(found.shape[-1], units)
                    sums.append(tf.matmul(found, weight))
            weights.append(weight)
            inputs.append(found)
        return Weighted(tf.add_n(sums), weights, inputs)

    def compute_linear_input(self, column: FeatureColumn) -> Ids | tf.Tensor:
        """Returns the factor of a column's weights in a linear model.

        Args:
          column: A checked column, categorical or dense.

        Returns:
          The ids of a categorical column, or the numbers of a dense one, [batch, size].
        """
        return self._compute_linear_input(
            column, _ColumnState(self._tables), self._get_shared_scope()
        )

    def _compute_linear_input(
        self, column: FeatureColumn, state: Any, shared: Any
    ) -> Ids | tf.Tensor:
        if not _is_categorical(column):
            return self._get_numbers(column, state, shared)
        with _v1.variable_scope(_find_scope_name(column)):
            column.create_state(state)
            return self._get_ids(column, state)

    def _get_numbers(
        self, column: FeatureColumn, state: Any, shared: Any, training: bool | None = None
    ) -> tf.Tensor:
        """Returns the numbers of one column, [batch, size]."""
        _check_kind(column, column_types.DenseColumn)
        with _v1.variable_scope(_find_scope_name(column)):
            column.create_state(state)
            weights = self._find_embedding(column, state, shared)
            if weights is not None:
                return self._get_ids(column.categorical_column, state).combine(
                    weights, column.combiner
                )
            with _v1.variable_scope(shared, auxiliary_name_scope=False):
                tensor = column.get_dense_tensor(
                    self._cache, state, **_make_training_argument(column.get_dense_tensor, training)
                )
            return tf.reshape(tensor, [tf.shape(tensor)[0], column.variable_shape.num_elements()])

    def _find_embedding(self, column: FeatureColumn, state: Any, shared: Any) -> Any:
        """Returns the variable of an embedding that `Ids` can look up; None for other columns."""
        if _is_plain_embedding(column):
            return state.get_variable(column, "embedding_weights")
        if _is_shared_embedding(column):
            with _v1.variable_scope(shared, auxiliary_name_scope=False):
                return column.shared_embedding_column_creator.embedding_weights
        return None

    def _get_ids(self, column: FeatureColumn, state: Any) -> Ids:
        """Returns the ids of a categorical column, which are computed once."""
        if column not in self._ids_by_column:
            self._ids_by_column[column] = make_ids(
                column, column.get_sparse_tensors(self._cache, state)
            )
        return self._ids_by_column[column]

    def _get_shared_scope(self) -> Any:
        """Returns the scope in which columns create shared embeddings at their first use."""
        scope = _v1.get_variable_scope()
        return scope if self.v1 else _v1.VariableScope(scope.reuse, name="", use_resource=True)


class _ColumnState(column_types.StateManager):
    """State of columns: variables of one part of a model, and tables that all parts share."""

    def __init__(self, tables: dict[Any, Any]) -> None:
        self._variables: dict[Any, tf.Variable] = {}
        self._tables = tables

    def create_variable(
        self,
        feature_column: FeatureColumn,
        name: str,
        shape: Any,
        dtype: Any = None,
        trainable: bool = True,
        use_resource: bool = True,
        initializer: Any = None,
    ) -> Any:
        """Returns a variable of a column, in the current scope."""
        variable = _v1.get_variable(
            name, shape, dtype, initializer, trainable=trainable, use_resource=use_resource
        )
        self._variables[feature_column, name] = variable
        return variable

    def get_variable(self, feature_column: FeatureColumn, name: str) -> Any:
        """Returns a variable that was created."""
        return self._variables[feature_column, name]

    def add_resource(self, feature_column: FeatureColumn, name: str, resource: Any) -> None:
        """Adds a table."""
        self._tables[feature_column, name] = resource

    def has_resource(self, feature_column: FeatureColumn, name: str) -> bool:
        """Returns whether a table was added."""
        return (feature_column, name) in self._tables

    def get_resource(self, feature_column: FeatureColumn, name: str) -> Any:
        """Returns a table that was added."""
        return self._tables[feature_column, name]


def _is_dense_features_replaced() -> bool:
    """Returns whether the program replaced `tf_keras.layers.DenseFeatures.call` by a function."""
    defined_in = getattr(tf_keras.layers.DenseFeatures.call, "__globals__", {})
    return not str(defined_in.get("__name__")).startswith("tf_keras.")


def _is_v2(column: object) -> bool:
    return isinstance(column, column_types.FeatureColumn)


def _is_column(column: object) -> bool:
    # The columns of v1 have no public class.
    return _is_v2(column) or hasattr(column, "_parse_example_spec")


def _is_categorical(column: FeatureColumn) -> bool:
    return hasattr(column, "num_buckets") and hasattr(column, "get_sparse_tensors")


def _is_plain_embedding(column: FeatureColumn) -> bool:
    """Returns whether a column is an embedding, not shared, that `Ids` can look up."""
    return _computes_as(column, column_types.EmbeddingColumn) and _has_plain_lookup(column)


def _is_shared_embedding(column: FeatureColumn) -> bool:
    """Returns whether a column is a shared embedding that `Ids` can look up."""
    kind = column_types.SharedEmbeddingColumn
    return _computes_as(column, kind) and _has_plain_lookup(column)


def _computes_as(column: FeatureColumn, kind: Any) -> bool:
    return getattr(type(column), "get_dense_tensor", None) is kind.get_dense_tensor


def _has_plain_lookup(column: FeatureColumn) -> bool:
    return (
        column.max_norm is None
        and column.use_safe_embedding_lookup
        and not hasattr(column.categorical_column, "get_sequence_sparse_tensors")
    )


def _make_training_argument(function: Any, training: bool | None) -> dict[str, bool]:
    """Returns the argument `training` for a column's method, if the method takes it."""
    if training is None:
        return {}
    parameters = inspect.signature(function).parameters
    takes = "training" in parameters or any(
        parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()
    )
    return {"training": training} if takes else {}


def _check_kind(column: FeatureColumn, kind: type) -> None:
    if not isinstance(column, kind):
        raise ValueError(
            f"Items of feature_columns must be a {kind}. You can wrap a categorical column with "
            f"an embedding_column or indicator_column. Given: {column}"
        )


def _find_scope_name(column: FeatureColumn) -> str:
    """Returns a column's name as a valid name of a scope."""
    return re.sub("[^A-Za-z0-9_.\\-]", "_", column.name)


def _create_weights(rows: int, units: int) -> Any:
    return _v1.get_variable("weights", [rows, units], initializer=_v1.zeros_initializer())
