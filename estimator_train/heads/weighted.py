"""What the heads of one task share: weights, loss functions, the mean loss metric."""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import tensorflow as tf
import tf_keras

from estimator_train.engine.user_functions import user_function
from estimator_train.heads import checks, losses
from estimator_train.heads.base import Head, Metrics, named
from estimator_train.heads.keys import MetricKeys


class Batch(NamedTuple):
    """A batch after all checks.

    Attributes:
      labels: Processed labels: class numbers, indicators or numbers.
      logits: float32 of shape [D0, D1, ... DN, logits_dimension].
      losses: Losses before weights and reduction.
      weights: What multiplies them, or None for equal weights.
    """

    labels: tf.Tensor
    logits: tf.Tensor
    losses: tf.Tensor
    weights: tf.Tensor | None


class WeightedHead(Head):
    """A head of one task, with a weight column, a loss reduction and maybe the user's loss_fn.

    Args:
      weight_column: Name of the feature that holds the weights of examples, a numeric column
        of it, or None for equal weights.
      loss_reduction: A `tf_keras.losses.Reduction` value other than NONE.
      loss_fn: Function of `labels`, `logits` and maybe `features` and `loss_reduction` that
        returns losses before weights, or None for the head's own.
      name: Part of the names of metrics, summaries and operations; or None.

    Raises:
      TypeError: weight_column is of another type, or loss_fn is not callable.
      ValueError: loss_reduction is unknown or loss_fn takes other arguments.
    """

    # What the heads of v1 do in another way: the reductions they know, and a word in errors.
    _check_reduction = staticmethod(losses.checked_reduction)
    _must = "must be"

    def __init__(
        self, weight_column: Any, loss_reduction: str, loss_fn: Any, name: str | None
    ) -> None:
        self._weight_column = checks.checked_weight_column(weight_column)
        self._loss_reduction = self._check_reduction(loss_reduction)
        self._loss_fn = losses.checked_loss_fn(loss_fn)
        self._name = name

    @property
    def name(self) -> str | None:
        """The head's name, or None."""
        return self._name

    @property
    def loss_reduction(self) -> str:
        """How the losses of a batch become one: a `tf_keras.losses.Reduction` value."""
        return self._loss_reduction

    @property
    def weight_column(self) -> Any:
        """Name or numeric column of the feature with the weights, or None."""
        return self._weight_column

    @property
    def _loss_dimension(self) -> int:
        """Size of the last dimension of losses, and how many weights an example may have."""
        return 1

    @abc.abstractmethod
    def _processed_labels(self, labels: Any, logits: tf.Tensor) -> tf.Tensor:
        """Labels as the losses and metrics need them, checked."""

    @abc.abstractmethod
    def _own_losses(self, labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
        """The losses of a batch where the user gave no loss_fn."""

    @abc.abstractmethod
    def _task_metrics(self) -> Metrics:
        """New metrics by key, without those of losses."""

    @abc.abstractmethod
    def _update_task_metrics(self, metrics: Metrics, batch: Batch) -> None:
        """Adds a batch to what `_task_metrics` returned."""

    def loss(
        self,
        labels: Any,
        logits: Any,
        features: Mapping[str, Any] | None = None,
        mode: str | None = None,
        regularization_losses: Sequence[tf.Tensor] | None = None,
    ) -> tf.Tensor:
        """Returns the loss to train with; see `Head.loss`."""
        del mode
        with tf.name_scope("losses"):
            batch = self._batch(labels, logits, features)
            loss = losses.reduced(batch.losses, batch.weights, self._loss_reduction)
            return losses.with_regularization(loss, regularization_losses)

    def metrics(self, regularization_losses: Sequence[tf.Tensor] | None = None) -> Metrics:
        """Returns new tf_keras metrics by name; see `Head.metrics`."""
        with tf.name_scope("metrics"):
            metrics: Metrics = {MetricKeys.LOSS_MEAN: tf_keras.metrics.Mean(MetricKeys.LOSS_MEAN)}
            metrics.update(self._task_metrics())
            if regularization_losses is not None:
                key = MetricKeys.LOSS_REGULARIZATION
                metrics[key] = tf_keras.metrics.Mean(key)
        return {named(key, self._name): metric for key, metric in metrics.items()}

    def update_metrics(  # type: ignore[override]
        self,
        eval_metrics: Metrics,
        features: Mapping[str, Any],
        logits: Any,
        labels: Any,
        regularization_losses: Sequence[tf.Tensor] | None = None,
    ) -> Metrics:
        """Adds a batch to the metrics and returns them; see `Head.update_metrics`."""
        batch = self._batch(labels, logits, features)
        plain = _without_name(eval_metrics, self._name)
        mean_loss = plain.pop(MetricKeys.LOSS_MEAN)
        mean_loss.update_state(batch.losses, sample_weight=batch.weights)
        if regularization_losses is not None:
            regularization = plain.pop(MetricKeys.LOSS_REGULARIZATION)
            regularization.update_state(tf.add_n(regularization_losses))
        self._update_task_metrics(plain, batch)
        return eval_metrics

    def _predicted(self, batch: Batch, *keys: str) -> list[tf.Tensor]:
        """Some of the predictions for a batch, in the order of their keys."""
        predictions = user_function(self.predictions)(batch.logits, list(keys))
        return [predictions[key] for key in keys]

    def _batch(self, labels: Any, logits: Any, features: Mapping[str, Any] | None) -> Batch:
        logits = checks.checked_logits(logits, self.logits_dimension)
        labels = self._processed_labels(labels, logits)
        if self._loss_fn is None:
            unweighted = self._own_losses(labels, logits)
        else:
            unweighted = losses.call_loss_fn(
                self._loss_fn, labels, logits, features, self._loss_reduction, self._loss_dimension
            )
        weights = checks.weights_of(self._weight_column, features, logits, self._loss_dimension)
        return Batch(labels, logits, unweighted, weights)


def _without_name(metrics: Metrics, name: str | None) -> Metrics:
    """Metrics by key without the head's name."""
    suffix = f"/{name}" if name else ""
    return {key.removesuffix(suffix): metric for key, metric in metrics.items()}


def labels_and_weights(
    head: WeightedHead, labels: Any, logits: Any, features: Mapping[str, Any]
) -> tuple[tf.Tensor, tf.Tensor | None]:
    """Returns labels as `head.loss` needs them, checked, and the examples' weights, or None."""
    batch = head._batch(labels, logits, features)
    return batch.labels, batch.weights
