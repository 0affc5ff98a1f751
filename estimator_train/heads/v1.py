"""Heads of the v1 canned estimators.

They differ from those of v2 in that the losses of a batch are summed by default, metrics are those
of `tf.compat.v1.metrics` (with other approximations of AUC), and optimizers those of
`tf.compat.v1.train`. They have neither names nor metrics at thresholds, because the v1 canned
estimators offer none.
"""

from __future__ import annotations

import abc
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_train.engine.job import convert_on_replica
from estimator_train.estimator_spec import ModeKeys
from estimator_train.heads import losses
from estimator_train.heads.base import EvalMetrics, Head, Metrics
from estimator_train.heads.class_heads import BinaryClassHead, MultiClassHead
from estimator_train.heads.classification import validate_vocabulary
from estimator_train.heads.keys import (
    Labels,
    LossFn,
    MetricKeys,
    Optimizer,
    PredictionKeys,
    TensorLike,
    WeightColumn,
)
from estimator_train.heads.losses import Batch, WeightedHead
from estimator_train.heads.regression import RegressionHead
from estimator_train.heads.training import check_training_arguments

_metrics = tf.compat.v1.metrics
_Reduction = tf.compat.v1.losses.Reduction
MetricOps = dict[str, tuple[tf.Tensor, Any]]
_MULTI_CLASS = (
    PredictionKeys.LOGITS,
    PredictionKeys.PROBABILITIES,
    PredictionKeys.CLASS_IDS,
    PredictionKeys.CLASSES,
    PredictionKeys.ALL_CLASS_IDS,
    PredictionKeys.ALL_CLASSES,
)


class V1Training(Head):
    """Base class of heads that train with optimizers of `tf.compat.v1.train`."""

    _trains_in_scope = True

    def _train_op(
        self,
        loss: tf.Tensor,
        optimizer: Optimizer,
        trainable_variables: Sequence[tf.Variable] | None,
        train_op_fn: Callable[[tf.Tensor], Any] | None,
        update_ops: Sequence[tf.Operation] | None,
    ) -> Any:
        """Groups the training operation with all update operations of the graph."""
        check_training_arguments(optimizer, train_op_fn)
        if train_op_fn is not None:
            train_op = convert_on_replica(train_op_fn)(loss)
        else:
            step = tf.compat.v1.train.get_or_create_global_step()
            train_op = optimizer.minimize(loss, step, trainable_variables)
        updates = tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.UPDATE_OPS)
        updates.extend(update_ops or ())
        return tf.group(train_op, *updates) if updates else train_op


class V1WeightedHead(V1Training, WeightedHead):
    """Head of one task that adds its loss to the collection LOSSES.

    Its loss_reduction is a `tf.compat.v1.losses.Reduction` value other than NONE.
    """

    _check_reduction = staticmethod(losses.validate_v1_reduction)

    def _reduce(self, batch: Batch) -> tf.Tensor:
        return losses.collect_loss(super()._reduce(batch))

    @abc.abstractmethod
    def _make_metric_ops(
        self, regularization_losses: Sequence[tf.Tensor] | None, **tensors: Any
    ) -> Metrics:
        """Returns the metrics of a batch, whose tensors are those of a `Batch`."""

    def _compute_loss_and_metrics(
        self,
        labels: Labels,
        logits: TensorLike,
        features: Mapping[str, Any],
        mode: str,
        regularization_losses: Sequence[tf.Tensor] | None,
    ) -> tuple[tf.Tensor, EvalMetrics | None]:
        """Returns the loss and, in EVAL, the metrics, of a batch processed once.

        In TRAIN, where the loss is a sum, adds the mean to the summaries.
        """
        batch = self._process_batch(labels, logits, features)
        loss = losses.add_regularization(self._reduce(batch), regularization_losses)
        if mode == ModeKeys.EVAL:
            compute = functools.partial(self._make_metric_ops, regularization_losses)
            return loss, (compute, batch._asdict())
        if self._loss_reduction == _Reduction.SUM:
            mean = losses.reduce_losses(batch.losses, batch.weights, _Reduction.MEAN)
            # Old programs log it by this name, as `head/truediv`.
            mean = tf.identity(mean, "truediv")
            with tf.name_scope(""):
                tf.compat.v1.summary.scalar(MetricKeys.LOSS_MEAN, mean)
        return loss, None


