"""The steps of stochastic dual coordinate ascent on a linear model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from estimator_train.canned.lookups import Ids
from estimator_train.canned.models import LinearModel

_v1 = tf.compat.v1
# Numbers kept for an example: dual variable, primal and dual loss, weight.
_STATE_SIZE = 4
# Reserved keys, the same as in tables of tf.estimator 2.15.
_EMPTY, _DELETED = [0, 0], [1, 1]


class Settings(NamedTuple):
    """Arguments of `LinearSDCA`, in the order of its constructor."""

    id_column: str
    partitions: int
    shards: int
    l1: float
    l2: float
    adaptive: bool


def build_train_op(
    settings: Settings,
    model: LinearModel,
    features: Mapping[str, Any],
    labels: tf.Tensor,
    weights: tf.Tensor | None,
    loss_type: str,
    step: tf.Variable,
    scope: str,
    suffix: str = "_unshrunk",
) -> tf.Operation:
    """Returns the operation of a training step.

    Args:
      settings: Settings of the optimizer.
      model: The linear model to train.
      features: The features of a batch, with the ids of examples.
      labels: Labels of shape [batch] or [batch, 1].
      weights: Weights of examples, of the shape of the labels; or None.
      loss_type: Name of a loss of `tf.raw_ops.SdcaOptimizerV2`.
      step: Variable to increment.
      scope: Name scope of the summaries and of the new variables; "": none.
      suffix: End of the names of the variables that hold weights before l1 shrinks them.

    Raises:
      KeyError: features have no ids of examples.
      ValueError: There are several replicas.
    """
    if tf.distribute.get_strategy().num_replicas_in_sync > 1:
        raise ValueError(
            "LinearSDCA cannot train several replicas. Train without a strategy, or with "
            "parameter servers and num_loss_partitions=(number of workers)."
        )
    if settings.id_column not in features:
        raise KeyError(
            f"{settings.id_column} is not among the features {sorted(features)}: the "
            "example_id_column of LinearSDCA holds the ids of examples"
        )
    labels = tf.reshape(tf.cast(labels, tf.float32), [-1])
    weights = tf.ones_like(labels) if weights is None else tf.reshape(weights, [-1])
    ids = tf.raw_ops.SdcaFprint(input=tf.reshape(features[settings.id_column], [-1]))
    ids = tf.reshape(ids, [-1, 2])
    table = _ExampleTable(settings.shards)
    groups = [
        _Group(found, _Weights(variable, scope, suffix))
        for found, variable in zip(
            [*model.inputs, tf.ones_like(labels)[:, None]],
            [*model.weights, model.bias],
            strict=True,
        )
    ]
    _write_summaries(scope, settings, table, groups)
    kept, updates = _solve(settings, groups, table.look_up(ids), labels, weights, loss_type)
    with tf.control_dependencies([*updates, *table.insert(ids, kept)]):
        shrunk = [
            operation
            for group in groups
            for operation in group.weights.shrink(settings.l1 / settings.l2)
        ]
    with tf.control_dependencies(shrunk):
        return _v1.assign_add(step, 1).op


def _solve(
    settings: Settings,
    groups: Sequence[_Group],
    kept: tf.Tensor,
    labels: tf.Tensor,
    weights: tf.Tensor,
    loss_type: str,
) -> tuple[tf.Tensor, list[Any]]:
    """Returns the new state of the examples and the operations that update the weights."""
    sparse = [group for group in groups if isinstance(group.found, Ids)]
    dense = [group for group in groups if not isinstance(group.found, Ids)]
    places = [tf.unique(group.found.values)[0] for group in sparse]
    solved = tf.raw_ops.SdcaOptimizerV2(
        sparse_example_indices=[group.found.rows for group in sparse],
        sparse_feature_indices=[group.found.values for group in sparse],
        sparse_feature_values=[_get_values(group.found) for group in sparse],
        dense_features=[group.found for group in dense],
        example_weights=weights,
        example_labels=labels,
        sparse_indices=places,
        sparse_weights=[
            group.weights.read_at(found) for group, found in zip(sparse, places, strict=True)
        ],
        dense_weights=[tf.reshape(group.weights.read_all(), [-1]) for group in dense],
        example_state_data=kept,
        loss_type=loss_type,
        l1=settings.l1,
        l2=settings.l2,
        num_loss_partitions=settings.partitions,
        num_inner_iterations=1,
        adaptive=settings.adaptive,
    )
    places += [tf.range(tf.size(delta, tf.int64)) for delta in solved.out_delta_dense_weights]
    deltas = [*solved.out_delta_sparse_weights, *solved.out_delta_dense_weights]
    updates = []
    for group, found, delta in zip([*sparse, *dense], places, deltas, strict=True):
        updates += group.weights.add(found, delta)
    return solved.out_example_state_data, updates


def _get_values(ids: Ids) -> tf.Tensor:
    return tf.ones_like(ids.rows, tf.float32) if ids.weights is None else ids.weights


def _write_summaries(
    scope: str, settings: Settings, table: _ExampleTable, groups: Sequence[_Group]
) -> None:
    """Adds summaries of the duality gap and of the number of examples."""
    kept, seen = table.read_all()
    model = tf.concat([group.weights.read_shrunk() for group in groups], 0)
    penalty = settings.l1 * tf.reduce_sum(tf.abs(model)) + settings.l2 * tf.reduce_sum(model**2)
    _, primal_losses, dual_losses, weights = tf.unstack(tf.reduce_sum(kept, 0))
    gap = primal_losses + dual_losses + penalty
    with _v1.name_scope(f"{scope}/" if scope else None):
        _v1.summary.scalar("approximate_duality_gap", gap / weights)
        _v1.summary.scalar("examples_seen", seen)


class _Weights:
    """Weights that a step changes; the model's weights are these, shrunk towards 0 by l1.

    Args:
      variable: The model's, of shape [size, 1] or [1], partitioned or not.
      scope: First part of the names of the new variables.
      suffix: Last part of these names.
    """

    def __init__(self, variable: Any, scope: str, suffix: str) -> None:
        self._shrunk = list(variable) if hasattr(variable, "as_tensor") else [variable]
        with _v1.name_scope(f"{scope}/" if scope else None):
            self._parts = [
                _v1.Variable(
                    tf.zeros(part.shape),
                    use_resource=True,
                    name=f"{part.op.name}{suffix}",
                )
                for part in self._shrunk
            ]

    def read_all(self) -> tf.Tensor:
        """Returns all elements, [size]."""
        return tf.concat([tf.reshape(part, [-1]) for part in self._parts], 0)

    def read_shrunk(self) -> tf.Tensor:
        """Returns the model's weights, [size]."""
        return tf.concat([tf.reshape(part, [-1]) for part in self._shrunk], 0)

    def read_at(self, places: tf.Tensor) -> tf.Tensor:
        """Returns the elements at some indices."""
        source = self._parts[0] if len(self._parts) == 1 else self.read_all()
        return tf.reshape(tf.gather(source, places), [-1])

    def add(self, places: tf.Tensor, delta: tf.Tensor) -> list[Any]:
        """Returns operations that add to the elements at some indices."""
        added, begin = [], 0
        for part in self._parts:
            end = begin + int(part.shape[0])
            here = tf.where((places >= begin) & (places < end))[:, 0]
            change = tf.reshape(tf.gather(delta, here), [-1, *part.shape[1:]])
            added.append(
                part.scatter_add(tf.IndexedSlices(change, tf.gather(places, here) - begin))
            )
            begin = end
        return added

    def shrink(self, by: float) -> list[Any]:
        """Returns operations that write the model's weights."""
        return [
            shrunk.assign(tf.sign(part) * tf.nn.relu(tf.abs(part) - by))
            for shrunk, part in zip(self._shrunk, self._parts, strict=True)
        ]


