"""The model_fn of boosted trees."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_train.canned.boosted_trees.derivatives import compute_derivatives
from estimator_train.canned.boosted_trees.descent import add_tree_logits, find_nodes
from estimator_train.canned.boosted_trees.ensemble import (
    SCOPE,
    Ensemble,
    is_shared,
    run_exclusively,
)
from estimator_train.canned.boosted_trees.example_cache import ExampleCache
from estimator_train.canned.boosted_trees.features import Features
from estimator_train.canned.boosted_trees.growing import Grower
from estimator_train.canned.boosted_trees.quantiles import create_quantiles
from estimator_train.canned.boosted_trees.settings import Settings
from estimator_train.canned.boosted_trees.stopping import StopWhenGrown
from estimator_train.canned.parts.columns import Batch
from estimator_train.estimator_spec.spec import EstimatorSpec, ModeKeys
from estimator_train.heads import Head
from estimator_train.heads.checks import get_weights
from estimator_train.heads.types import FeatureTensors, Labels, WeightColumn

_v1 = tf.compat.v1


class Model:
    """Model of boosted trees in a graph.

    Attributes:
      ids: Buckets of the batch, int32 [batch, features].
      ensemble: The trees.

    Args:
      logits: Number of logits.
      features: Features of the trees.
      settings: Settings of the model.
      inputs: The features of a batch.
      training: Whether the model is trained.
    """

    def __init__(
        self, logits: int, features: Features, settings: Settings, inputs: Any, *, training: bool
    ) -> None:
        self._logits, self._features, self._settings = logits, features, settings
        self.batch = Batch(inputs, v1=True)
        self._quantiles = create_quantiles(features.numeric_size, settings)
        self.ensemble = Ensemble(settings.n_trees, settings.max_depth, logits, settings.center_bias)
        self._cache = ExampleCache(logits) if training and settings.train_in_memory else None
        self._version = self._read_first() if training else None
        with self.read_after_version():
            self.ids = self._find_bucket_ids()

    def read_after_version(self) -> contextlib.AbstractContextManager[None]:
        """Makes operations of the context read the trees after their version.

        If another worker changes the trees after that, the training step skips the batch.
        """
        return tf.control_dependencies([] if self._version is None else [self._version])

    def _read_first(self) -> tf.Tensor | None:
        """Returns the version of trees that other workers grow too, and None for others."""
        if not is_shared(self.ensemble.attempted):
            return None

        @tf.function(autograph=False)
        def read() -> tf.Tensor:
            # Not in the middle of a training step of another worker.
            return run_exclusively(self._read_version, self.ensemble.attempted)

        return read()

    def _read_version(self) -> tf.Tensor:
        """Returns numbers that change with each layer and with the boundaries, int32 [2]."""
        ready = False if self._quantiles is None else self._quantiles.ready.read_value()
        return tf.stack([self.ensemble.attempted.read_value(), tf.cast(ready, tf.int32)])

    def _is_outdated(self) -> tf.Tensor:
        """Returns whether another worker has changed the trees since the version was read."""
        if self._version is None:
            return tf.constant(False)
        return tf.reduce_any(tf.not_equal(self._read_version(), self._version))

    def _find_bucket_ids(self) -> tf.Tensor:
        def compute() -> tf.Tensor:
            return self._features.compute_bucket_ids(self.batch, self._quantiles)

        if self._cache is None or self._quantiles is not None:
            return compute()
        return self._cache.compute_bucket_ids(compute, self._features.count)

    def compute_logits(self) -> tf.Tensor:
        """Returns the logits of the batch, float32 [batch, logits]."""
        end = tf.minimum(self.ensemble.finished + 1, self.ensemble.count_rows())
        return self._add_trees(tf.constant(0), end, self._make_zero_logits())

    def compute_training_logits(self) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns the logits of the batch, and each example's node in the tree that grows."""
        finished = self.ensemble.finished.read_value()
        if self._cache is None:
            logits = self._add_trees(tf.constant(0), finished, self._make_zero_logits())
        else:
            logits = self._cache.update_logits(finished, tf.shape(self.ids)[0], self._add_trees)
        # The variables may have no row yet for a tree without layers.
        there = finished < self.ensemble.count_rows()
        tree, trees = tf.where(there, finished, 0), self.ensemble.trees
        node = find_nodes(trees, tree, self._features, self.ids, self._settings.max_depth)[-1]
        grown = tf.cast(there, tf.float32) * tf.gather(trees.value[tree], node)
        return logits + grown, tf.where(there, node, 0)

    def _make_zero_logits(self) -> tf.Tensor:
        return tf.zeros([tf.shape(self.ids)[0], self._logits])

    def _add_trees(self, begin: tf.Tensor, end: tf.Tensor, start: tf.Tensor) -> tf.Tensor:
        return add_tree_logits(self.ensemble, self._features, self.ids, begin, end, start)

    def build_train_op(
        self, loss: tf.Tensor, logits: tf.Tensor, node: tf.Tensor, weights: tf.Tensor
    ) -> tf.Tensor:
        """Returns the operation of a training step, which counts the global step.

        Args:
          loss: The loss of the batch.
          logits: Logits that `compute_training_logits` returned.
          node: Nodes that `compute_training_logits` returned.
          weights: Weights of the examples in the quantiles, float32 [batch].
        """
        grower = Grower(self.ensemble, self._features, self._settings, self._logits)
        found = compute_derivatives(loss, logits)
        step = _v1.train.get_or_create_global_step()
        numbers = None if self._quantiles is None else self._features.read_numbers(self.batch)

        no_step, one_step = tf.zeros([], step.dtype.base_dtype), tf.ones([], step.dtype.base_dtype)

        def grow() -> tf.Tensor:
            grower.add(self.ids, node, found)
            return one_step

        def grow_or_decide() -> tf.Tensor:
            quantiles = self._quantiles
            if quantiles is None:
                return grow()

            def add_to_quantiles() -> tf.Tensor:
                quantiles.add(numbers, weights)
                return no_step

            # Batches that determine the boundaries do not count as training steps.
            return tf.cond(quantiles.ready, grow, add_to_quantiles)

        def update() -> tf.Tensor:
            finished = self.ensemble.is_finished(self._settings.max_layers)
            skips = finished | self._is_outdated()
            skipped = tf.where(finished, no_step, one_step)
            return tf.cond(skips, lambda: skipped, grow_or_decide)

        @tf.function(autograph=False)
        def train() -> tf.Tensor:
            return run_exclusively(update, self.ensemble.attempted)

        reads = [loss, *found, *_add_growth_summaries(self.ensemble)]
        with tf.control_dependencies(reads):
            steps = train()
        # Outside of the function, which cannot assign a reference variable of TensorFlow 1.
        return _v1.assign_add(step, steps)


