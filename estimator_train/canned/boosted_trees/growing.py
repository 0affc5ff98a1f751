"""Grows trees, and stops training when the ensemble is complete."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_train.canned.boosted_trees.ensemble import (
    SCOPE,
    Ensemble,
    Settings,
    create_state_variable,
)
from estimator_train.canned.boosted_trees.features import Features
from estimator_train.canned.boosted_trees.splits import (
    Derivatives,
    Splits,
    find_best_splits,
    shrink,
    sum_derivatives,
)

_v1 = tf.compat.v1
# The bias is centered when a step changes it by this share or less.
_CENTERED = 0.01


class StopWhenGrown(tf.compat.v1.train.SessionRunHook):
    """Hook that stops training when all trees are finished, or too many layers added nothing.

    Args:
      ensemble: The trees.
      settings: Give the number of trees.
      train_op: The training step; the hook reads the trees after each step.
    """

    def __init__(self, ensemble: Ensemble, settings: Settings, train_op: Any) -> None:
        self._settings = settings
        self._due = 0
        with tf.control_dependencies([train_op]):
            step = tf.compat.v1.train.get_or_create_global_step()
            state = (ensemble.finished, ensemble.layers, ensemble.attempted, step)
            self._state = [variable.read_value() for variable in state]

    def steps_until_due(self, global_step: int) -> int:
        """Returns the minimum number of steps until the last layer can be grown."""
        return self._due - global_step

    def before_run(self, run_context: Any) -> tf.compat.v1.train.SessionRunArgs:
        """Requests the state of the trees."""
        return tf.compat.v1.train.SessionRunArgs(self._state)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Requests a stop if the trees are finished."""
        finished, layers, attempted, step = (int(number) for number in run_values.results)
        settings = self._settings
        to_grow = (settings.n_trees - finished) * settings.max_depth - layers
        to_attempt = settings.max_layers + 1 - attempted
        left = min(to_grow, to_attempt)
        # The first of these layers may need only one more batch.
        self._due = step + (left - 1) * settings.batches + 1
        if left <= 0:
            run_context.request_stop()


