"""Heads of `tf.contrib.estimator`: today's heads with optimizers and reductions of TensorFlow 1."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf
import tf_keras

import estimator_train as est
from estimator_train.extension import (
    HeadBatch,
    HeadMetrics,
    MetricKeys,
    PredictionKeys,
    V1Training,
    V1WeightedHead,
)
from tf_contrib._types import Column

_Reduction = tf.compat.v1.losses.Reduction
_DEFAULT_REDUCTION = _Reduction.SUM_OVER_BATCH_SIZE


class _V1Head(V1WeightedHead):
    """Head that takes `tf.losses.Reduction` and optimizers of TensorFlow 1."""

    def metrics(self, regularization_losses: Sequence[tf.Tensor] | None = None) -> HeadMetrics:
        """Returns new metrics by name; see `Head.metrics`."""
        metrics = super().metrics(regularization_losses)
        for key, metric in metrics.items():
            if key.startswith(MetricKeys.AUC_PR):
                metric.result = functools.partial(_compute_trapezoidal_area, metric)
        return metrics

    def _make_metric_ops(
        self, regularization_losses: Sequence[tf.Tensor] | None, **tensors: Any
    ) -> HeadMetrics:
        metrics = self.metrics(regularization_losses)
        return self._add_batch(metrics, HeadBatch(**tensors), regularization_losses)


class _BinaryClassHead(_V1Head, est.BinaryClassHead):
    pass


class _MultiClassHead(_V1Head, est.MultiClassHead):
    pass


class _MultiLabelHead(_V1Head, est.MultiLabelHead):
    def predictions(self, logits: Any, keys: Sequence[str] | None = None) -> dict[str, tf.Tensor]:
        """Returns logits and probabilities, or some predictions of `MultiLabelHead`."""
        default = (PredictionKeys.LOGITS, PredictionKeys.PROBABILITIES)
        return super().predictions(logits, default if keys is None else keys)


class _RegressionHead(_V1Head, est.RegressionHead):
    pass


class _PoissonRegressionHead(_V1Head, est.PoissonRegressionHead):
    pass


class _LogisticRegressionHead(_V1Head, est.LogisticRegressionHead):
    pass


class _MultiHead(V1Training, est.MultiHead):
    _trains_in_scope = False


def _compute_trapezoidal_area(metric: tf_keras.metrics.AUC) -> tf.Tensor:
    """Computes the area under the curve of precision and recall by the trapezoidal rule.

    That is the rule of `tf.metrics.auc`, which adds 1e-6 to both sides of each ratio.

    Returns:
      A float scalar.
    """
    hits = metric.true_positives + 1e-6
    precision = hits / (hits + metric.false_positives)
    recall = hits / (hits + metric.false_negatives)
    return tf.reduce_sum((recall[:-1] - recall[1:]) * (precision[:-1] + precision[1:]) / 2.0)


def multi_head(heads: Sequence[Any], head_weights: Sequence[float] | None = None) -> est.MultiHead:
    """See `MultiHead`."""
    return _MultiHead(heads, head_weights)


def binary_classification_head(
    weight_column: str | Column | None = None,
    thresholds: Sequence[float] | None = None,
    label_vocabulary: Sequence[str] | None = None,
    loss_reduction: str = _DEFAULT_REDUCTION,
    loss_fn: Callable[..., tf.Tensor] | None = None,
    name: str | None = None,
) -> est.BinaryClassHead:
    """See `BinaryClassHead`; loss_reduction is one of `tf.losses.Reduction`."""
    return _BinaryClassHead(
        weight_column=weight_column,
        thresholds=thresholds,
        label_vocabulary=label_vocabulary,
        loss_reduction=loss_reduction,
        loss_fn=loss_fn,
        name=name,
    )


def multi_class_head(
    n_classes: int,
    weight_column: str | Column | None = None,
    label_vocabulary: Sequence[str] | None = None,
    loss_reduction: str = _DEFAULT_REDUCTION,
    loss_fn: Callable[..., tf.Tensor] | None = None,
    name: str | None = None,
) -> est.MultiClassHead:
    """See `MultiClassHead`; loss_reduction is one of `tf.losses.Reduction`."""
    return _MultiClassHead(
        n_classes=n_classes,
        weight_column=weight_column,
        label_vocabulary=label_vocabulary,
        loss_reduction=loss_reduction,
        loss_fn=loss_fn,
        name=name,
    )


def multi_label_head(
    n_classes: int,
    weight_column: str | Column | None = None,
    thresholds: Sequence[float] | None = None,
    label_vocabulary: Sequence[str] | None = None,
    loss_reduction: str = _DEFAULT_REDUCTION,
    loss_fn: Callable[..., tf.Tensor] | None = None,
    classes_for_class_based_metrics: Sequence[int | str] | None = None,
    name: str | None = None,
) -> est.MultiLabelHead:
    """See `MultiLabelHead`; loss_reduction is one of `tf.losses.Reduction`."""
    return _MultiLabelHead(
        n_classes=n_classes,
        weight_column=weight_column,
        thresholds=thresholds,
        label_vocabulary=label_vocabulary,
        loss_reduction=loss_reduction,
        loss_fn=loss_fn,
        classes_for_class_based_metrics=classes_for_class_based_metrics,
        name=name,
    )


def regression_head(
    weight_column: str | Column | None = None,
    label_dimension: int = 1,
    loss_reduction: str = _DEFAULT_REDUCTION,
    loss_fn: Callable[..., tf.Tensor] | None = None,
    inverse_link_fn: Callable[[tf.Tensor], tf.Tensor] | None = None,
    name: str | None = None,
) -> est.RegressionHead:
    """See `RegressionHead`; loss_reduction is one of `tf.losses.Reduction`."""
    return _RegressionHead(
        weight_column=weight_column,
        label_dimension=label_dimension,
        loss_reduction=loss_reduction,
        loss_fn=loss_fn,
        inverse_link_fn=inverse_link_fn,
        name=name,
    )


def poisson_regression_head(
    weight_column: str | Column | None = None,
    label_dimension: int = 1,
    loss_reduction: str = _DEFAULT_REDUCTION,
    compute_full_loss: bool = True,
    name: str | None = None,
) -> est.PoissonRegressionHead:
    """See `PoissonRegressionHead`; loss_reduction is one of `tf.losses.Reduction`."""
    return _PoissonRegressionHead(
        weight_column=weight_column,
        label_dimension=label_dimension,
        loss_reduction=loss_reduction,
        compute_full_loss=compute_full_loss,
        name=name,
    )


def logistic_regression_head(
    weight_column: str | Column | None = None,
    loss_reduction: str = _DEFAULT_REDUCTION,
    name: str | None = None,
) -> est.LogisticRegressionHead:
    """See `LogisticRegressionHead`; loss_reduction is one of `tf.losses.Reduction`."""
    return _LogisticRegressionHead(
        weight_column=weight_column, loss_reduction=loss_reduction, name=name
    )