def make_model_fn(
    head: Head, split_on: Features, settings: Settings, weight_column: WeightColumn
) -> Callable[..., EstimatorSpec]:
    """Returns the model_fn of an estimator of boosted trees.

    Args:
      head: A `Head`.
      split_on: Features of the trees.
      settings: Settings of the model.
      weight_column: Name or numeric column of the examples' weights, or None.
    """

    def model_fn(features: FeatureTensors, labels: Labels, mode: str) -> EstimatorSpec:
        training = mode == ModeKeys.TRAIN
        if training and tf.distribute.get_strategy().num_replicas_in_sync > 1:
            raise ValueError(
                "Boosted trees cannot train several replicas together. Train without a strategy; "
                "evaluation and prediction may have one."
            )
        model = Model(head.logits_dimension, split_on, settings, features, training=training)
        if not training:
            return head.create_estimator_spec(
                model.batch.features, mode, model.compute_logits(), labels
            )
        with model.read_after_version():
            logits, node = model.compute_training_logits()
        given = get_weights(weight_column, model.batch.features, logits)
        weights = tf.ones(tf.shape(logits)[:1]) if given is None else tf.reshape(given, [-1])
        spec = head.create_estimator_spec(
            model.batch.features,
            mode,
            logits,
            labels=labels,
            train_op_fn=lambda loss: model.build_train_op(loss, logits, node, weights),
        )
        stop = StopWhenGrown(model.ensemble, settings, spec.train_op)
        return spec._replace(training_hooks=(*spec.training_hooks, stop))

    return model_fn


def _add_growth_summaries(ensemble: Ensemble) -> list[tf.Tensor]:
    """Adds summaries of the growth; returns the tensors that must be read before a step."""
    finished = ensemble.finished.read_value()
    numbers = {
        "num_trees": tf.where(ensemble.started, finished + 1, 0),
        "num_finalized_trees": finished,
        "num_attempted_layers": ensemble.attempted.read_value(),
    }
    with tf.name_scope(""):
        for name, number in numbers.items():
            _v1.summary.scalar(f"{SCOPE}/ensemble/{name}", number)
    return list(numbers.values())
