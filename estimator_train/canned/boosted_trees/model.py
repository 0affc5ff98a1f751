"""The model_fn of boosted trees, explanations of its predictions, and importances of features."""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_train.canned.boosted_trees.descent import add_tree_logits, find_nodes
from estimator_train.canned.boosted_trees.ensemble import (
    SCOPE,
    Ensemble,
    Settings,
    is_shared,
    run_exclusively,
)
from estimator_train.canned.boosted_trees.example_cache import (
    ExampleCache,
    WarnOfSeveralBatchesHook,
)
from estimator_train.canned.boosted_trees.features import Features, create_quantiles, look_up
from estimator_train.canned.boosted_trees.growing import Grower, StopWhenGrown
from estimator_train.canned.boosted_trees.splits import compute_derivatives
from estimator_train.canned.columns import Batch
from estimator_train.engine.portability import IdFeatures, TreeLogits
from estimator_train.estimator_spec import EstimatorSpec, ModeKeys
from estimator_train.heads import BinaryClassHead, Head, RegressionHead
from estimator_train.heads.checks import get_weights
from estimator_train.heads.keys import FeatureTensors, Labels, WeightColumn

_v1 = tf.compat.v1
BIAS, CONTRIBUTIONS = "bias", "dfc"


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
        in_memory = training and settings.train_in_memory
        self._cache = ExampleCache(logits, self.batch.features) if in_memory else None
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
        logits = self._add_trees(tf.constant(0), end, self._make_zero_logits())
        if not isinstance(self.batch.features, IdFeatures):
            return logits
        logits = tf.identity(logits)
        self.batch.features.trees.append(self._describe_trees(end, logits))
        return logits

    def _describe_trees(self, end: tf.Tensor, logits: tf.Tensor) -> TreeLogits:
        """Returns the trees for an export to a runtime that has an operation for them."""
        trees = self.ensemble.read(0, end)
        feature = tf.maximum(trees.feature, 0)
        return TreeLogits(
            self._features.compute_split_inputs(self.batch),
            logits,
            trees.feature,
            self._features.compute_thresholds(feature, trees.threshold, self._quantiles),
            look_up(self._features.by_value, feature),
            trees.value,
        )

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

    def make_cache_hooks(self) -> list[Any]:
        """Returns the hook of a training in memory that warns of several batches."""
        return [] if self._cache is None else [WarnOfSeveralBatchesHook(self._cache.batches)]

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
        return spec._replace(training_hooks=(*spec.training_hooks, stop, *model.make_cache_hooks()))

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


def compute_feature_importances(
    read: Callable[[str], Any], features: Features, *, normalize: bool
) -> OrderedDict[str, float]:
    """Returns the gain of all splits of each column, the greatest first (Friedman 2001, 8.1).

    Args:
      read: Returns the value of a variable in a checkpoint by its name.
      features: The columns.
      normalize: Whether to divide by the sum.

    Raises:
      ValueError: There is no tree yet.
      AssertionError: There is nothing to normalize.
    """
    if not read(f"{SCOPE}/started"):
        raise ValueError(
            "Found empty serialized string for TreeEnsemble.You should only call this method after "
            "training."
        )
    feature, gain = read(f"{SCOPE}/feature"), read(f"{SCOPE}/gain")
    splits = feature >= 0
    columns = features.column_of[feature[splits]]
    gains = np.bincount(columns, gain[splits].astype(np.float64), len(features.names))
    if normalize:
        if not gains.sum():
            raise AssertionError("Trees are all empty or contain only a root node.")
        gains = gains / gains.sum()
    order = np.argsort(-gains, kind="stable")
    return OrderedDict((features.names[place], float(gains[place])) for place in order)


def make_explaining_model_fn(
    head: Head, split_on: Features, settings: Settings
) -> Callable[..., EstimatorSpec]:
    """Returns a model_fn whose predictions have the bias and the contributions of columns.

    Args:
      head: A `Head` of one logit.
      split_on: Features of the trees.
      settings: Settings of the model.

    Raises:
      ValueError: The head has other predictions than probabilities or the logits themselves.
    """
    activation = _get_activation(head)

    def model_fn(features: FeatureTensors, labels: Labels, mode: str) -> EstimatorSpec:
        model = Model(head.logits_dimension, split_on, settings, features, training=False)
        spec = head.create_estimator_spec(
            model.batch.features, ModeKeys.PREDICT, model.compute_logits(), labels
        )
        bias = activation(model.ensemble.trees.value[0, 0, 0])
        found = {
            BIAS: tf.fill(tf.shape(model.ids)[:1], bias),
            CONTRIBUTIONS: _compute_contributions(model, split_on, activation),
        }
        return spec._replace(predictions={**spec.predictions, **found})

    return model_fn


def name_contributions(
    predictions: Iterator[Mapping[str, Any]], names: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Yields predictions with the contributions of columns by name, the greatest first.

    Args:
      predictions: Those of a model of `make_explaining_model_fn`.
      names: The columns' names.
    """
    for row in predictions:
        found = row[CONTRIBUTIONS]
        order = np.argsort(-np.abs(found), kind="stable")
        named = OrderedDict((names[place], float(found[place])) for place in order)
        yield {**row, BIAS: float(row[BIAS]), CONTRIBUTIONS: named}


def _get_activation(head: Head) -> Callable[[tf.Tensor], tf.Tensor]:
    if isinstance(head, BinaryClassHead):
        return tf.sigmoid
    if isinstance(head, RegressionHead) and head._inverse_link_fn is None:
        return tf.identity
    raise ValueError(
        "For now only identity inverse_link_fn in regression_head is supported for "
        "experimental_predict_with_explanations."
    )


def _compute_contributions(
    model: Model, features: Features, activation: Callable[[tf.Tensor], tf.Tensor]
) -> tf.Tensor:
    """Computes the contributions of columns, float32 [batch, columns]."""
    ensemble = model.ensemble
    columns = len(features.names)
    batch = tf.shape(model.ids)[0]
    end = tf.minimum(ensemble.finished + 1, ensemble.count_rows())

    def add(tree: tf.Tensor, before: tf.Tensor, sums: tf.Tensor) -> Any:
        path = find_nodes(ensemble.trees, tree, features, model.ids, ensemble.max_depth)
        values = ensemble.trees.value[tree, :, 0]
        split = ensemble.trees.feature[tree]
        last = tf.shape(split)[0] - 1
        for here, there in zip(path, path[1:], strict=False):
            change = activation(before + tf.gather(values, there)) - activation(
                before + tf.gather(values, here)
            )
            feature = tf.maximum(tf.gather(split, tf.minimum(here, last)), 0)
            column = look_up(features.column_of, feature)
            sums += tf.one_hot(column, columns) * change[:, None]
        return tree + 1, before + tf.gather(values, path[-1]), sums

    start = [tf.constant(0), tf.zeros([batch]), tf.zeros([batch, columns])]
    return tf.while_loop(lambda tree, *_: tree < end, add, start)[2]
