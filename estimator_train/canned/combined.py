"""Wide and deep models: a linear model and a deep neural network whose logits are added (v2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf
import tf_keras

from estimator_train.canned.dnn import LEARNING_RATE
from estimator_train.canned.linear import get_learning_rate
from estimator_train.canned.parts.argument_types import (
    ActivationFn,
    Config,
    FeatureColumns,
    ModelDir,
    OptimizerArgument,
    WarmStart,
)
from estimator_train.canned.parts.default_heads import make_classifier_head, make_regressor_head
from estimator_train.canned.parts.models import Deep, Linear
from estimator_train.canned.parts.optimizer_arguments import KerasChoice
from estimator_train.canned.parts.specs import TrainedPart, make_model_fn
from estimator_train.estimator import EstimatorV2
from estimator_train.heads import Head
from estimator_train.heads.types import WeightColumn

LINEAR_LEARNING_RATE = 0.005
_MEAN = tf_keras.losses.Reduction.SUM_OVER_BATCH_SIZE


def check_columns(
    linear_columns: FeatureColumns | None, deep_columns: FeatureColumns | None, hidden_units: Any
) -> None:
    """Checks that there are columns, and hidden layers for the network's columns.

    Raises:
      ValueError: Columns or hidden layers are missing.
    """
    if not (linear_columns or deep_columns):
        raise ValueError("Either linear_feature_columns or dnn_feature_columns must be defined.")
    if deep_columns and not hidden_units:
        raise ValueError("dnn_hidden_units must be defined when dnn_feature_columns is specified.")


class DNNLinearCombinedEstimator(EstimatorV2):
    """Linear model and a deep neural network that are trained jointly, with any head.

    The linear model memorizes, for example crosses of categories; the network generalizes.

        estimator = DNNLinearCombinedEstimator(
            head=MultiLabelHead(3),
            linear_feature_columns=[job_x_age],
            dnn_feature_columns=[age, embedded_job],
            dnn_hidden_units=[64, 32],
        )

    Arguments that are not listed are those of `DNNEstimator` and `LinearEstimator`, some of whose
    names begin with `dnn_` or `linear_` here.

    Args:
      head: Computes loss, metrics and predictions from logits.
      linear_feature_columns: Columns of the linear model, as for `LinearEstimator`; or None for
        a network alone.
      linear_optimizer: As for `LinearEstimator`; by name with the learning rate min(0.005,
        1 / sqrt(number of columns)).
      dnn_feature_columns: Columns of the network, as for `DNNEstimator`; or None for a linear
        model alone.

    Raises:
      ValueError, TypeError: There are no columns; and as `LinearEstimator` and `DNNEstimator`.
    """

    def __init__(
        self,
        head: Head,
        model_dir: ModelDir = None,
        linear_feature_columns: FeatureColumns | None = None,
        linear_optimizer: OptimizerArgument = "Ftrl",
        dnn_feature_columns: FeatureColumns | None = None,
        dnn_optimizer: OptimizerArgument = "Adagrad",
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: ActivationFn = tf.nn.relu,
        dnn_dropout: float | None = None,
        config: Config = None,
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
        *,
        warm_start_from: WarmStart = None,
    ) -> None:
        check_columns(linear_feature_columns, dnn_feature_columns, dnn_hidden_units)
        trained = []
        if dnn_feature_columns:
            deep = Deep.build(
                dnn_feature_columns, dnn_hidden_units, dnn_activation_fn, dnn_dropout, batch_norm
            )
            trained.append(TrainedPart(deep, KerasChoice(dnn_optimizer, LEARNING_RATE)))
        if linear_feature_columns:
            linear = Linear.build(linear_feature_columns, linear_sparse_combiner, shows_output=True)
            rate = get_learning_rate(linear.columns, LINEAR_LEARNING_RATE)
            trained.append(TrainedPart(linear, KerasChoice(linear_optimizer, rate)))
        super().__init__(
            make_model_fn(head, trained), model_dir, config, warm_start_from=warm_start_from
        )


class DNNLinearCombinedClassifier(DNNLinearCombinedEstimator):
    """Wide and deep classifier.

        estimator = DNNLinearCombinedClassifier(
            linear_feature_columns=[job_x_age],
            dnn_feature_columns=[age, embedded_job],
            dnn_hidden_units=[64, 32],
        )
        estimator.train(input_fn, steps=1000)

    Arguments that are not listed, and errors, are those of `DNNLinearCombinedEstimator` and the
    heads.

    Args:
      n_classes: Number of classes; labels are 0 to n_classes - 1.
      weight_column: Name of the feature with the weights of examples, or a numeric column.
      label_vocabulary: Names of the classes if labels are strings.
      loss_reduction: A `tf_keras.losses.Reduction` value other than NONE.
    """

    def __init__(
        self,
        model_dir: ModelDir = None,
        linear_feature_columns: FeatureColumns | None = None,
        linear_optimizer: OptimizerArgument = "Ftrl",
        dnn_feature_columns: FeatureColumns | None = None,
        dnn_optimizer: OptimizerArgument = "Adagrad",
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: ActivationFn = tf.nn.relu,
        dnn_dropout: float | None = None,
        n_classes: int = 2,
        weight_column: WeightColumn = None,
        label_vocabulary: Sequence[str] | None = None,
        config: Config = None,
        warm_start_from: WarmStart = None,
        loss_reduction: str = _MEAN,
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
    ) -> None:
        super().__init__(
            head=make_classifier_head(n_classes, weight_column, label_vocabulary, loss_reduction),
            model_dir=model_dir,
            linear_feature_columns=linear_feature_columns,
            linear_optimizer=linear_optimizer,
            dnn_feature_columns=dnn_feature_columns,
            dnn_optimizer=dnn_optimizer,
            dnn_hidden_units=dnn_hidden_units,
            dnn_activation_fn=dnn_activation_fn,
            dnn_dropout=dnn_dropout,
            config=config,
            batch_norm=batch_norm,
            linear_sparse_combiner=linear_sparse_combiner,
            warm_start_from=warm_start_from,
        )


class DNNLinearCombinedRegressor(DNNLinearCombinedEstimator):
    """Wide and deep regressor.

    Arguments that are not listed, and errors, are those of `DNNLinearCombinedEstimator` and the
    heads.

    Args:
      label_dimension: Number of values in a label.
      weight_column: Name of the feature with the weights of examples, or a numeric column.
      loss_reduction: A `tf_keras.losses.Reduction` value other than NONE.
    """

    def __init__(
        self,
        model_dir: ModelDir = None,
        linear_feature_columns: FeatureColumns | None = None,
        linear_optimizer: OptimizerArgument = "Ftrl",
        dnn_feature_columns: FeatureColumns | None = None,
        dnn_optimizer: OptimizerArgument = "Adagrad",
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: ActivationFn = tf.nn.relu,
        dnn_dropout: float | None = None,
        label_dimension: int = 1,
        weight_column: WeightColumn = None,
        config: Config = None,
        warm_start_from: WarmStart = None,
        loss_reduction: str = _MEAN,
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
    ) -> None:
        super().__init__(
            head=make_regressor_head(label_dimension, weight_column, loss_reduction),
            model_dir=model_dir,
            linear_feature_columns=linear_feature_columns,
            linear_optimizer=linear_optimizer,
            dnn_feature_columns=dnn_feature_columns,
            dnn_optimizer=dnn_optimizer,
            dnn_hidden_units=dnn_hidden_units,
            dnn_activation_fn=dnn_activation_fn,
            dnn_dropout=dnn_dropout,
            config=config,
            batch_norm=batch_norm,
            linear_sparse_combiner=linear_sparse_combiner,
            warm_start_from=warm_start_from,
        )
