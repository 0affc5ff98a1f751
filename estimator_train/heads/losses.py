"""Base class of heads of one task: weights, loss functions, the mean loss metric."""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import tensorflow as tf
import tf_keras

from estimator_train.engine.job import call_with_known, convert_on_replica, list_argument_names
from estimator_train.heads import checks
from estimator_train.heads.base import Head, Metrics, add_head_name
from estimator_train.heads.keys import Labels, LossFn, MetricKeys, TensorLike, WeightColumn

_Reduction = tf_keras.losses.Reduction
_REDUCTIONS = (_Reduction.AUTO, _Reduction.SUM, _Reduction.SUM_OVER_BATCH_SIZE)
_V1_REDUCTIONS = {
    _Reduction.AUTO: tf.compat.v1.losses.Reduction.SUM_OVER_BATCH_SIZE,
    _Reduction.SUM: tf.compat.v1.losses.Reduction.SUM,
    _Reduction.SUM_OVER_BATCH_SIZE: tf.compat.v1.losses.Reduction.SUM_OVER_BATCH_SIZE,
}
_LOSS_FN_ARGUMENTS = ("labels", "logits", "features", "loss_reduction")


def validate_reduction(reduction: str) -> str:
    """Returns a reduction of losses to a scalar.

    Raises:
      ValueError: It is not a `tf_keras.losses.Reduction`, or it is NONE.
    """
    if reduction not in _REDUCTIONS:
        raise ValueError(
            f"Invalid loss_reduction: {reduction}. See `tf.losses.Reduction` for valid options."
        )
    return reduction


def validate_v1_reduction(reduction: str) -> str:
    """Returns a reduction of losses to a scalar, for the heads of v1.

    Raises:
      ValueError: It is not a `tf.compat.v1.losses.Reduction`, or it is NONE.
    """
    valid = tf.compat.v1.losses.Reduction.all()
    if reduction not in valid or reduction == tf.compat.v1.losses.Reduction.NONE:
        raise ValueError(
            f"Invalid loss_reduction: {reduction}. See `tf.compat.v1.losses.Reduction`."
        )
    return reduction


def validate_loss_fn(loss_fn: LossFn | None) -> LossFn | None:
    """Returns a loss_fn that takes labels and logits, maybe features and loss_reduction.

    Raises:
      TypeError: It is not callable.
      ValueError: It takes other arguments.
    """
    if loss_fn is None:
        return None
    if not callable(loss_fn):
        raise TypeError(f"unsupported callable: loss_fn must be a function. Given: {loss_fn!r}")
    names = list_argument_names(loss_fn)
    for required in _LOSS_FN_ARGUMENTS[:2]:
        if required not in names:
            raise ValueError(f"loss_fn must contain argument: {required}. Given arguments: {names}")
    unexpected = [name for name in names if name not in _LOSS_FN_ARGUMENTS]
    if unexpected:
        raise ValueError(f"loss_fn has unexpected args: {unexpected}")
    return loss_fn


def call_loss_fn(
    loss_fn: LossFn,
    labels: tf.Tensor,
    logits: tf.Tensor,
    features: Mapping[str, Any] | None,
    loss_reduction: str,
    loss_dimension: int,
) -> tf.Tensor:
    """Returns a user's losses, of shape [D0, D1, ... DN, loss_dimension].

    Raises:
      ValueError: loss_fn did not return a tensor of numbers.
      InvalidArgumentError: It returned another shape.
    """
    batch = {"labels": labels, "logits": logits, "features": features}
    with tf.name_scope("call_loss_fn"):
        returned = call_with_known(loss_fn, {**batch, "loss_reduction": loss_reduction})
        loss = _to_tensor(returned, loss_dimension)
        return checks.validate_losses(loss, logits, loss_dimension)


def _to_tensor(returned: Any, loss_dimension: int) -> tf.Tensor:
    """Converts the result of a loss_fn to a tensor."""
    text = f"loss_fn must return Tensor of shape [D0, D1, ... DN, {loss_dimension}]. "
    try:
        loss = tf.convert_to_tensor(returned)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{text}Given: {returned!r}") from error
    if loss.dtype == tf.string:
        raise ValueError(f"{text}Given: {returned!r}")
    return loss


def reduce_losses(losses: tf.Tensor, weights: tf.Tensor | None, reduction: str) -> tf.Tensor:
    """Returns the losses of a batch as one number.

    Args:
      losses: Float tensor with one loss for each example or logit.
      weights: Factors of the losses, or None.
      reduction: SUM, or SUM_OVER_BATCH_SIZE or AUTO: the sum divided by the number of losses;
        or one of `tf.compat.v1.losses.Reduction`.
    """
    # v1 optimizers read from this function whether to average over the replicas of a strategy.
    return tf.compat.v1.losses.compute_weighted_loss(
        losses,
        weights=1.0 if weights is None else weights,
        reduction=_V1_REDUCTIONS.get(reduction, reduction),
        loss_collection=None,
    )


def collect_loss(loss: tf.Tensor) -> tf.Tensor:
    """Adds a loss to the graph's collection LOSSES, which programs read, and returns it."""
    tf.compat.v1.losses.add_loss(loss)
    return loss


def add_regularization(
    loss: tf.Tensor, regularization_losses: Sequence[tf.Tensor] | None
) -> tf.Tensor:
    """Returns the loss with the regularization losses added."""
    if not regularization_losses:
        return loss
    return loss + tf.add_n(regularization_losses)


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
    _check_reduction = staticmethod(validate_reduction)
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
        self._loss_fn = validate_loss_fn(loss_fn)
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
            return add_regularization(self._reduce(batch), regularization_losses)

    def _reduce(self, batch: Batch) -> tf.Tensor:
        """Returns the losses of a batch as one number."""
        return reduce_losses(batch.losses, batch.weights, self._loss_reduction)

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
            unweighted = call_loss_fn(
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
