"""Deep neural networks on feature columns (v2)."""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf
import tf_keras

from estimator_train.canned.parts.argument_types import (
    ActivationFn,
    Config,
    FeatureColumns,
    ModelDir,
    OptimizerArgument,
    WarmStart,
)
from estimator_train.canned.parts.default_heads import make_classifier_head, make_regressor_head
from estimator_train.canned.parts.models import Deep
from estimator_train.canned.parts.optimizer_arguments import KerasChoice
from estimator_train.canned.parts.specs import TrainedPart, make_model_fn
from estimator_train.estimator import EstimatorV2
from estimator_train.heads import Head
from estimator_train.heads.types import WeightColumn

LEARNING_RATE = 0.001
_MEAN = tf_keras.losses.Reduction.SUM_OVER_BATCH_SIZE


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
