"""Deep neural networks on feature columns (v1), alone and together with a linear model."""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf

from estimator_train.canned.arguments import (
    ActivationFn,
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
from estimator_train.canned.dnn import LEARNING_RATE, LINEAR_LEARNING_RATE, check_columns
from estimator_train.canned.linear import get_learning_rate
from estimator_train.canned.models import Deep, Linear
from estimator_train.canned.specs import TrainedPart, make_v1_model_fn
from estimator_train.estimator import Estimator
from estimator_train.heads import Head
from estimator_train.heads.keys import WeightColumn

_ALONE_LEARNING_RATE = 0.05  # Of a network that no linear model completes.
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
        trained = [TrainedPart(part, V1Choice(optimizer, _ALONE_LEARNING_RATE))]
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


class DNNLinearCombinedEstimator(Estimator):
    """Linear model and a deep neural network that are trained jointly, with any head.

    Arguments that are not listed, and errors, are those of
    `estimator_train.DNNLinearCombinedEstimator`, which has an example; the two models are
    those of `LinearEstimator` and `DNNEstimator`.

    Args:
      linear_optimizer: As for `LinearEstimator`; by name with the learning rate min(0.005,
        1 / sqrt(number of columns)).
      dnn_optimizer: As for `DNNEstimator`; by name with learning rate 0.001.
      input_layer_partitioner: As for `DNNEstimator`; also partitions the linear model's weights.
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
        input_layer_partitioner: Partitioner | None = None,
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
                dnn_feature_columns,
                dnn_hidden_units,
                dnn_activation_fn,
                dnn_dropout,
                batch_norm,
                v1=True,
            )
            trained.append(TrainedPart(deep, V1Choice(dnn_optimizer, LEARNING_RATE)))
        if linear_feature_columns:
            linear = Linear.build(
                linear_feature_columns, linear_sparse_combiner, v1=True, shows_output=True
            )
            rate = get_learning_rate(linear.columns, LINEAR_LEARNING_RATE)
            trained.append(TrainedPart(linear, V1Choice(linear_optimizer, rate)))
        model_fn = make_v1_model_fn(head, trained, input_layer_partitioner)
        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


class DNNLinearCombinedClassifier(DNNLinearCombinedEstimator):
    """Wide and deep classifier.

    Arguments that are not listed, and errors, are those of `DNNLinearCombinedEstimator` and
    `estimator_train.DNNLinearCombinedClassifier`.

    Args:
      loss_reduction: A `tf.compat.v1.losses.Reduction` value other than NONE.
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
        input_layer_partitioner: Partitioner | None = None,
        config: Config = None,
        warm_start_from: WarmStart = None,
        loss_reduction: str = _SUM,
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
    ) -> None:
        super().__init__(
            head=make_classifier_head(
                n_classes, weight_column, label_vocabulary, loss_reduction, v1=True
            ),
            model_dir=model_dir,
            linear_feature_columns=linear_feature_columns,
            linear_optimizer=linear_optimizer,
            dnn_feature_columns=dnn_feature_columns,
            dnn_optimizer=dnn_optimizer,
            dnn_hidden_units=dnn_hidden_units,
            dnn_activation_fn=dnn_activation_fn,
            dnn_dropout=dnn_dropout,
            input_layer_partitioner=input_layer_partitioner,
            config=config,
            batch_norm=batch_norm,
            linear_sparse_combiner=linear_sparse_combiner,
            warm_start_from=warm_start_from,
        )


class DNNLinearCombinedRegressor(DNNLinearCombinedEstimator):
    """Wide and deep regressor.

    Arguments that are not listed, and errors, are those of `DNNLinearCombinedEstimator` and
    `estimator_train.DNNLinearCombinedRegressor`.

    Args:
      loss_reduction: A `tf.compat.v1.losses.Reduction` value other than NONE.
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
        input_layer_partitioner: Partitioner | None = None,
        config: Config = None,
        warm_start_from: WarmStart = None,
        loss_reduction: str = _SUM,
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
    ) -> None:
        super().__init__(
            head=make_regressor_head(label_dimension, weight_column, loss_reduction, v1=True),
            model_dir=model_dir,
            linear_feature_columns=linear_feature_columns,
            linear_optimizer=linear_optimizer,
            dnn_feature_columns=dnn_feature_columns,
            dnn_optimizer=dnn_optimizer,
            dnn_hidden_units=dnn_hidden_units,
            dnn_activation_fn=dnn_activation_fn,
            dnn_dropout=dnn_dropout,
            input_layer_partitioner=input_layer_partitioner,
            config=config,
            batch_norm=batch_norm,
            linear_sparse_combiner=linear_sparse_combiner,
            warm_start_from=warm_start_from,
        )
