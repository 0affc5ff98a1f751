"""Feature columns: from the features of a batch to the inputs of a model.

A column knows how its features become ids or numbers; here is where its variables and tables come
from. Variables are those of `tf.compat.v1.get_variable`, so that scopes name, partition and
share them, under a strategy as well.
"""

from __future__ import annotations

import contextlib
import inspect
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from estimator_train.canned.parts.lookups import Ids, ids_of

_columns = tf.__internal__.feature_column
# Its class is not published.
_EMBEDDING = type(
    tf.feature_column.embedding_column(
        tf.feature_column.categorical_column_with_identity("any", num_buckets=1), dimension=1
    )
)
_v1 = tf.compat.v1
_V1_COLUMN = (
    "Received a feature column from TensorFlow v1, but this is a TensorFlow v2 Estimator. Please "
    "either use v2 feature columns (accessible via tf.feature_column.* in TF 2.x) with this "
    "Estimator, or switch to a v1 Estimator for use with v1 feature columns (accessible via "
    "tf.compat.v1.estimator.* and tf.compat.v1.feature_column.*, respectively."
)


def checked_columns(columns: Any, *, v1: bool = False) -> list[Any]:
    """Returns feature columns in the order of their names.

    Args:
      columns: One or several columns.
      v1: Whether columns that exist in `tf.compat.v1.feature_column` alone are allowed.

    Raises:
      ValueError: There are no columns, one is not a column, or two have one name.
    """
    if isinstance(columns, Mapping):
        raise ValueError("Expected feature_columns to be iterable, found dict.")
    found = [columns] if _is_column(columns) else list(columns or ())
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


def has_v1_columns(columns: Sequence[Any]) -> bool:
    """Whether some columns exist in `tf.compat.v1.feature_column` alone."""
    return not all(map(_is_v2, columns))


class Weighted(NamedTuple):
    """A linear model of columns.

    Attributes:
      sums: float32 of shape [batch, units], without the bias.
      weights: The variables, one for each column.
      inputs: What each is multiplied by: `Ids`, or float32 of shape [batch, size].
    """

    sums: tf.Tensor
    weights: list[Any]
    inputs: list[Any]


