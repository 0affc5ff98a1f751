"""Heads of `tf.contrib.estimator`: those of today, with old optimizers and names of reductions."""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

import estimator_train as est
from estimator_train.heads import losses
from estimator_train.heads.v1 import V1Training
from estimator_train.heads.weighted import WeightedHead

_Reduction = tf.compat.v1.losses.Reduction
_MEAN_OF_LOSSES = _Reduction.SUM_OVER_BATCH_SIZE


class _OldHead(V1Training, WeightedHead):
    """A head that takes `tf.losses.Reduction` and optimizers of TensorFlow 1."""

    _check_reduction = staticmethod(losses.checked_v1_reduction)


class _BinaryClassHead(_OldHead, est.BinaryClassHead):
    pass


class _MultiClassHead(_OldHead, est.MultiClassHead):
    pass


class _MultiLabelHead(_OldHead, est.MultiLabelHead):
    pass


class _RegressionHead(_OldHead, est.RegressionHead):
    pass


class _PoissonRegressionHead(_OldHead, est.PoissonRegressionHead):
    pass


class _LogisticRegressionHead(_OldHead, est.LogisticRegressionHead):
    pass


class _MultiHead(V1Training, est.MultiHead):
    pass


def multi_head(heads: Sequence[Any], head_weights: Sequence[float] | None = None) -> est.MultiHead:
    """See `MultiHead`."""
    return _MultiHead(heads, head_weights)


def binary_classification_head(
    weight_column: Any = None,
    thresholds: Sequence[float] | None = None,
    label_vocabulary: Sequence[str] | None = None,
    loss_reduction: str = _MEAN_OF_LOSSES,
    loss_fn: Any = None,
    name: str | None = None,
) -> est.BinaryClassHead:
    """See `BinaryClassHead`; loss_reduction is one of `tf.losses.Reduction`."""
    return _BinaryClassHead(**locals())


def multi_class_head(
    n_classes: int,
    weight_column: Any = None,
    label_vocabulary: Sequence[str] | None = None,
    loss_reduction: str = _MEAN_OF_LOSSES,
    loss_fn: Any = None,
    name: str | None = None,
) -> est.MultiClassHead:
    """See `MultiClassHead`; loss_reduction is one of `tf.losses.Reduction`."""
    return _MultiClassHead(**locals())


def multi_label_head(
    n_classes: int,
    weight_column: Any = None,
    thresholds: Sequence[float] | None = None,
    label_vocabulary: Sequence[str] | None = None,
    loss_reduction: str = _MEAN_OF_LOSSES,
    loss_fn: Any = None,
    classes_for_class_based_metrics: Sequence[int | str] | None = None,
    name: str | None = None,
) -> est.MultiLabelHead:
    """See `MultiLabelHead`; loss_reduction is one of `tf.losses.Reduction`."""
    return _MultiLabelHead(**locals())


def regression_head(
    weight_column: Any = None,
    label_dimension: int = 1,
    loss_reduction: str = _MEAN_OF_LOSSES,
    loss_fn: Any = None,
    inverse_link_fn: Callable[[tf.Tensor], tf.Tensor] | None = None,
    name: str | None = None,
) -> est.RegressionHead:
    """See `RegressionHead`; loss_reduction is one of `tf.losses.Reduction`."""
    return _RegressionHead(**locals())


def poisson_regression_head(
    weight_column: Any = None,
    label_dimension: int = 1,
    loss_reduction: str = _MEAN_OF_LOSSES,
    compute_full_loss: bool = True,
    name: str | None = None,
) -> est.PoissonRegressionHead:
    """See `PoissonRegressionHead`; loss_reduction is one of `tf.losses.Reduction`."""
    return _PoissonRegressionHead(**locals())


def logistic_regression_head(
    weight_column: Any = None,
    loss_reduction: str = _MEAN_OF_LOSSES,
    name: str | None = None,
) -> est.LogisticRegressionHead:
    """See `LogisticRegressionHead`; loss_reduction is one of `tf.losses.Reduction`."""
    return _LogisticRegressionHead(**locals())
