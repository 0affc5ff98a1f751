"""Deep neural networks on feature columns (v1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_train.canned.parts.default_heads import classifier_head, regressor_head
from estimator_train.canned.parts.models import Deep
from estimator_train.canned.parts.optimizer_arguments import V1Choice
from estimator_train.canned.parts.specs import TrainedPart, v1_model_fn_of
from estimator_train.estimator import Estimator

LEARNING_RATE = 0.05
_SUM = tf.compat.v1.losses.Reduction.SUM


class DNNEstimator(Estimator):
    """A deep neural network on feature columns, with any head.

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
        head: Any,
        hidden_units: Sequence[int],
        feature_columns: Any,
        model_dir: Any = None,
        optimizer: Any = "Adagrad",
        activation_fn: Callable[[Any], Any] = tf.nn.relu,
        dropout: float | None = None,
        input_layer_partitioner: Any = None,
        config: Any = None,
        warm_start_from: Any = None,
        batch_norm: bool = False,
    ) -> None:
        part = Deep.of(feature_columns, hidden_units, activation_fn, dropout, batch_norm, v1=True)
        trained = [TrainedPart(part, V1Choice(optimizer, LEARNING_RATE))]
        model_fn = v1_model_fn_of(head, trained, input_layer_partitioner, whole_in_scope=True)
        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


class DNNClassifier(DNNEstimator):
    """A classifier with a deep neural network on feature columns.

    Arguments that are not listed, and errors, are those of `DNNEstimator` and
    `estimator_train.DNNClassifier`.

    Args:
      loss_reduction: A `tf.compat.v1.losses.Reduction` value other than NONE.
    """

    def __init__(
        self,
        hidden_units: Sequence[int],
        feature_columns: Any,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        optimizer: Any = "Adagrad",
        activation_fn: Callable[[Any], Any] = tf.nn.relu,
        dropout: float | None = None,
        input_layer_partitioner: Any = None,
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = _SUM,
        batch_norm: bool = False,
    ) -> None:
        super().__init__(
            classifier_head(n_classes, weight_column, label_vocabulary, loss_reduction, v1=True),
            hidden_units,
            feature_columns,
            model_dir,
            optimizer,
            activation_fn,
            dropout,
            input_layer_partitioner,
            config,
            warm_start_from,
            batch_norm,
        )


class DNNRegressor(DNNEstimator):
    """A regressor with a deep neural network on feature columns.

    Arguments that are not listed, and errors, are those of `DNNEstimator` and
    `estimator_train.DNNRegressor`.

    Args:
      loss_reduction: A `tf.compat.v1.losses.Reduction` value other than NONE.
    """

    def __init__(
        self,
        hidden_units: Sequence[int],
        feature_columns: Any,
        model_dir: Any = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        optimizer: Any = "Adagrad",
        activation_fn: Callable[[Any], Any] = tf.nn.relu,
        dropout: float | None = None,
        input_layer_partitioner: Any = None,
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = _SUM,
        batch_norm: bool = False,
    ) -> None:
        super().__init__(
            regressor_head(label_dimension, weight_column, loss_reduction, v1=True),
            hidden_units,
            feature_columns,
            model_dir,
            optimizer,
            activation_fn,
            dropout,
            input_layer_partitioner,
            config,
            warm_start_from,
            batch_norm,
        )
