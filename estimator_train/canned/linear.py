"""Linear estimators, and baselines, which learn the labels' distribution (v2)."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import tensorflow as tf
import tf_keras

from estimator_train.canned.arguments import (
    Config,
    FeatureColumn,
    FeatureColumns,
    KerasChoice,
    ModelDir,
    OptimizerArgument,
    WarmStart,
    make_classifier_head,
    make_regressor_head,
)
from estimator_train.canned.columns import Batch
from estimator_train.canned.models import Linear, Logits
from estimator_train.canned.sdca import LinearSDCA
from estimator_train.canned.specs import TrainedPart, make_model_fn, make_sdca_model_fn
from estimator_train.estimator import EstimatorV2
from estimator_train.heads import Head
from estimator_train.heads.keys import WeightColumn

_MEAN = tf_keras.losses.Reduction.SUM_OVER_BATCH_SIZE
BASELINE_LEARNING_RATE = 0.3


def get_learning_rate(columns: Sequence[FeatureColumn], max_rate: float) -> float:
    """Returns the learning rate of an optimizer that is given by name."""
    return min(max_rate, 1.0 / math.sqrt(len(columns)))


class LinearEstimator(EstimatorV2):
    """Linear model of feature columns, with any head.

        estimator = LinearEstimator(head=MultiLabelHead(3), feature_columns=[age, job])

    Categorical columns need no embedding or indicator here: each of their values has a weight.

    `model_dir`, `config` and `warm_start_from` are those of `Estimator`.

    Args:
      head: Computes loss, metrics and predictions from logits.
      feature_columns: Columns of `tf.feature_column`.
      optimizer: A tf_keras optimizer, new or legacy, a function without arguments that makes
        one, or one of "Adagrad", "Adam", "Ftrl", "RMSProp", "SGD" with the learning rate
        min(0.2, 1 / sqrt(number of columns)); or an `experimental.LinearSDCA`.
      sparse_combiner: How several values of a categorical column become one: "sum", "mean" or
        "sqrtn".

    Raises:
      ValueError: A column is wrong, two have one name, or the optimizer is of another kind.
    """

    def __init__(
        self,
        head: Head,
        feature_columns: FeatureColumns,
        model_dir: ModelDir = None,
        optimizer: OptimizerArgument = "Ftrl",
        config: Config = None,
        sparse_combiner: str = "sum",
        warm_start_from: WarmStart = None,
    ) -> None:
        part = Linear.build(feature_columns, sparse_combiner)
        if isinstance(optimizer, LinearSDCA):
            optimizer.check(head, part.columns, sparse_combiner)
            model_fn = make_sdca_model_fn(head, part, optimizer)
        else:
            choice = KerasChoice(optimizer or "Ftrl", get_learning_rate(part.columns, 0.2))
            model_fn = make_model_fn(head, [TrainedPart(part, choice)])
        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


class LinearClassifier(LinearEstimator):
    """Linear classifier of feature columns.

        estimator = LinearClassifier([age, job], n_classes=3)
        estimator.train(input_fn, steps=1000)

    Arguments that are not listed, and errors, are those of `LinearEstimator` and the heads.

    Args:
      n_classes: Number of classes; labels are smaller.
      weight_column: Name of the feature with the weights of examples, or a numeric column.
      label_vocabulary: Names of the classes if labels are strings.
      loss_reduction: A `tf_keras.losses.Reduction` value other than NONE.
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
        warm_start_from: WarmStart = None,
        loss_reduction: str = _MEAN,
        sparse_combiner: str = "sum",
    ) -> None:
        head = make_classifier_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        super().__init__(
            head=head,
            feature_columns=feature_columns,
            model_dir=model_dir,
            optimizer=optimizer,
            config=config,
            sparse_combiner=sparse_combiner,
            warm_start_from=warm_start_from,
        )


