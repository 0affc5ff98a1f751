"""Deep neural networks on feature columns (v2), alone and together with a linear model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf
import tf_keras

from estimator_train.canned.arguments import (
    ActivationFn,
    Config,
    FeatureColumns,
    KerasChoice,
    ModelDir,
    OptimizerArgument,
    WarmStart,
    make_classifier_head,
    make_regressor_head,
)
from estimator_train.canned.linear import get_learning_rate
from estimator_train.canned.models import Deep, Linear
from estimator_train.canned.specs import TrainedPart, make_model_fn
from estimator_train.estimator import EstimatorV2
from estimator_train.heads import Head
from estimator_train.heads.keys import WeightColumn

LEARNING_RATE = 0.001
_MEAN = tf_keras.losses.Reduction.SUM_OVER_BATCH_SIZE
LINEAR_LEARNING_RATE = 0.005


class DNNEstimator(EstimatorV2):
    """Deep neural network on feature columns, with any head.

        estimator = DNNEstimator(head=PoissonRegressionHead(), hidden_units=[64, 32],
                                 feature_columns=[age, tf.feature_column.embedding_column(job, 8)])

    `model_dir`, `config` and `warm_start_from` are those of `Estimator`.

    Args:
      head: Computes loss, metrics and predictions from logits.
      hidden_units: Sizes of the hidden layers, the first is next to the features.
      feature_columns: Dense columns of `tf.feature_column`; a categorical one is wrapped in an
        `embedding_column` or `indicator_column`.
      optimizer: A tf_keras optimizer, new or legacy, a function without arguments that makes
        one, or one of "Adagrad", "Adam", "Ftrl", "RMSProp", "SGD" with learning rate 0.001.
      activation_fn: Function of the outputs of hidden layers.
      dropout: Share of these outputs that is dropped in training; none by default.
      batch_norm: Whether to normalize after each hidden layer.

    Raises:
      ValueError: A column is wrong, two have one name, a size or share is out of range, or the
        optimizer is of another kind.
      TypeError: hidden_units are not a list.
    """

    def __init__(
        self,
        head: Head,
        hidden_units: Sequence[int],
        feature_columns: FeatureColumns,
        model_dir: ModelDir = None,
        optimizer: OptimizerArgument = "Adagrad",
        activation_fn: ActivationFn = tf.nn.relu,
        dropout: float | None = None,
        config: Config = None,
        warm_start_from: WarmStart = None,
        batch_norm: bool = False,
    ) -> None:
        part = Deep.build(feature_columns, hidden_units, activation_fn, dropout, batch_norm)
        trained = [TrainedPart(part, KerasChoice(optimizer, LEARNING_RATE))]
        model_fn = make_model_fn(head, trained)
        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


class DNNClassifier(DNNEstimator):
    """Classifier with a deep neural network on feature columns.

        estimator = DNNClassifier([64, 32], [age, embedded_job], n_classes=3)
        estimator.train(input_fn, steps=1000)

    Arguments that are not listed, and errors, are those of `DNNEstimator` and the heads.

    Args:
      n_classes: Number of classes; labels are 0 to n_classes - 1.
      weight_column: Name of the feature with the weights of examples, or a numeric column.
      label_vocabulary: Names of the classes if labels are strings.
      loss_reduction: A `tf_keras.losses.Reduction` value other than NONE.
    """

    def __init__(
        self,
        hidden_units: Sequence[int],
        feature_columns: FeatureColumns,
        model_dir: ModelDir = None,
        n_classes: int = 2,
        weight_column: WeightColumn = None,
        label_vocabulary: Sequence[str] | None = None,
        optimizer: OptimizerArgument = "Adagrad",
        activation_fn: ActivationFn = tf.nn.relu,
        dropout: float | None = None,
        config: Config = None,
        warm_start_from: WarmStart = None,
        loss_reduction: str = _MEAN,
        batch_norm: bool = False,
    ) -> None:
        super().__init__(
            head=make_classifier_head(n_classes, weight_column, label_vocabulary, loss_reduction),
            hidden_units=hidden_units,
            feature_columns=feature_columns,
            model_dir=model_dir,
            optimizer=optimizer,
            activation_fn=activation_fn,
            dropout=dropout,
            config=config,
            warm_start_from=warm_start_from,
            batch_norm=batch_norm,
        )


class DNNRegressor(DNNEstimator):
    """Regressor with a deep neural network on feature columns.

    Arguments that are not listed, and errors, are those of `DNNEstimator` and the heads.

    Args:
      label_dimension: Number of values in a label.
      weight_column: Name of the feature with the weights of examples, or a numeric column.
      loss_reduction: A `tf_keras.losses.Reduction` value other than NONE.
    """

    def __init__(
        self,
        hidden_units: Sequence[int],
        feature_columns: FeatureColumns,
        model_dir: ModelDir = None,
        label_dimension: int = 1,
        weight_column: WeightColumn = None,
        optimizer: OptimizerArgument = "Adagrad",
        activation_fn: ActivationFn = tf.nn.relu,
        dropout: float | None = None,
        config: Config = None,
        warm_start_from: WarmStart = None,
        loss_reduction: str = _MEAN,
        batch_norm: bool = False,
    ) -> None:
        super().__init__(
            head=make_regressor_head(label_dimension, weight_column, loss_reduction),
            hidden_units=hidden_units,
            feature_columns=feature_columns,
            model_dir=model_dir,
            optimizer=optimizer,
            activation_fn=activation_fn,
            dropout=dropout,
            config=config,
            warm_start_from=warm_start_from,
            batch_norm=batch_norm,
        )


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
