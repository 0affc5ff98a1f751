"""Base class of heads of one task: weights, loss functions, the mean loss metric."""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import tensorflow as tf
import tf_keras

from estimator_train.engine.user_functions import convert_on_replica
from estimator_train.heads import checks, losses
from estimator_train.heads.base import Head, Metrics, add_head_name
from estimator_train.heads.keys import MetricKeys
from estimator_train.heads.types import Labels, LossFn, TensorLike, WeightColumn


class Batch(NamedTuple):
    """Batch after all checks.

    Attributes:
      labels: Processed labels: class numbers, indicators or numbers.
      logits: float32 of shape [D0, D1, ... DN, logits_dimension].
      losses: Losses before weights and reduction.
      weights: Factors of the losses, or None for equal weights.
    """

    labels: tf.Tensor
    logits: tf.Tensor
    losses: tf.Tensor
    weights: tf.Tensor | None


class WeightedHead(Head):
    """Head of one task, with a weight column, a loss reduction and an optional loss_fn.

    Args:
      weight_column: Name or numeric column of the feature that holds the weights of examples,
        or None for equal weights.
      loss_reduction: A `tf_keras.losses.Reduction` value other than NONE.
      loss_fn: Function of `labels`, `logits` and maybe `features` and `loss_reduction` that
        returns losses before weights, or None for the head's own.
      name: Part of the names of metrics, summaries and operations; or None.

    Raises:
      TypeError: weight_column is of another type, or loss_fn is not callable.
      ValueError: loss_reduction is unknown or loss_fn takes other arguments.
    """

    # The heads of v1 override these: valid reductions, and a verb in errors.
    _check_reduction = staticmethod(losses.validate_reduction)
    _range_verb = "must be"
    # The loss function's text for labels and logits of different shapes.
    _mismatch = "`logits` and `labels` must have the same shape, received ({logits} vs {labels})."

    def __init__(
        self,
        weight_column: WeightColumn,
        loss_reduction: str,
        loss_fn: LossFn | None,
        name: str | None,
    ) -> None:
        self._weight_column = checks.validate_weight_column(weight_column)
        self._loss_reduction = self._check_reduction(loss_reduction)
        self._loss_fn = losses.validate_loss_fn(loss_fn)
        self._name = name

    @property
    def name(self) -> str | None:
        """The head's name, or None."""
        return self._name

    @property
    def loss_reduction(self) -> str:
        """Reduction of the losses of a batch: a `tf_keras.losses.Reduction` value."""
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
    def _process_labels(self, labels: Labels, logits: tf.Tensor) -> tf.Tensor:
        """Checks labels and converts them for the losses and metrics."""

    @abc.abstractmethod
    def _compute_losses(self, labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
        """Computes the losses of a batch if there is no loss_fn."""

    @abc.abstractmethod
    def _create_task_metrics(self) -> Metrics:
        """Returns new metrics by key, without the metric of the loss."""

    @abc.abstractmethod
    def _update_task_metrics(self, metrics: Metrics, batch: Batch) -> None:
        """Adds a batch to the metrics of `_create_task_metrics`."""

    def loss(
        self,
        labels: Labels,
        logits: TensorLike,
        features: Mapping[str, Any] | None = None,
        mode: str | None = None,
        regularization_losses: Sequence[tf.Tensor] | None = None,
    ) -> tf.Tensor:
        """Returns the loss to train with; see `Head.loss`."""
        with tf.name_scope("losses"):
            batch = self._process_batch(labels, logits, features)
            return losses.add_regularization(self._reduce(batch), regularization_losses)

    def _reduce(self, batch: Batch) -> tf.Tensor:
        """Returns the losses of a batch as one number."""
        return losses.reduce_losses(batch.losses, batch.weights, self._loss_reduction)

    def metrics(self, regularization_losses: Sequence[tf.Tensor] | None = None) -> Metrics:
        """Returns new tf_keras metrics by name; see `Head.metrics`."""
        with tf.name_scope("metrics"):
            metrics: Metrics = {MetricKeys.LOSS_MEAN: tf_keras.metrics.Mean(MetricKeys.LOSS_MEAN)}
            metrics.update(self._create_task_metrics())
            if regularization_losses is not None:
                key = MetricKeys.LOSS_REGULARIZATION
                metrics[key] = tf_keras.metrics.Mean(key)
        return {add_head_name(key, self._name): metric for key, metric in metrics.items()}

    def update_metrics(  # type: ignore[override]
        self,
        eval_metrics: Metrics,
        features: Mapping[str, Any],
        logits: TensorLike,
        labels: Labels,
        regularization_losses: Sequence[tf.Tensor] | None = None,
        mode: str | None = None,
    ) -> Metrics:
        """Adds a batch to the metrics and returns them; see `Head.update_metrics`."""
        batch = self._process_batch(labels, logits, features)
        return self._add_batch(eval_metrics, batch, regularization_losses)

    def _add_batch(
        self,
        eval_metrics: Metrics,
        batch: Batch,
        regularization_losses: Sequence[tf.Tensor] | None,
    ) -> Metrics:
        """Adds a batch to the metrics and returns them."""
        plain = _remove_name(eval_metrics, self._name)
        mean_loss = plain.pop(MetricKeys.LOSS_MEAN)
        mean_loss.update_state(batch.losses, sample_weight=batch.weights)
        if regularization_losses is not None:
            regularization = plain.pop(MetricKeys.LOSS_REGULARIZATION)
            regularization.update_state(tf.add_n(regularization_losses))
        self._update_task_metrics(plain, batch)
        return eval_metrics

    def _predict(self, batch: Batch, *keys: str) -> list[tf.Tensor]:
        """Returns some of the predictions for a batch, in the order of their keys."""
        predictions = convert_on_replica(self.predictions)(batch.logits, list(keys))
        return [predictions[key] for key in keys]

    def _process_batch(
        self, labels: Labels, logits: TensorLike, features: Mapping[str, Any] | None
    ) -> Batch:
        labels, logits, weights = self._validate(labels, logits, features)
        if self._loss_fn is None:
            unweighted = self._compute_losses(labels, logits)
        else:
            unweighted = losses.call_loss_fn(
                self._loss_fn, labels, logits, features, self._loss_reduction, self._loss_dimension
            )
        return Batch(labels, logits, unweighted, weights)

    def _validate(
        self, labels: Labels, logits: TensorLike, features: Mapping[str, Any] | None
    ) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor | None]:
        """Returns the checked labels, logits and weights of a batch."""
        logits = checks.validate_logits(logits, self.logits_dimension)
        labels = self._process_labels(labels, logits)
        weights = checks.get_weights(self._weight_column, features, logits, self._loss_dimension)
        return labels, logits, weights


def _remove_name(metrics: Metrics, name: str | None) -> Metrics:
    """Returns metrics by key without the head's name."""
    suffix = f"/{name}" if name else ""
    return {key.removesuffix(suffix): metric for key, metric in metrics.items()}


def validate_labels_and_weights(
    head: WeightedHead, labels: Labels, logits: TensorLike, features: Mapping[str, Any]
) -> tuple[tf.Tensor, tf.Tensor | None]:
    """Returns the checked labels and the weights, or None, of a batch."""
    labels, _, weights = head._validate(labels, logits, features)
    return labels, weights