class _V1Head(V1WeightedHead):
    """Base class of the heads of v1 canned estimators: differences from their v2 forms."""

    _range_verb = "must"

    @abc.abstractmethod
    def _create_task_metric_ops(self, batch: Batch) -> MetricOps:
        """Returns metrics of one batch, without the metric of the loss."""

    def _make_metric_ops(
        self, regularization_losses: Sequence[tf.Tensor] | None, **tensors: Any
    ) -> MetricOps:
        batch = Batch(**tensors)
        with tf.name_scope("metrics"):
            operations = {MetricKeys.LOSS_MEAN: _metrics.mean(batch.losses, batch.weights)}
            operations.update(self._create_task_metric_ops(batch))
            if regularization_losses is not None:
                key = MetricKeys.LOSS_REGULARIZATION
                operations[key] = _metrics.mean(tf.add_n(regularization_losses))
        return operations


class V1BinaryClassHead(_V1Head, BinaryClassHead):
    """Head of v1 classifiers of two classes; for arguments see `BinaryClassHead`."""

    def __init__(
        self,
        weight_column: WeightColumn = None,
        label_vocabulary: Sequence[str] | None = None,
        loss_reduction: str = _Reduction.SUM,
    ):
        vocabulary = _check_vocabulary(label_vocabulary)
        super().__init__(weight_column, label_vocabulary=vocabulary, loss_reduction=loss_reduction)

    def _create_task_metric_ops(self, batch: Batch) -> MetricOps:
        labels, weights = batch.labels, batch.weights
        keys = (PredictionKeys.LOGISTIC, PredictionKeys.CLASS_IDS)
        logistic, class_ids = self._predict(batch, *keys)
        label_mean = _metrics.mean(labels, weights)
        return {
            MetricKeys.ACCURACY: _metrics.accuracy(labels, class_ids, weights),
            MetricKeys.PRECISION: _metrics.precision(labels, class_ids, weights),
            MetricKeys.RECALL: _metrics.recall(labels, class_ids, weights),
            MetricKeys.PREDICTION_MEAN: _metrics.mean(logistic, weights),
            MetricKeys.LABEL_MEAN: label_mean,
            MetricKeys.ACCURACY_BASELINE: tuple(
                tf.maximum(share, 1.0 - share) for share in label_mean
            ),
            MetricKeys.AUC: _metrics.auc(labels, logistic, weights),
            MetricKeys.AUC_PR: _metrics.auc(labels, logistic, weights, curve="PR"),
        }


class V1MultiClassHead(_V1Head, MultiClassHead):
    """Head of v1 classifiers of more than two classes; for arguments see `MultiClassHead`."""

    def __init__(
        self,
        n_classes: int,
        weight_column: WeightColumn = None,
        label_vocabulary: Sequence[str] | None = None,
        loss_reduction: str = _Reduction.SUM,
        loss_fn: LossFn | None = None,
    ):
        vocabulary = _check_vocabulary(label_vocabulary)
        super().__init__(n_classes, weight_column, vocabulary, loss_reduction, loss_fn)

    def predictions(
        self, logits: TensorLike, keys: Sequence[str] | None = None
    ) -> dict[str, tf.Tensor]:
        """Returns predictions of a batch; see `MultiClassHead.predictions`."""
        if keys is not None:
            return super().predictions(logits, keys)
        # Operations are numbered in the order of tf.estimator: programs fetch them by name.
        last = (PredictionKeys.CLASS_IDS, PredictionKeys.CLASSES)
        found = super().predictions(logits, [*(k for k in _MULTI_CLASS if k not in last), *last])
        return {key: found[key] for key in _MULTI_CLASS}

    def _create_task_metric_ops(self, batch: Batch) -> MetricOps:
        [class_ids] = self._predict(batch, PredictionKeys.CLASS_IDS)
        return {MetricKeys.ACCURACY: _metrics.accuracy(batch.labels, class_ids, batch.weights)}


class V1RegressionHead(_V1Head, RegressionHead):
    """Head of v1 regressors; for arguments see `RegressionHead`."""

    def __init__(
        self,
        label_dimension: int = 1,
        weight_column: WeightColumn = None,
        loss_reduction: str = _Reduction.SUM,
    ):
        super().__init__(label_dimension, weight_column, loss_reduction)

    def _create_task_metric_ops(self, batch: Batch) -> MetricOps:
        return {
            MetricKeys.PREDICTION_MEAN: _metrics.mean(batch.logits, batch.weights),
            MetricKeys.LABEL_MEAN: _metrics.mean(batch.labels, batch.weights),
        }


V1_HEADS = (V1BinaryClassHead, V1MultiClassHead, V1RegressionHead)


def _check_vocabulary(vocabulary: Any) -> Any:
    return validate_vocabulary(vocabulary, "should be a list or tuple", TypeError)
