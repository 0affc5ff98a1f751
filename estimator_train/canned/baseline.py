"""Baselines: models that learn the labels' distribution and ignore the features (v2)."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import tensorflow as tf
import tf_keras

from estimator_train.canned.parts.columns import Batch
from estimator_train.canned.parts.default_heads import classifier_head, regressor_head
from estimator_train.canned.parts.models import Logits
from estimator_train.canned.parts.optimizer_arguments import KerasChoice
from estimator_train.canned.parts.specs import TrainedPart, model_fn_of
from estimator_train.estimator import EstimatorV2

LEARNING_RATE = 0.3
_MEAN = tf_keras.losses.Reduction.SUM_OVER_BATCH_SIZE


@dataclasses.dataclass(frozen=True)
class Bias:
    """The same logits for every example."""

    scope = "baseline"

    def logits(self, batch: Batch, units: int, training: bool) -> Logits:
        """Makes logits in the current scope.

        Raises:
          ValueError: There is no feature, so that the number of examples is not known.
        """
        del training
        if not batch.features:
            raise ValueError(
                "A baseline needs at least one feature, which tells the size of the batch. Given "
                "no features."
            )
        bias = tf.compat.v1.get_variable(
            "bias", [units], initializer=tf.compat.v1.zeros_initializer()
        )
        feature = next(iter(batch.features.values()))
        sparse = isinstance(feature, tf.SparseTensor)
        size = feature.dense_shape[0] if sparse else tf.shape(feature, tf.int64)[0]
        return Logits(tf.ones([size, units]) * bias, [])


class BaselineEstimator(EstimatorV2):
    """A model that ignores the features, with any head: what every other model must beat.

    Args:
      head: What turns logits into loss, metrics and predictions.
      model_dir: As for `Estimator`.
      optimizer: A tf_keras optimizer, new or legacy, a function without arguments that makes
        one, or one of "Adagrad", "Adam", "Ftrl", "RMSProp", "SGD" with learning rate 0.3.
      config: As for `Estimator`.

    Raises:
      ValueError: The optimizer is of another kind.
    """

    def __init__(
        self, head: Any, model_dir: Any = None, optimizer: Any = "Ftrl", config: Any = None
    ) -> None:
        trained = TrainedPart(Bias(), KerasChoice(optimizer, LEARNING_RATE))
        super().__init__(model_fn_of(head, [trained]), model_dir, config)


class BaselineClassifier(BaselineEstimator):
    """A classifier that predicts each class as often as it is among the labels.

    Arguments that are not listed, and errors, are those of `BaselineEstimator` and the heads.

    Args:
      n_classes: How many classes; labels are below it.
      weight_column: Name of the feature with the weights of examples, or a numeric column.
      label_vocabulary: Names of the classes where labels are strings.
      loss_reduction: A `tf_keras.losses.Reduction` value other than NONE.
    """

    def __init__(
        self,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        loss_reduction: str = _MEAN,
    ) -> None:
        head = classifier_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        super().__init__(head, model_dir, optimizer, config)


class BaselineRegressor(BaselineEstimator):
    """A regressor that predicts the mean of the labels.

    Arguments that are not listed, and errors, are those of `BaselineEstimator` and the heads.

    Args:
      label_dimension: Numbers in a label.
      weight_column: Name of the feature with the weights of examples, or a numeric column.
      loss_reduction: A `tf_keras.losses.Reduction` value other than NONE.
    """

    def __init__(
        self,
        model_dir: Any = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        loss_reduction: str = _MEAN,
    ) -> None:
        head = regressor_head(label_dimension, weight_column, loss_reduction)
        super().__init__(head, model_dir, optimizer, config)
