"""Linear estimators of v1, and baselines, which learn the labels' distribution."""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf

from estimator_train.canned.arguments import (
    Config,
    FeatureColumns,
    ModelDir,
    OptimizerArgument,
    Partitioner,
    V1Choice,
    WarmStart,
    make_classifier_head,
    make_regressor_head,
)
from estimator_train.canned.linear import BASELINE_LEARNING_RATE, Bias, get_learning_rate
from estimator_train.canned.models import Linear
from estimator_train.canned.sdca import LinearSDCA
from estimator_train.canned.specs import TrainedPart, make_sdca_model_fn, make_v1_model_fn
from estimator_train.estimator import Estimator
from estimator_train.heads import Head
from estimator_train.heads.keys import WeightColumn

_SUM = tf.compat.v1.losses.Reduction.SUM


class LinearEstimator(Estimator):
    """Linear model of feature columns, with any head.

    Arguments that are not listed, and errors, are those of `estimator_train.LinearEstimator`.

    Args:
      feature_columns: Columns of `tf.feature_column` or `tf.compat.v1.feature_column`.
      optimizer: An optimizer of `tf.compat.v1.train`, a function without arguments that makes
        one, or one of "Adagrad", "Adam", "Ftrl", "RMSProp", "SGD" with the learning rate
        min(0.2, 1 / sqrt(number of columns)); or an `experimental.LinearSDCA`.
      partitioner: Partitions the weights; by default over the parameter servers of the config.
    """

    def __init__(
        self,
        head: Head,
        feature_columns: FeatureColumns,
        model_dir: ModelDir = None,
        optimizer: OptimizerArgument = "Ftrl",
        config: Config = None,
        partitioner: Partitioner | None = None,
        sparse_combiner: str = "sum",
        warm_start_from: WarmStart = None,
    ) -> None:
        part = Linear.build(feature_columns, sparse_combiner, v1=True)
        if isinstance(optimizer, LinearSDCA):
            optimizer.check(head, part.columns, sparse_combiner)
            model_fn = make_sdca_model_fn(head, part, optimizer, partitioner, v1=True)
        else:
            choice = V1Choice(optimizer or "Ftrl", get_learning_rate(part.columns, 0.2))
            trained = [TrainedPart(part, choice)]
            model_fn = make_v1_model_fn(head, trained, partitioner, whole_in_scope=True)
        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


class LinearClassifier(LinearEstimator):
    """Linear classifier of feature columns.

    Arguments that are not listed, and errors, are those of `LinearEstimator` and
    `estimator_train.LinearClassifier`.

    Args:
      loss_reduction: A `tf.compat.v1.losses.Reduction` value other than NONE.
    """

    def __init__(
        self,
        feature_columns: FeatureColumns,
        model_dir: ModelDir = None,
        n_classes: int = 2,
        weight_column: WeightColumn = None,
        label_vocabulary: Sequence[str] | None = None,
        optimizer: OptimizerArgument = "Ftrl",
        config: Config = None,
        partitioner: Partitioner | None = None,
        warm_start_from: WarmStart = None,
        loss_reduction: str = _SUM,
        sparse_combiner: str = "sum",
    ) -> None:
        super().__init__(
            head=make_classifier_head(
                n_classes, weight_column, label_vocabulary, loss_reduction, v1=True
            ),
            feature_columns=feature_columns,
            model_dir=model_dir,
            optimizer=optimizer,
            config=config,
            partitioner=partitioner,
            sparse_combiner=sparse_combiner,
            warm_start_from=warm_start_from,
        )


class LinearRegressor(LinearEstimator):
    """Linear regressor of feature columns.

    Arguments that are not listed, and errors, are those of `LinearEstimator` and
    `estimator_train.LinearRegressor`.

    Args:
      loss_reduction: A `tf.compat.v1.losses.Reduction` value other than NONE.
    """

    def __init__(
        self,
        feature_columns: FeatureColumns,
        model_dir: ModelDir = None,
        label_dimension: int = 1,
        weight_column: WeightColumn = None,
        optimizer: OptimizerArgument = "Ftrl",
        config: Config = None,
        partitioner: Partitioner | None = None,
        warm_start_from: WarmStart = None,
        loss_reduction: str = _SUM,
        sparse_combiner: str = "sum",
    ) -> None:
        super().__init__(
            head=make_regressor_head(label_dimension, weight_column, loss_reduction, v1=True),
            feature_columns=feature_columns,
            model_dir=model_dir,
            optimizer=optimizer,
            config=config,
            partitioner=partitioner,
            sparse_combiner=sparse_combiner,
            warm_start_from=warm_start_from,
        )


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
        trained = TrainedPart(Bias(), V1Choice(optimizer, BASELINE_LEARNING_RATE))
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