class _Group(NamedTuple):
    """Column of the model, or its bias, with its weights.

    Attributes:
      found: Values of the column in a batch: `Ids`, or float32 of shape [batch, size].
      weights: Weights of these values.
    """

    found: Any
    weights: _Weights


class _ExampleTable:
    """State of each example by the fingerprint of its id, in tables that checkpoints hold.

    Args:
      shards: Number of tables.
    """

    def __init__(self, shards: int) -> None:
        self._tables = [
            tf.lookup.experimental.DenseHashTable(
                tf.int64,
                tf.float32,
                default_value=[0.0] * _STATE_SIZE,
                empty_key=_EMPTY,
                deleted_key=_DELETED,
                name=f"ShardedMutableHashTable-{number + 1}-of-{shards}",
            )
            for number in range(shards)
        ]

    def look_up(self, ids: tf.Tensor) -> tf.Tensor:
        """Returns the state of examples, [batch, 4]; zeros for new examples."""
        # A table returns zeros for an unknown example.
        return tf.add_n(
            [
                tf.where(mine[:, None], table.lookup(ids), 0.0)
                for table, mine in zip(self._tables, self._find_owners(ids), strict=True)
            ]
        )

    def insert(self, ids: tf.Tensor, kept: tf.Tensor) -> list[Any]:
        """Returns operations that write the state of examples."""
        return [
            table.insert(tf.boolean_mask(ids, mine), tf.boolean_mask(kept, mine))
            for table, mine in zip(self._tables, self._find_owners(ids), strict=True)
        ]

    def read_all(self) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns the state of all examples, [count, 4], and their count."""
        found = []
        for table in self._tables:
            exported, values = table.export()
            keys, values = tf.reshape(exported, [-1, 2]), tf.reshape(values, [-1, _STATE_SIZE])
            found.append(tf.boolean_mask(values, tf.reduce_any(tf.not_equal(keys, _EMPTY), 1)))
        return tf.concat(found, 0), tf.add_n([table.size() for table in self._tables])

    def _find_owners(self, ids: tf.Tensor) -> list[tf.Tensor]:
        """Returns for each table a mask of the examples that it holds."""
        shard = tf.abs(ids[:, 0]) % len(self._tables)
        return [tf.equal(shard, number) for number in range(len(self._tables))]