class Batch:
    """The features of one batch, each transformed once whatever number of columns asks for it.

    Args:
      features: Feature name to tensor.
      v1: Whether a v1 model is built: embeddings that columns share, and summaries, are then
        named within the scope of the model, else without it.

    Raises:
      ValueError: features are not a dict.
    """

    def __init__(self, features: Any, *, v1: bool = False) -> None:
        if not isinstance(features, Mapping):
            raise ValueError(
                f"features should be a dictionary of `Tensor`s. Given type: {type(features)}"
            )
        self.features = dict(features)
        self._cache = _columns.FeatureTransformationCache(self.features)
        self._tables: dict[Any, Any] = {}
        self._found_ids: dict[Any, Ids] = {}
        self._v1 = v1

    def summary_scope(self) -> Any:
        """The name scope in which a model writes its summaries."""
        return contextlib.nullcontext() if self._v1 else tf.name_scope("")

    def dense(
        self, columns: Sequence[Any], scope: str = "input_layer", training: bool | None = None
    ) -> tf.Tensor:
        """Returns the numbers of dense columns side by side, float32 of shape [batch, size].

        Args:
          columns: Checked columns, after which their variables are named.
          scope: What the names begin with.
          training: What columns are told whose `get_dense_tensor` takes `training`; None to
            tell them nothing.

        Raises:
          ValueError: A column is not dense, or its feature is missing.
        """
        if has_v1_columns(columns):
            return _v1.feature_column.input_layer(self.features, columns)
        state, shared = _State(self._tables), self._shared_scope()
        with _v1.variable_scope(scope, use_resource=True):
            parts = [self._numbers(column, state, shared, training) for column in columns]
            return tf.concat(parts, axis=1)

    def buckets(self, column: Any) -> tf.Tensor:
        """Returns the bucket of each number of a bucketized column, integers [batch, size].

        Args:
          column: The column.

        Raises:
          ValueError: Its feature is missing.
        """
        found = self._cache.get(column, _State(self._tables))
        return tf.reshape(found, [tf.shape(found)[0], math.prod(column.source_column.shape)])

    def sequence(self, columns: Sequence[Any]) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns the numbers of sequence columns, [batch, time, size], and lengths, [batch].

        Args:
          columns: Checked columns, after which their variables are named.

        Raises:
          ValueError: A column is not a sequence column of numbers.
        """
        state, shared = _State(self._tables), self._shared_scope()
        parts, lengths = [], []
        for column in columns:
            _check_kind(column, _columns.SequenceDenseColumn)
            with _v1.variable_scope(_scope_name(column)):
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

    def weighted_sum(self, columns: Sequence[Any], units: int, combiner: str) -> Weighted:
        """Returns a linear model of the columns, without its bias.

        Args:
          columns: Checked columns, categorical or dense, after which weights are named.
          units: How many numbers it gives for an example.
          combiner: How several values of a categorical column become one: "sum", "mean" or
            "sqrtn".

        Raises:
          ValueError: A column is neither categorical nor dense, or its feature is missing.
        """
        state, shared = _State(self._tables), self._shared_scope()
        sums, weights, inputs = [], [], []
        for column in columns:
            found = self._linear_input(column, state, shared)
            with _v1.variable_scope(_scope_name(column)):
                if isinstance(found, Ids):
                    weight = _weights(column.num_buckets, units)
                    sums.append(found.reduced(weight, combiner))
                else:
                    weight = _weights(found.shape[-1], units)
                    sums.append(tf.matmul(found, weight))
            weights.append(weight)
            inputs.append(found)
        return Weighted(tf.add_n(sums), weights, inputs)

    def linear_input(self, column: Any) -> Ids | tf.Tensor:
        """Returns what a linear model multiplies the weights of a column by.

        Args:
          column: A checked column, categorical or dense.

        Returns:
          The ids of a categorical column, or the numbers of a dense one, [batch, size].
        """
        return self._linear_input(column, _State(self._tables), self._shared_scope())

    def _linear_input(self, column: Any, state: Any, shared: Any) -> Ids | tf.Tensor:
        if not _is_categorical(column):
            return self._numbers(column, state, shared)
        with _v1.variable_scope(_scope_name(column)):
            column.create_state(state)
            return self._ids(column, state)

    def _numbers(
        self, column: Any, state: Any, shared: Any, training: bool | None = None
    ) -> tf.Tensor:
        """The numbers of one column, [batch, size]."""
        _check_kind(column, _columns.DenseColumn)
        with _v1.variable_scope(_scope_name(column)):
            column.create_state(state)
            if _is_plain_embedding(column):
                weights = state.get_variable(column, "embedding_weights")
                ids = self._ids(column.categorical_column, state)
                return ids.reduced(weights, column.combiner)
            with _v1.variable_scope(shared, auxiliary_name_scope=False):
                tensor = column.get_dense_tensor(
                    self._cache, state, **_told(column.get_dense_tensor, training)
                )
            return tf.reshape(tensor, [tf.shape(tensor)[0], column.variable_shape.num_elements()])

    def _ids(self, column: Any, state: Any) -> Ids:
        """The ids of a categorical column, found once."""
        if column not in self._found_ids:
            self._found_ids[column] = ids_of(column, column.get_sparse_tensors(self._cache, state))
        return self._found_ids[column]

    def _shared_scope(self) -> Any:
        """The scope of embeddings that columns share, which they make at their first use."""
        scope = _v1.get_variable_scope()
        return scope if self._v1 else _v1.VariableScope(scope.reuse, name="", use_resource=True)


class _State(tf.__internal__.feature_column.StateManager):
    """What columns keep: variables for each part of a model, tables for all parts together."""

    def __init__(self, tables: dict[Any, Any]) -> None:
        self._variables: dict[Any, tf.Variable] = {}
        self._tables = tables

    def create_variable(
        self,
        feature_column: Any,
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

    def get_variable(self, feature_column: Any, name: str) -> Any:
        """Returns a variable that was created."""
        return self._variables[feature_column, name]

    def add_resource(self, feature_column: Any, name: str, resource: Any) -> None:
        """Keeps a table."""
        self._tables[feature_column, name] = resource

    def has_resource(self, feature_column: Any, name: str) -> bool:
        """Whether a table is kept."""
        return (feature_column, name) in self._tables

    def get_resource(self, feature_column: Any, name: str) -> Any:
        """Returns a table that is kept."""
        return self._tables[feature_column, name]


def _is_v2(column: Any) -> bool:
    return isinstance(column, _columns.FeatureColumn)


def _is_column(column: Any) -> bool:
    # The columns of v1 have no public class.
    return _is_v2(column) or hasattr(column, "_parse_example_spec")


def _is_categorical(column: Any) -> bool:
    return hasattr(column, "num_buckets") and hasattr(column, "get_sparse_tensors")


def _is_plain_embedding(column: Any) -> bool:
    """Whether a column is an embedding of its own that `Ids` can look up."""
    return (
        getattr(type(column), "get_dense_tensor", None) is _EMBEDDING.get_dense_tensor
        and column.max_norm is None
        and column.use_safe_embedding_lookup
        and not hasattr(column.categorical_column, "get_sequence_sparse_tensors")
    )


def _told(function: Any, training: bool | None) -> dict[str, bool]:
    """What a column's method is told of training, if it takes that."""
    if training is None:
        return {}
    parameters = inspect.signature(function).parameters
    takes = "training" in parameters or any(
        parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()
    )
    return {"training": training} if takes else {}


def _check_kind(column: Any, kind: type) -> None:
    if not isinstance(column, kind):
        raise ValueError(
            f"Items of feature_columns must be a {kind}. You can wrap a categorical column with "
            f"an embedding_column or indicator_column. Given: {column}"
        )


def _scope_name(column: Any) -> str:
    """A column's name as the name of a scope."""
    return re.sub("[^A-Za-z0-9_.\\-]", "_", column.name)


def _weights(rows: int, units: int) -> Any:
    return _v1.get_variable("weights", [rows, units], initializer=_v1.zeros_initializer())
