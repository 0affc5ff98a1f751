"""Heads of classifiers and regressors, created from their arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from estimator_train.heads import BinaryClassHead, Head, MultiClassHead, RegressionHead
from estimator_train.heads.types import LossFn, WeightColumn
from estimator_train.heads.v1 import V1BinaryClassHead, V1MultiClassHead, V1RegressionHead


def make_classifier_head(
    n_classes: int,
    weight_column: WeightColumn,
    label_vocabulary: Sequence[str] | None,
    loss_reduction: str,
    *,
    v1: bool = False,
    multi_class_loss_fn: LossFn | None = None,
) -> Head:
    """Returns the head of a classifier; for arguments and errors see the heads, of v1 or not."""
    shared: dict[str, Any] = {
        "weight_column": weight_column,
        "label_vocabulary": label_vocabulary,
        "loss_reduction": loss_reduction,
    }
    if n_classes == 2:
        return V1BinaryClassHead(**shared) if v1 else BinaryClassHead(**shared)
    multi = V1MultiClassHead if v1 else MultiClassHead
    return multi(n_classes, loss_fn=multi_class_loss_fn, **shared)


def make_regressor_head(
    label_dimension: int, weight_column: WeightColumn, loss_reduction: str, *, v1: bool = False
) -> Head:
    """Returns the head of a regressor; for arguments and errors see the heads, of v1 or not."""
    kind = V1RegressionHead if v1 else RegressionHead
    return kind(label_dimension, weight_column, loss_reduction)
