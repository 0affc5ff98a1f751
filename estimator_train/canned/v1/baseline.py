"""Baselines: models that learn the labels' distribution and ignore the features (v1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_train.canned.baseline import LEARNING_RATE, Bias
from estimator_train.canned.parts.default_heads import classifier_head, regressor_head
from estimator_train.canned.parts.optimizer_arguments import V1Choice
from estimator_train.canned.parts.specs import TrainedPart, v1_model_fn_of
from estimator_train.estimator import Estimator

_SUM = tf.compat.v1.losses.Reduction.SUM


class BaselineEstimator(Estimator):
    """A model that ignores the features, with any head: what every other model must beat.

    Arguments that are not listed, and errors, are those of `estimator_train.BaselineEstimator`.

    Args:
      optimizer: An optimizer of `tf.compat.v1.train`, a function without arguments that makes
        one, or one of "Adagrad", "Adam", "Ftrl", "RMSProp", "SGD" with learning rate 0.3.
    """

    def __init__(
        self, head: Any, model_dir: Any = None, optimizer: Any = "Ftrl", config: Any = None
    ) -> None:
        trained = TrainedPart(Bias(), V1Choice(optimizer, LEARNING_RATE))
        super().__init__(v1_model_fn_of(head, [trained]), model_dir, config)


class BaselineClassifier(BaselineEstimator):
    """A classifier that predicts each class as often as it is among the labels.

    Arguments that are not listed, and errors, are those of `BaselineEstimator` and
    `estimator_train.BaselineClassifier`.

    Args:
      loss_reduction: A `tf.compat.v1.losses.Reduction` value other than NONE.
    """

    def __init__(
        self,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        loss_reduction: str = _SUM,
    ) -> None:
        head = classifier_head(n_classes, weight_column, label_vocabulary, loss_reduction, v1=True)
        super().__init__(head, model_dir, optimizer, config)


class BaselineRegressor(BaselineEstimator):
    """A regressor that predicts the mean of the labels.

    Arguments that are not listed, and errors, are those of `BaselineEstimator` and
    `estimator_train.BaselineRegressor`.

    Args:
      loss_reduction: A `tf.compat.v1.losses.Reduction` value other than NONE.
    """

    def __init__(
        self,
        model_dir: Any = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        loss_reduction: str = _SUM,
    ) -> None:
        head = regressor_head(label_dimension, weight_column, loss_reduction, v1=True)
        super().__init__(head, model_dir, optimizer, config)