class Grower:
    """Grows an ensemble.

    Args:
      ensemble: The trees.
      features: Features of the trees.
      settings: Settings of the model.
      logits: Number of logits.
    """

    def __init__(
        self, ensemble: Ensemble, features: Features, settings: Settings, logits: int
    ) -> None:
        self._ensemble, self._features = ensemble, features
        self._settings, self._logits = settings, logits
        self._max_nodes = 2 ** (settings.max_depth - 1)
        shape = [self._max_nodes, features.bucket_count, logits + logits**2]
        self._layer = _Mean("layer", shape, settings.batches)
        if settings.center_bias:
            self._bias = _Mean("bias", [2], settings.batches)

    def add(self, ids: tf.Tensor, node: tf.Tensor, found: Derivatives) -> tf.Tensor:
        """Adds a batch; the last batch of a layer grows the trees.

        Args:
          ids: Buckets of the batch, int32 [batch, features].
          node: Each example's node in the tree that grows, int32 [batch].
          found: The derivatives of the batch's loss.

        Returns:
          A tensor to wait for.
        """
        if not self._settings.center_bias:
            return self._add_to_layer(ids, node, found)
        return tf.cond(
            self._ensemble.centering,
            lambda: self._add_to_bias(found),
            lambda: self._add_to_layer(ids, node, found),
        )

    def _add_to_bias(self, found: Derivatives) -> tf.Tensor:
        # A mean of means: with l1 and l2 it differs from a sum.
        means = [tf.reduce_mean(tf.cast(part, tf.float64)) for part in found]
        return self._bias.add(tf.stack(means), self._center)

    def _center(self, means: tf.Tensor) -> None:
        """Moves the bias, the root of the first tree, to the minimum of the loss."""
        ensemble = self._ensemble
        gradient, hessian = tf.unstack(means)
        divisor = hessian + self._settings.l2_regularization
        gradient = shrink(gradient, self._settings.l1_regularization)
        step = tf.where(divisor > 0, -gradient / divisor, tf.zeros_like(divisor))
        step = tf.cast(step, tf.float32)
        bias = ensemble.trees.value[0, 0, 0]
        ensemble.centering.assign(~ensemble.started | (tf.abs(step) > _CENTERED * tf.abs(bias)))
        ensemble.started.assign(True)
        ensemble.trees.value[0, 0, 0].assign(bias + step)

    def _add_to_layer(self, ids: tf.Tensor, node: tf.Tensor, found: Derivatives) -> tf.Tensor:
        count = _count_nodes(self._ensemble.layers.read_value())
        nodes: Any = self._max_nodes if self._settings.batches > 1 else count
        sums = sum_derivatives(self._features, ids, node - (count - 1), found, nodes)
        return self._layer.add(sums, self._grow)

    def _grow(self, sums: tf.Tensor) -> None:
        """Splits the leaves of the last layer."""
        ensemble, settings = self._ensemble, self._settings
        ensemble.add_missing_rows()
        tree, layers = ensemble.finished.read_value(), ensemble.layers.read_value()
        count = _count_nodes(layers)
        begin = count - 1
        nodes = begin + tf.range(count)
        parents = tf.gather(ensemble.trees.feature[tree], tf.maximum(nodes - 1, 0) // 2)
        is_node = tf.equal(nodes, 0) | (parents >= 0)
        splits = find_best_splits(sums[:count], self._features, settings, self._logits, is_node)
        self._write(splits, tree, begin, count)
        ensemble.attempted.assign_add(1)
        ensemble.started.assign(True)
        grown = layers + tf.cast(tf.reduce_any(splits.allowed), tf.int32)
        ensemble.layers.assign(grown)
        tf.cond(grown >= settings.max_depth, lambda: self._finish(tree), lambda: True)

    def _write(self, splits: Splits, tree: tf.Tensor, begin: tf.Tensor, count: tf.Tensor) -> None:
        trees, rate = self._ensemble.trees, self._settings.learning_rate
        allowed, end = splits.allowed, begin + count
        trees.feature[tree, begin:end].assign(tf.where(allowed, splits.feature, -1))
        trees.threshold[tree, begin:end].assign(tf.where(allowed, splits.threshold, 0))
        self._ensemble.gain[tree, begin:end].assign(tf.where(allowed, splits.gain, 0.0))
        parents = trees.value[tree, begin:end]
        children = tf.stack([parents + rate * splits.left, parents + rate * splits.right], 1)
        children = tf.where(allowed[:, None, None], children, 0.0)
        children = tf.reshape(children, [2 * count, self._logits])
        trees.value[tree, 2 * begin + 1 : 2 * end + 1].assign(children)

    def _finish(self, tree: tf.Tensor) -> bool:
        if self._settings.pruning_mode == "post":
            self._prune(tree)
        self._ensemble.finished.assign_add(1)
        self._ensemble.layers.assign(0)
        return True

    def _prune(self, tree: tf.Tensor) -> None:
        """Removes splits with a negative gain, from the leaves upwards."""
        feature, gain = self._ensemble.trees.feature, self._ensemble.gain
        for level in reversed(range(self._settings.max_depth)):
            begin, end = 2**level - 1, 2 ** (level + 1) - 1
            loses = gain[tree, begin:end] < 0
            if end < 2**self._settings.max_depth - 1:
                children = feature[tree, end : 2 * end + 1] >= 0
                loses &= ~tf.reduce_any(tf.reshape(children, [-1, 2]), 1)
            kept = feature[tree, begin:end]
            feature[tree, begin:end].assign(tf.where(loses, -1, kept))
            gain[tree, begin:end].assign(tf.where(loses, 0.0, gain[tree, begin:end]))


class _Mean:
    """Mean of a tensor over some batches, in variables if there are several batches."""

    def __init__(self, name: str, shape: list[int], batches: int) -> None:
        self._batches = batches
        if batches > 1:
            with _v1.variable_scope(f"{SCOPE}/{name}", use_resource=True):
                self._sum = create_state_variable("sum", shape, tf.float64)
                self._seen = create_state_variable("batches", [], tf.int32)

    def add(self, value: tf.Tensor, use: Any) -> tf.Tensor:
        """Adds a batch, and calls `use` with the mean if it is the last one."""
        if self._batches == 1:
            use(value)
            return tf.constant(True)
        self._sum.assign_add(value)
        self._seen.assign_add(1)
        return tf.cond(self._seen >= self._batches, lambda: self._end(use), lambda: False)

    def _end(self, use: Any) -> bool:
        use(self._sum / self._batches)
        self._sum.assign(tf.zeros_like(self._sum))
        self._seen.assign(0)
        return True


def _count_nodes(level: tf.Tensor) -> tf.Tensor:
    """Returns the maximum number of nodes of a level; all levels above have one fewer."""
    return tf.bitwise.left_shift(1, level)