class LinearRegressor(LinearEstimator):
    """Linear regressor of feature columns.

    Arguments that are not listed, and errors, are those of `LinearEstimator` and the heads.

    Args:
      label_dimension: Numbers in a label.
      weight_column: Name of the feature with the weights of examples, or a numeric column.
      loss_reduction: A `tf_keras.losses.Reduction` value other than NONE.
    """

    def __init__(
        self,
        feature_columns: FeatureColumns,
        model_dir: ModelDir = None,
        label_dimension: int = 1,
        weight_column: WeightColumn = None,
        optimizer: OptimizerArgument = "Ftrl",
        config: Config = None,
        warm_start_from: WarmStart = None,
        loss_reduction: str = _MEAN,
        sparse_combiner: str = "sum",
    ) -> None:
        head = make_regressor_head(label_dimension, weight_column, loss_reduction)
        super().__init__(
            head=head,
            feature_columns=feature_columns,
            model_dir=model_dir,
            optimizer=optimizer,
            config=config,
            sparse_combiner=sparse_combiner,
            warm_start_from=warm_start_from,
        )


@dataclasses.dataclass(frozen=True)
class Bias:
    """Model part with the same logits for every example."""

    scope = "baseline"

    def logits(self, batch: Batch, units: int, training: bool) -> Logits:
        """Makes logits in the current scope.

        Raises:
          ValueError: There is no feature, so that the number of examples is not known.
        """
        if not batch.features:
            raise ValueError(
                "A baseline needs at least one feature, which tells the size of the batch. Given "
                "no features."
            )
        bias = tf.compat.v1.get_variable(
            "bias", [units], initializer=tf.compat.v1.zeros_initializer()
        )
        feature = next(iter(batch.features.values()))
        sparse = isinstance(feature, tf.SparseTensor)
        size = feature.dense_shape[0] if sparse else tf.shape(feature, tf.int64)[0]
        return Logits(tf.multiply(tf.ones([size, units]), bias), [])


class BaselineEstimator(EstimatorV2):
    """Model that ignores the features, with any head: the score that a useful model exceeds.

    Args:
      head: Computes loss, metrics and predictions from logits.
      model_dir: See `Estimator`.
      optimizer: A tf_keras optimizer, new or legacy, a function without arguments that makes
        one, or one of "Adagrad", "Adam", "Ftrl", "RMSProp", "SGD" with learning rate 0.3.
      config: See `Estimator`.

    Raises:
      ValueError: The optimizer is of another kind.
    """

    def __init__(
        self,
        head: Head,
        model_dir: ModelDir = None,
        optimizer: OptimizerArgument = "Ftrl",
        config: Config = None,
    ) -> None:
        trained = TrainedPart(Bias(), KerasChoice(optimizer, BASELINE_LEARNING_RATE))
        super().__init__(make_model_fn(head, [trained]), model_dir, config)


class BaselineClassifier(BaselineEstimator):
    """Classifier that predicts the frequencies of classes among the labels.

    Arguments that are not listed, and errors, are those of `BaselineEstimator` and the heads.

    Args:
      n_classes: Number of classes; labels are smaller.
      weight_column: Name of the feature with the weights of examples, or a numeric column.
      label_vocabulary: Names of the classes if labels are strings.
      loss_reduction: A `tf_keras.losses.Reduction` value other than NONE.
    """

    def __init__(
        self,
        model_dir: ModelDir = None,
        n_classes: int = 2,
        weight_column: WeightColumn = None,
        label_vocabulary: Sequence[str] | None = None,
        optimizer: OptimizerArgument = "Ftrl",
        config: Config = None,
        loss_reduction: str = _MEAN,
    ) -> None:
        head = make_classifier_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        super().__init__(head, model_dir, optimizer, config)


class BaselineRegressor(BaselineEstimator):
    """Regressor that predicts the mean of the labels.

    Arguments that are not listed, and errors, are those of `BaselineEstimator` and the heads.

    Args:
      label_dimension: Numbers in a label.
      weight_column: Name of the feature with the weights of examples, or a numeric column.
      loss_reduction: A `tf_keras.losses.Reduction` value other than NONE.
    """

    def __init__(
        self,
        model_dir: ModelDir = None,
        label_dimension: int = 1,
        weight_column: WeightColumn = None,
        optimizer: OptimizerArgument = "Ftrl",
        config: Config = None,
        loss_reduction: str = _MEAN,
    ) -> None:
        head = make_regressor_head(label_dimension, weight_column, loss_reduction)
        super().__init__(head, model_dir, optimizer, config)
