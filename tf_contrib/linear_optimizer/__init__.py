"""Stand-in for `tf.contrib.linear_optimizer`: dual coordinate ascent of linear estimators."""

from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from estimator_train.extension import (
    ColumnBatch,
    ColumnIds,
    LinearModel,
    SDCASettings,
    build_sdca_train_op,
)
from tf_contrib._types import Column, TensorLike

__all__ = ["SDCAOptimizer"]

# TensorFlow 1 used at least this l2 regularization.
_MIN_L2 = 1.0


class SDCAOptimizer:
    """Stochastic dual coordinate ascent, as the optimizer of linear estimators of `contrib.learn`.

    Args:
      example_id_column: Name of the feature with the ids of examples, strings.
      num_loss_partitions: Number of workers.
      num_table_shards: Number of tables of the state of examples; None: 1.
      symmetric_l1_regularization: Factor of the sum of absolute weights.
      symmetric_l2_regularization: Factor of the sum of squared weights; at least 1 is used.
      adaptive: Whether to visit examples with a larger gain more often.
      partitioner: Unused: the weights have the partitions of the model.
    """

    def __init__(
        self,
        example_id_column: str,
        num_loss_partitions: int = 1,
        num_table_shards: int | None = None,
        symmetric_l1_regularization: float = 0.0,
        symmetric_l2_regularization: float = 1.0,
        adaptive: bool = True,
        partitioner: Callable[..., Any] | None = None,
    ) -> None:
        self.example_id_column = example_id_column
        self.num_loss_partitions = num_loss_partitions
        self.num_table_shards = num_table_shards
        self.symmetric_l1_regularization = symmetric_l1_regularization
        self.symmetric_l2_regularization = symmetric_l2_regularization
        self.adaptive, self.partitioner = adaptive, partitioner

    def get_name(self) -> str:
        """Returns the name of the optimizer."""
        return "SDCAOptimizer"

    def build_train_op(
        self,
        weights: Mapping[Column, Any],
        bias: tf.Variable,
        weight_column_name: str | None,
        loss_type: str,
        features: Mapping[str, Any],
        labels: TensorLike,
        step: tf.Variable,
    ) -> tf.Operation:
        """Returns the operation of a training step of a linear model.

        Args:
          weights: Weights of each column, of shape [buckets or size, 1].
          bias: Bias, of shape [1].
          weight_column_name: Name of the feature with the weights of examples, or None.
          loss_type: Name of a loss of `tf.raw_ops.SdcaOptimizerV2`.
          features: Features by name.
          labels: Labels of shape [batch] or [batch, 1].
          step: Variable to increment.

        Raises:
          ValueError: A setting is out of range.
          KeyError: The feature with the ids of examples is missing.
        """
        l1, l2 = self.symmetric_l1_regularization, self.symmetric_l2_regularization
        for name, value in (("l1", l1), ("l2", l2)):
            if value < 0:
                raise ValueError(
                    f"symmetric_{name}_regularization should be non-negative. Found ({value:f})"
                )
        settings = SDCASettings(
            self.example_id_column,
            self.num_loss_partitions,
            self.num_table_shards or 1,
            l1,
            max(l2, _MIN_L2),
            self.adaptive,
        )
        batch = ColumnBatch(features)
        inputs = [_join_equal_ids(batch.compute_linear_input(column)) for column in weights]
        model = LinearModel(labels, list(weights.values()), inputs, bias)
        examples = None if weight_column_name is None else features[weight_column_name]
        # Under the names of the variables in checkpoints of TensorFlow 1.
        scope, suffix = tf.get_current_name_scope(), "_unshrinked/SDCAOptimizer"
        return build_sdca_train_op(
            settings, model, features, labels, examples, loss_type, step, scope, suffix
        )


def _join_equal_ids(found: Any) -> Any:
    """Joins equal ids of an example, whose values are added; today's operation refuses them."""
    if not isinstance(found, ColumnIds):
        return found
    pairs = tf.stack([found.rows, found.values], 1)
    unique, positions = tf.raw_ops.UniqueV2(x=pairs, axis=[0])
    values = tf.ones_like(found.rows, tf.float32) if found.weights is None else found.weights
    count = tf.shape(unique)[0]
    weights = tf.math.unsorted_segment_sum(values, positions, count)
    return ColumnIds(unique[:, 1], unique[:, 0], tf.range(count), found.batch, weights)
