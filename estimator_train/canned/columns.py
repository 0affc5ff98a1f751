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
from typing import Any, NamedTuple

import tensorflow as tf
import tf_keras

from estimator_train.canned.arguments import FeatureColumn
from estimator_train.canned.column_kinds import (
    check_kind,
    has_v1_columns,
    is_categorical,
    is_indicator,
    is_plain_embedding,
    is_sequence,
    is_shared_embedding,
)
from estimator_train.canned.lookups import Ids, PaddedIds, PaddedSequence, make_ids
from estimator_train.engine.portability import IdFeatures, feeds_ids, has_sequences
from estimator_train.engine.tf_internals import column_types
from estimator_train.heads.keys import FeatureTensors

_v1 = tf.compat.v1


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
        self.features: dict[Any, Any]
        if isinstance(features, IdFeatures):
            self.features = features.copy()
        else:
            self.features = dict(features)
        self._cache = column_types.FeatureTransformationCache(self.features)
        self._state = _ColumnState()
        self._ids_by_column: dict[Any, Ids | PaddedIds] = {}
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
        shared = self._get_shared_scope()
        with _v1.variable_scope(scope, use_resource=True):
            parts = [self._get_numbers(column, shared, training) for column in columns]
            return tf.concat(parts, axis=1)

    def assign_buckets(self, column: FeatureColumn) -> tf.Tensor:
        """Returns the bucket of each number of a bucketized column, integers [batch, size].

        Args:
          column: The column.

        Raises:
          ValueError: Its feature is missing.
        """
        found = self._cache.get(column, self._state)
        return tf.reshape(found, [tf.shape(found)[0], math.prod(column.source_column.shape)])

    def sequence(self, columns: Sequence[FeatureColumn]) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns the numbers of sequence columns, [batch, time, size], and lengths, [batch].

        Args:
          columns: Checked columns, after which their variables are named.

        Raises:
          ValueError: A column is not a sequence column of numbers.
        """
        shared = self._get_shared_scope()
        parts, lengths = [], []
        for column in columns:
            check_kind(column, column_types.SequenceDenseColumn)
            with _v1.variable_scope(_find_scope_name(column)):
                column.create_state(self._state)
                tensor, length = self._get_steps(column, shared)
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

    def _get_steps(self, column: FeatureColumn, shared: Any) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns the numbers of one sequence column, [batch, time, ...], and lengths, [batch]."""
        categorical: Any = getattr(column, "categorical_column", None)
        is_fed = feeds_ids(categorical) and has_sequences(categorical)
        if isinstance(self.features, IdFeatures) and is_fed:
            steps = PaddedSequence(self.features.get_ids(categorical).ids)
            weights = self._find_embedding(column, shared)
            if weights is not None:
                return steps.look_up(weights), steps.count_steps()
            if is_indicator(column):
                return steps.mark(categorical.num_buckets), steps.count_steps()
        with _v1.variable_scope(shared, auxiliary_name_scope=False):
            found: tuple[tf.Tensor, tf.Tensor] = column.get_sequence_dense_tensor(
                self._cache, self._state
            )
            return found

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
        sums, weights, inputs = [], [], []
        outer = tf.get_current_name_scope()
        for column in columns:
            found = self.compute_linear_input(column)
            name = _find_scope_name(column)
            with (
                _v1.variable_scope(name, auxiliary_name_scope=False),
                tf.name_scope(f"{outer}/{name}/".lstrip("/")),
            ):
                if isinstance(found, (Ids, PaddedIds)):
                    weight = _create_weights(column.num_buckets, units)
                    sums.append(found.combine(weight, combiner, name="weighted_sum"))
                else:
                    weight = _create_weights(found.shape[-1], units)
                    sums.append(tf.matmul(found, weight, name="weighted_sum"))
            weights.append(weight)
            inputs.append(found)
        return Weighted(tf.add_n(sums, name="weighted_sum_no_bias"), weights, inputs)

    def compute_linear_input(self, column: FeatureColumn) -> Ids | PaddedIds | tf.Tensor:
        """Returns the factor of a column's weights in a linear model.

        Args:
          column: A checked column, categorical or dense.

        Returns:
          The ids of a categorical column, or the numbers of a dense one, [batch, size].
        """
        if not is_categorical(column):
            return self._get_numbers(column, self._get_shared_scope())
        with _v1.variable_scope(_find_scope_name(column)):
            column.create_state(self._state)
            return self._get_ids(column)

    def _get_numbers(
        self, column: FeatureColumn, shared: Any, training: bool | None = None
    ) -> tf.Tensor:
        """Returns the numbers of one column, [batch, size]."""
        check_kind(column, column_types.DenseColumn)
        with _v1.variable_scope(_find_scope_name(column)):
            column.create_state(self._state)
            weights = None if is_sequence(column) else self._find_embedding(column, shared)
            if weights is not None:
                return self._get_ids(column.categorical_column).combine(weights, column.combiner)
            counts = is_indicator(column) and not is_sequence(column)
            if isinstance(self.features, IdFeatures) and counts:
                ids = self._get_ids(column.categorical_column)
                if isinstance(ids, PaddedIds):
                    return ids.count(column.categorical_column.num_buckets)
            with _v1.variable_scope(shared, auxiliary_name_scope=False):
                arguments = _make_training_argument(column.get_dense_tensor, training)
                tensor = column.get_dense_tensor(self._cache, self._state, **arguments)
            return tf.reshape(tensor, [tf.shape(tensor)[0], column.variable_shape.num_elements()])

    def _find_embedding(self, column: FeatureColumn, shared: Any) -> Any:
        """Returns the variable of an embedding that `Ids` can look up; None for other columns."""
        if is_plain_embedding(column):
            return self._state.get_variable(column, "embedding_weights")
        if is_shared_embedding(column):
            with _v1.variable_scope(shared, auxiliary_name_scope=False):
                return column.shared_embedding_column_creator.embedding_weights
        return None

    def _get_ids(self, column: FeatureColumn) -> Ids | PaddedIds:
        """Returns the ids of a categorical column, which are computed once or fed."""
        if isinstance(self.features, IdFeatures) and feeds_ids(column):
            given = self.features.get_ids(column)
            return PaddedIds(given.ids, given.weights)
        if column not in self._ids_by_column:
            found = column.get_sparse_tensors(self._cache, self._state)
            self._ids_by_column[column] = make_ids(column, found)
        return self._ids_by_column[column]

    def _get_shared_scope(self) -> Any:
        """Returns the scope in which columns create shared embeddings at their first use."""
        scope = _v1.get_variable_scope()
        return scope if self.v1 else _v1.VariableScope(scope.reuse, name="", use_resource=True)


class _ColumnState(column_types.StateManager):
    """State of columns: tables, and the variables that each created last.

    A column creates its variables again for each part of a model that uses it.
    """

    def __init__(self) -> None:
        self._variables: dict[Any, tf.Variable] = {}
        self._tables: dict[Any, Any] = {}

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


def _make_training_argument(function: Any, training: bool | None) -> dict[str, bool]:
    """Returns the argument `training` for a column's method, if the method takes it."""
    if training is None:
        return {}
    parameters = inspect.signature(function).parameters
    takes = "training" in parameters or any(
        parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()
    )
    return {"training": training} if takes else {}


def _find_scope_name(column: FeatureColumn) -> str:
    """Returns a column's name as a valid name of a scope."""
    return re.sub("[^A-Za-z0-9_.\\-]", "_", column.name)


def _create_weights(rows: int, units: int) -> Any:
    return _v1.get_variable("weights", [rows, units], initializer=_v1.zeros_initializer())
