"""Stochastic dual coordinate ascent: an optimizer of linear models without a learning rate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import tensorflow as tf

from estimator_train.canned.arguments import FeatureColumn
from estimator_train.canned.column_kinds import has_v1_columns
from estimator_train.canned.columns import Batch
from estimator_train.canned.models import LinearModel
from estimator_train.canned.sdca_steps import Settings, build_train_op
from estimator_train.heads import BinaryClassHead, Head, MultiClassHead, RegressionHead
from estimator_train.heads.keys import Labels
from estimator_train.heads.losses import WeightedHead, validate_labels_and_weights

_v1 = tf.compat.v1
_LOG = tf.get_logger()
_LOW_L2 = 1.0


class LinearSDCA:
    """Stochastic dual coordinate ascent, as the optimizer of linear estimators.

    It minimizes the losses of all examples so far, plus l2 / 2 * |weights|^2 + l1 * |weights|. A
    table has four numbers for each example, by the id of the example.

        sdca = LinearSDCA("example_id", symmetric_l2_regularization=2.0)
        estimator = LinearClassifier([age, job], optimizer=sdca)

    The model has two classes, or labels of one number, and `sparse_combiner` is "sum". Every
    regression head trains with the squared loss.

    Args:
      example_id_column: Name of the feature with the ids of examples, strings of shape [batch].
      num_loss_partitions: Number of workers.
      num_table_shards: Number of tables; 1 by default.
      symmetric_l1_regularization: l1, 0 or more.
      symmetric_l2_regularization: l2, above 0; should be 1 or more.
      adaptive: Whether to visit examples with a larger gain more often.

    Raises:
      ValueError: A number is out of range.
    """

    def __init__(
        self,
        example_id_column: str,
        num_loss_partitions: int = 1,
        num_table_shards: int | None = None,
        symmetric_l1_regularization: float = 0.0,
        symmetric_l2_regularization: float = 1.0,
        adaptive: bool = False,
    ) -> None:
        l1, l2 = symmetric_l1_regularization, symmetric_l2_regularization
        shards = 1 if num_table_shards is None else num_table_shards
        for name, value, holds, rule in (
            ("symmetric_l1_regularization", l1, l1 >= 0, "non-negative"),
            ("symmetric_l2_regularization", l2, l2 > 0, "positive"),
            ("num_loss_partitions", num_loss_partitions, num_loss_partitions >= 1, "positive"),
            ("num_table_shards", shards, shards >= 1, "positive"),
        ):
            if not holds:
                raise ValueError(f"{name} should be {rule}. Given: {value}")
        self._settings = Settings(
            example_id_column, num_loss_partitions, shards, float(l1), float(l2), adaptive
        )

    def check(self, head: Head, columns: Sequence[FeatureColumn], sparse_combiner: str) -> None:
        """Checks that LinearSDCA supports a head and feature columns.

        Args:
          head: The head of the estimator.
          columns: The feature columns of the estimator.
          sparse_combiner: How several values of a categorical column are combined.

        Raises:
          ValueError: The head, a column or the combiner is not supported.
        """
        if has_v1_columns(columns):
            raise ValueError("V2 feature columns required when optimizer is a LinearSDCA object.")
        if sparse_combiner != "sum":
            raise ValueError('sparse_combiner must be "sum" when optimizer is a LinearSDCA object.')
        if isinstance(head, MultiClassHead):
            raise ValueError("LinearSDCA cannot be used in a multi-class setting.")
        if not isinstance(head, (BinaryClassHead, RegressionHead)):
            raise ValueError(
                f"Unsupported head type: {head}. LinearSDCA trains models of BinaryClassHead and "
                "RegressionHead."
            )
        if head.logits_dimension != 1:
            raise ValueError("LinearSDCA can only be used with one-dimensional label.")

    def train_op(
        self, head: Head, model: LinearModel, features: Mapping[str, Any], labels: Labels
    ) -> tf.Operation:
        """Returns the operation of a training step, which increments the global step.

        Args:
          head: A head that passed `check`.
          model: The model of the batch.
          features: The features of the batch.
          labels: The labels of the batch.

        Raises:
          KeyError: The feature with the ids of examples is missing.
          ValueError: There are several replicas.
        """
        labels, weights = validate_labels_and_weights(
            cast(WeightedHead, head), labels, model.logits, features
        )
        loss_type = "logistic_loss" if isinstance(head, BinaryClassHead) else "squared_loss"
        step = _v1.train.get_or_create_global_step()
        return self._build_train_op(model, features, labels, weights, loss_type, step)

    def get_train_step(
        self,
        state_manager: Any,
        weight_column_name: str | None,
        loss_type: str,
        feature_columns: Sequence[FeatureColumn],
        features: Mapping[str, Any],
        targets: tf.Tensor,
        bias_var: Any,
        global_step: tf.Variable,
    ) -> tf.Operation:
        """Returns the operation of a training step of the caller's linear model.

        Args:
          state_manager: Its `get_variable(column, "weights")` returns the weights of a column,
            float32 of shape [buckets or size, 1].
          weight_column_name: Name of the feature with the weights of examples, or None.
          loss_type: "logistic_loss" (of labels 0 and 1), "squared_loss", "poisson_loss",
            "hinge_loss" or "smooth_hinge_loss".
          feature_columns: Columns of `tf.feature_column` that have no variables.
          features: Feature name to tensor.
          targets: Labels of shape [batch] or [batch, 1].
          bias_var: Variable of shape [1].
          global_step: Variable to increment.

        Raises:
          KeyError: The feature with the ids of examples is missing.
          ValueError: There are several replicas.
        """
        batch = Batch(features)
        inputs = [batch.compute_linear_input(column) for column in feature_columns]
        variables = [state_manager.get_variable(column, "weights") for column in feature_columns]
        model = LinearModel(targets, variables, inputs, bias_var)
        weights = None if weight_column_name is None else features[weight_column_name]
        return self._build_train_op(model, features, targets, weights, loss_type, global_step)

    def _build_train_op(
        self,
        model: LinearModel,
        features: Mapping[str, Any],
        labels: tf.Tensor,
        weights: tf.Tensor | None,
        loss_type: str,
        step: tf.Variable,
    ) -> tf.Operation:
        if self._settings.l2 <= _LOW_L2:
            _LOG.warning(
                "symmetric_l2_regularization for SDCA should typically be larger than for online "
                "optimization methods. Recommended value is of the order of the average L2 norm of "
                "the training examples."
            )
        scope = _v1.get_variable_scope().name
        return build_train_op(
            self._settings, model, features, labels, weights, loss_type, step, scope
        )
