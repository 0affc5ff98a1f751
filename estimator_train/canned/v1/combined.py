"""Wide and deep models: a linear model and a deep neural network whose logits are added (v1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_train.canned.combined import LINEAR_LEARNING_RATE, check_columns
from estimator_train.canned.dnn import LEARNING_RATE
from estimator_train.canned.linear import learning_rate_of
from estimator_train.canned.parts.default_heads import classifier_head, regressor_head
from estimator_train.canned.parts.models import Deep, Linear
from estimator_train.canned.parts.optimizer_arguments import V1Choice
from estimator_train.canned.parts.specs import TrainedPart, v1_model_fn_of
from estimator_train.estimator import Estimator

_SUM = tf.compat.v1.losses.Reduction.SUM


class DNNLinearCombinedEstimator(Estimator):
    """A linear model and a deep neural network that are trained jointly, with any head.

    Arguments that are not listed, and errors, are those of
    `estimator_train.DNNLinearCombinedEstimator`, of which there is an example; the two models are
    those of `LinearEstimator` and `DNNEstimator`.

    Args:
      linear_optimizer: As for `LinearEstimator`; by name with the learning rate min(0.005,
        1 / sqrt(number of columns)).
      dnn_optimizer: As for `DNNEstimator`; by name with learning rate 0.001.
      input_layer_partitioner: As for `DNNEstimator`; partitions the linear model's weights as well.
    """

    def __init__(
        self,
        head: Any,
        model_dir: Any = None,
        linear_feature_columns: Any = None,
        linear_optimizer: Any = "Ftrl",
        dnn_feature_columns: Any = None,
        dnn_optimizer: Any = "Adagrad",
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Callable[[Any], Any] = tf.nn.relu,
        dnn_dropout: float | None = None,
        input_layer_partitioner: Any = None,
        config: Any = None,
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
        *,
        warm_start_from: Any = None,
    ) -> None:
        check_columns(linear_feature_columns, dnn_feature_columns, dnn_hidden_units)
        trained = []
        if dnn_feature_columns:
            deep = Deep.of(
                dnn_feature_columns,
                dnn_hidden_units,
                dnn_activation_fn,
                dnn_dropout,
                batch_norm,
                v1=True,
            )
            trained.append(TrainedPart(deep, V1Choice(dnn_optimizer, LEARNING_RATE)))
        if linear_feature_columns:
            linear = Linear.of(
                linear_feature_columns, linear_sparse_combiner, v1=True, shows_output=True
            )
            rate = learning_rate_of(linear.columns, LINEAR_LEARNING_RATE)
            trained.append(TrainedPart(linear, V1Choice(linear_optimizer, rate)))
        model_fn = v1_model_fn_of(head, trained, input_layer_partitioner)
        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


class DNNLinearCombinedClassifier(DNNLinearCombinedEstimator):
    """A wide and deep classifier.

    Arguments that are not listed, and errors, are those of `DNNLinearCombinedEstimator` and
    `estimator_train.DNNLinearCombinedClassifier`.

    Args:
      loss_reduction: A `tf.compat.v1.losses.Reduction` value other than NONE.
    """

    def __init__(
        self,
        model_dir: Any = None,
        linear_feature_columns: Any = None,
        linear_optimizer: Any = "Ftrl",
        dnn_feature_columns: Any = None,
        dnn_optimizer: Any = "Adagrad",
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Callable[[Any], Any] = tf.nn.relu,
        dnn_dropout: float | None = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        input_layer_partitioner: Any = None,
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = _SUM,
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
    ) -> None:
        super().__init__(
            classifier_head(n_classes, weight_column, label_vocabulary, loss_reduction, v1=True),
            model_dir,
            linear_feature_columns,
            linear_optimizer,
            dnn_feature_columns,
            dnn_optimizer,
            dnn_hidden_units,
            dnn_activation_fn,
            dnn_dropout,
            input_layer_partitioner,
            config,
            batch_norm,
            linear_sparse_combiner,
            warm_start_from=warm_start_from,
        )


class DNNLinearCombinedRegressor(DNNLinearCombinedEstimator):
    """A wide and deep regressor.

    Arguments that are not listed, and errors, are those of `DNNLinearCombinedEstimator` and
    `estimator_train.DNNLinearCombinedRegressor`.

    Args:
      loss_reduction: A `tf.compat.v1.losses.Reduction` value other than NONE.
    """

    def __init__(
        self,
        model_dir: Any = None,
        linear_feature_columns: Any = None,
        linear_optimizer: Any = "Ftrl",
        dnn_feature_columns: Any = None,
        dnn_optimizer: Any = "Adagrad",
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Callable[[Any], Any] = tf.nn.relu,
        dnn_dropout: float | None = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        input_layer_partitioner: Any = None,
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = _SUM,
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
    ) -> None:
        super().__init__(
            regressor_head(label_dimension, weight_column, loss_reduction, v1=True),
            model_dir,
            linear_feature_columns,
            linear_optimizer,
            dnn_feature_columns,
            dnn_optimizer,
            dnn_hidden_units,
            dnn_activation_fn,
            dnn_dropout,
            input_layer_partitioner,
            config,
            batch_norm,
            linear_sparse_combiner,
            warm_start_from=warm_start_from,
        )
