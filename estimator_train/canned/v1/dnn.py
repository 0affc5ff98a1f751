"""Deep neural networks on feature columns (v1)."""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf

from estimator_train.canned.parts.argument_types import (
    ActivationFn,
    Config,
    FeatureColumns,
    ModelDir,
    OptimizerArgument,
    Partitioner,
    WarmStart,
)
from estimator_train.canned.parts.default_heads import make_classifier_head, make_regressor_head
from estimator_train.canned.parts.models import Deep
from estimator_train.canned.parts.optimizer_arguments import V1Choice
from estimator_train.canned.parts.specs import TrainedPart, make_v1_model_fn
from estimator_train.estimator import Estimator
from estimator_train.heads import Head
from estimator_train.heads.types import WeightColumn

LEARNING_RATE = 0.05
_SUM = tf.compat.v1.losses.Reduction.SUM


class DNNEstimator(Estimator):
    """Deep neural network on feature columns, with any head.

    Arguments that are not listed, and errors, are those of `estimator_train.DNNEstimator`.

    Args:
      feature_columns: Dense columns of `tf.feature_column` or `tf.compat.v1.feature_column`.
      optimizer: An optimizer of `tf.compat.v1.train`, a function without arguments that makes
        one, or one of "Adagrad", "Adam", "Ftrl", "RMSProp", "SGD" with learning rate 0.05.
      input_layer_partitioner: Partitions the embeddings; by default over the parameter servers
        of the config.
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
        input_layer_partitioner: Partitioner | None = None,
        config: Config = None,
        warm_start_from: WarmStart = None,
        batch_norm: bool = False,
    ) -> None:
        part = Deep.build(
            feature_columns, hidden_units, activation_fn, dropout, batch_norm, v1=True
        )
        trained = [TrainedPart(part, V1Choice(optimizer, LEARNING_RATE))]
        model_fn = make_v1_model_fn(head, trained, input_layer_partitioner, whole_in_scope=True)
        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


class DNNClassifier(DNNEstimator):
    """Classifier with a deep neural network on feature columns.

    Arguments that are not listed, and errors, are those of `DNNEstimator` and
    `estimator_train.DNNClassifier`.

    Args:
      loss_reduction: A `tf.compat.v1.losses.Reduction` value other than NONE.
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
        input_layer_partitioner: Partitioner | None = None,
        config: Config = None,
        warm_start_from: WarmStart = None,
        loss_reduction: str = _SUM,
        batch_norm: bool = False,
    ) -> None:
        super().__init__(
            head=make_classifier_head(
                n_classes, weight_column, label_vocabulary, loss_reduction, v1=True
            ),
            hidden_units=hidden_units,
            feature_columns=feature_columns,
            model_dir=model_dir,
            optimizer=optimizer,
            activation_fn=activation_fn,
            dropout=dropout,
            input_layer_partitioner=input_layer_partitioner,
            config=config,
            warm_start_from=warm_start_from,
            batch_norm=batch_norm,
        )


class DNNRegressor(DNNEstimator):
    """Regressor with a deep neural network on feature columns.

    Arguments that are not listed, and errors, are those of `DNNEstimator` and
    `estimator_train.DNNRegressor`.

    Args:
      loss_reduction: A `tf.compat.v1.losses.Reduction` value other than NONE.
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
        input_layer_partitioner: Partitioner | None = None,
        config: Config = None,
        warm_start_from: WarmStart = None,
        loss_reduction: str = _SUM,
        batch_norm: bool = False,
    ) -> None:
        super().__init__(
            head=make_regressor_head(label_dimension, weight_column, loss_reduction, v1=True),
            hidden_units=hidden_units,
            feature_columns=feature_columns,
            model_dir=model_dir,
            optimizer=optimizer,
            activation_fn=activation_fn,
            dropout=dropout,
            input_layer_partitioner=input_layer_partitioner,
            config=config,
            warm_start_from=warm_start_from,
            batch_norm=batch_norm,
        )
