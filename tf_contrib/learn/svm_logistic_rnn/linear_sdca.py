"""Linear models of `tf.contrib.learn` that dual coordinate ascent trains; support vectors."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

import estimator_train.compat.v1 as v1
from tf_contrib._types import Arrays, Column, Features
from tf_contrib.layers.columns import ONLY_FEATURE
from tf_contrib.layers.columns.weighted import (
    weighted_sum_from_feature_columns,
)
from tf_contrib.learn.estimators import Estimator
from tf_contrib.learn.heads import Head
from tf_contrib.learn.heads.classes import binary_svm_head
from tf_contrib.learn.model_fns import ModelFnOps
from tf_contrib.linear_optimizer import SDCAOptimizer

_v1 = tf.compat.v1


def build_sdca_model(
    columns: Sequence[Column],
    optimizer: SDCAOptimizer,
    head: Head,
    loss_type: str,
    weight_column_name: str | None,
    features: Mapping[str, Any],
    labels: Any,
    mode: str,
) -> ModelFnOps:
    """Builds a linear model.

    Args:
      columns: Feature columns.
      optimizer: Optimizer.
      head: Head with one logit.
      loss_type: Name of a loss of `tf.raw_ops.SdcaOptimizerV2`.
      weight_column_name: Name of the feature with the weights of examples, or None.
      features: Features by name.
      labels: Labels.
      mode: One of `ModeKeys`.
    """
    with _v1.variable_scope("linear") as scope:
        logits, weights, bias = weighted_sum_from_feature_columns(
            features, columns, 1, weight_collections=["linear"], scope=scope
        )
    weights = {column: parts[0] for column, parts in weights.items()}

    def train(loss: tf.Tensor) -> tf.Operation:
        del loss
        step = _v1.train.get_global_step()
        return optimizer.build_train_op(
            weights, bias, weight_column_name, loss_type, features, labels, step
        )

    return head.create_model_fn_ops(features, mode, labels, train, logits)


class SVM(Estimator):
    """Linear support vector machine for two classes.

    Args:
      example_id_column: Name of the feature with the ids of examples, strings.
      feature_columns: Feature columns.
      weight_column_name: Name of the feature with the weights of examples.
      model_dir: Directory of the model.
      l1_regularization: Factor of the sum of absolute weights.
      l2_regularization: Factor of the sum of squared weights; at least 1 is used.
      num_loss_partitions: Number of workers.
      kernels: Not supported, as in TensorFlow 1.15.
      config: Settings of the run.
      feature_engineering_fn: Function that converts features and labels.

    Raises:
      ValueError: There are kernels.
    """

    def __init__(
        self,
        example_id_column: str,
        feature_columns: Sequence[Column],
        weight_column_name: str | None = None,
        model_dir: str | None = None,
        l1_regularization: float = 0.0,
        l2_regularization: float = 0.0,
        num_loss_partitions: int = 1,
        kernels: Mapping[Column, Any] | None = None,
        config: v1.RunConfig | None = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
    ) -> None:
        if kernels is not None:
            raise ValueError("Kernel SVMs are not currently supported.")
        optimizer = SDCAOptimizer(
            example_id_column,
            num_loss_partitions=num_loss_partitions,
            symmetric_l1_regularization=l1_regularization,
            symmetric_l2_regularization=l2_regularization,
        )
        head = binary_svm_head(weight_column_name=weight_column_name)

        def model_fn(features: Features, labels: Any, mode: str) -> ModelFnOps:
            by_name = features if isinstance(features, Mapping) else {ONLY_FEATURE: features}
            arguments = (feature_columns, optimizer, head, "hinge_loss", weight_column_name)
            return build_sdca_model(*arguments, by_name, labels, mode)

        super().__init__(model_fn, model_dir, config, None, feature_engineering_fn)

    def predict_classes(
        self,
        x: Arrays | None = None,
        input_fn: Callable[[], Any] | None = None,
        batch_size: int | None = None,
        as_iterable: bool = True,
    ) -> Any:
        """Predicts the class of each example; arguments are those of `predict`."""
        found = (one["classes"] for one in self.predict(x, input_fn, batch_size, ["classes"]))
        return found if as_iterable else np.array(list(found))
