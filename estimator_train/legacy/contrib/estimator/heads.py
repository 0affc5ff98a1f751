"""Heads of `tf.contrib.estimator`: today's heads with optimizers and reductions of TensorFlow 1."""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

import estimator_train as est
from estimator_train.heads.base import Metrics, add_head_name
from estimator_train.heads.keys import MetricKeys, PredictionKeys
from estimator_train.heads.v1 import V1Training, V1WeightedHead
from estimator_train.heads.weighted import Batch
from estimator_train.legacy.contrib._types import Column

_Reduction = tf.compat.v1.losses.Reduction
_DEFAULT_REDUCTION = _Reduction.SUM_OVER_BATCH_SIZE


class _V1Head(V1WeightedHead):
    """Head that takes `tf.losses.Reduction` and optimizers of TensorFlow 1."""

    def _make_metric_ops(
        self, regularization_losses: Sequence[tf.Tensor] | None, **tensors: Any
    ) -> Metrics:
        metrics = self.metrics(regularization_losses)
        return self._add_batch(metrics, Batch(**tensors), regularization_losses)

    def _measure_areas(
        self,
        metrics: Metrics,
        keys: Sequence[str],
        labels: tf.Tensor,
        probabilities: tf.Tensor,
        weights: tf.Tensor | None,
    ) -> None:
        """Replaces the areas under the ROC and precision-recall curves by those of TensorFlow 1.

        TensorFlow 2's heads interpolate the second curve otherwise.
        """
        for key, curve in zip(keys, ("ROC", "PR"), strict=True):
            area = tf.compat.v1.metrics.auc(labels, probabilities, weights, curve=curve)
            metrics[add_head_name(key, self.name)] = area


class _BinaryClassHead(_V1Head, est.BinaryClassHead):
    def _make_metric_ops(
        self, regularization_losses: Sequence[tf.Tensor] | None, **tensors: Any
    ) -> Metrics:
        metrics = super()._make_metric_ops(regularization_losses, **tensors)
        batch = Batch(**tensors)
        [probabilities] = self._predict(batch, PredictionKeys.LOGISTIC)
        keys = MetricKeys.AUC, MetricKeys.AUC_PR
        self._measure_areas(metrics, keys, batch.labels, probabilities, batch.weights)
        return metrics


class _MultiClassHead(_V1Head, est.MultiClassHead):
    pass


class _MultiLabelHead(_V1Head, est.MultiLabelHead):
    def _make_metric_ops(
        self, regularization_losses: Sequence[tf.Tensor] | None, **tensors: Any
    ) -> Metrics:
        metrics = super()._make_metric_ops(regularization_losses, **tensors)
        batch = Batch(**tensors)
        [probabilities] = self._predict(batch, PredictionKeys.PROBABILITIES)
        of_all = slice(None), (MetricKeys.AUC, MetricKeys.AUC_PR)
        of_classes = [
            (slice(number, number + 1), self._make_class_keys(number)[1:])
            for number in self._measured_classes
        ]
        for columns, keys in [of_all, *of_classes]:
            labels, values = batch.labels[..., columns], probabilities[..., columns]
            self._measure_areas(metrics, keys, labels, values, batch.weights)
        return metrics


class _RegressionHead(_V1Head, est.RegressionHead):
    pass


class _PoissonRegressionHead(_V1Head, est.PoissonRegressionHead):
    pass


class _LogisticRegressionHead(_V1Head, est.LogisticRegressionHead):
    pass


class _MultiHead(V1Training, est.MultiHead):
    pass


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
