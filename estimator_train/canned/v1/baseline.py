"""Baselines: models that learn the labels' distribution and ignore the features (v1)."""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf

from estimator_train.canned.baseline import LEARNING_RATE, Bias
from estimator_train.canned.parts.argument_types import Config, ModelDir, OptimizerArgument
from estimator_train.canned.parts.default_heads import make_classifier_head, make_regressor_head
from estimator_train.canned.parts.optimizer_arguments import V1Choice
from estimator_train.canned.parts.specs import TrainedPart, make_v1_model_fn
from estimator_train.estimator import Estimator
from estimator_train.heads import Head
from estimator_train.heads.types import WeightColumn

_SUM = tf.compat.v1.losses.Reduction.SUM


class BaselineEstimator(Estimator):
    """Model that ignores the features, with any head: the score that a useful model exceeds.

    Arguments that are not listed, and errors, are those of `estimator_train.BaselineEstimator`.

    Args:
      optimizer: An optimizer of `tf.compat.v1.train`, a function without arguments that makes
        one, or one of "Adagrad", "Adam", "Ftrl", "RMSProp", "SGD" with learning rate 0.3.
    """

    def __init__(
        self,
        head: Head,
        model_dir: ModelDir = None,
        optimizer: OptimizerArgument = "Ftrl",
        config: Config = None,
    ) -> None:
        trained = TrainedPart(Bias(), V1Choice(optimizer, LEARNING_RATE))
        super().__init__(make_v1_model_fn(head, [trained]), model_dir, config)


class BaselineClassifier(BaselineEstimator):
    """Classifier that predicts the frequencies of classes among the labels.

    Arguments that are not listed, and errors, are those of `BaselineEstimator` and
    `estimator_train.BaselineClassifier`.

    Args:
      loss_reduction: A `tf.compat.v1.losses.Reduction` value other than NONE.
    """

    def __init__(
        self,
        model_dir: ModelDir = None,
        n_classes: int = 2,
        weight_column: WeightColumn = None,
        label_vocabulary: Sequence[str] | None = None,
        optimizer: OptimizerArgument = "Ftrl",
        config: Config = None,
        loss_reduction: str = _SUM,
    ) -> None:
        head = make_classifier_head(
            n_classes, weight_column, label_vocabulary, loss_reduction, v1=True
        )
        super().__init__(head, model_dir, optimizer, config)


class BaselineRegressor(BaselineEstimator):
    """Regressor that predicts the mean of the labels.

    Arguments that are not listed, and errors, are those of `BaselineEstimator` and
    `estimator_train.BaselineRegressor`.

    Args:
      loss_reduction: A `tf.compat.v1.losses.Reduction` value other than NONE.
    """

    def __init__(
        self,
        model_dir: ModelDir = None,
        label_dimension: int = 1,
        weight_column: WeightColumn = None,
        optimizer: OptimizerArgument = "Ftrl",
        config: Config = None,
        loss_reduction: str = _SUM,
    ) -> None:
        head = make_regressor_head(label_dimension, weight_column, loss_reduction, v1=True)
        super().__init__(head, model_dir, optimizer, config)
