"""Linear estimators (v2)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import tf_keras

from estimator_train.canned.parts.default_heads import classifier_head, regressor_head
from estimator_train.canned.parts.models import Linear
from estimator_train.canned.parts.optimizer_arguments import KerasChoice
from estimator_train.canned.parts.sdca import LinearSDCA
from estimator_train.canned.parts.specs import TrainedPart, model_fn_of, sdca_model_fn_of
from estimator_train.estimator import EstimatorV2

_MEAN = tf_keras.losses.Reduction.SUM_OVER_BATCH_SIZE


def learning_rate_of(columns: Sequence[Any], most: float) -> float:
    """The learning rate of a linear model whose optimizer is given by name."""
    return min(most, 1.0 / math.sqrt(len(columns)))


class LinearEstimator(EstimatorV2):
    """A linear model of feature columns, with any head.

        estimator = LinearEstimator(head=MultiLabelHead(3), feature_columns=[age, job])

    Categorical columns need no embedding or indicator here: each of their values has a weight.

    `model_dir`, `config` and `warm_start_from` are those of `Estimator`.

    Args:
      head: What turns logits into loss, metrics and predictions.
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
        head: Any,
        feature_columns: Any,
        model_dir: Any = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        sparse_combiner: str = "sum",
        warm_start_from: Any = None,
    ) -> None:
        part = Linear.of(feature_columns, sparse_combiner)
        if isinstance(optimizer, LinearSDCA):
            optimizer.check(head, part.columns, sparse_combiner)
            model_fn = sdca_model_fn_of(head, part, optimizer)
        else:
            choice = KerasChoice(optimizer or "Ftrl", learning_rate_of(part.columns, 0.2))
            model_fn = model_fn_of(head, [TrainedPart(part, choice)])
        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


class LinearClassifier(LinearEstimator):
    """A linear classifier of feature columns.

        estimator = LinearClassifier([age, job], n_classes=3)
        estimator.train(input_fn, steps=1000)

    Arguments that are not listed, and errors, are those of `LinearEstimator` and the heads.

    Args:
      n_classes: How many classes; labels are below it.
      weight_column: Name of the feature with the weights of examples, or a numeric column.
      label_vocabulary: Names of the classes where labels are strings.
      loss_reduction: A `tf_keras.losses.Reduction` value other than NONE.
    """

    def __init__(
        self,
        feature_columns: Any,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = _MEAN,
        sparse_combiner: str = "sum",
    ) -> None:
        head = classifier_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        super().__init__(
            head, feature_columns, model_dir, optimizer, config, sparse_combiner, warm_start_from
        )


class LinearRegressor(LinearEstimator):
    """A linear regressor of feature columns.

    Arguments that are not listed, and errors, are those of `LinearEstimator` and the heads.

    Args:
      label_dimension: Numbers in a label.
      weight_column: Name of the feature with the weights of examples, or a numeric column.
      loss_reduction: A `tf_keras.losses.Reduction` value other than NONE.
    """

    def __init__(
        self,
        feature_columns: Any,
        model_dir: Any = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = _MEAN,
        sparse_combiner: str = "sum",
    ) -> None:
        head = regressor_head(label_dimension, weight_column, loss_reduction)
        super().__init__(
            head, feature_columns, model_dir, optimizer, config, sparse_combiner, warm_start_from
        )
