"""Baselines: models that learn the labels' distribution and ignore the features (v2)."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import tensorflow as tf
import tf_keras

from estimator_train.canned.parts.argument_types import Config, ModelDir, OptimizerArgument
from estimator_train.canned.parts.columns import Batch
from estimator_train.canned.parts.default_heads import make_classifier_head, make_regressor_head
from estimator_train.canned.parts.models import Logits
from estimator_train.canned.parts.optimizer_arguments import KerasChoice
from estimator_train.canned.parts.specs import TrainedPart, make_model_fn
from estimator_train.estimator import EstimatorV2
from estimator_train.heads import Head
from estimator_train.heads.types import WeightColumn

LEARNING_RATE = 0.3
_MEAN = tf_keras.losses.Reduction.SUM_OVER_BATCH_SIZE


@dataclasses.dataclass(frozen=True)
class Bias:
    """Model part with the same logits for every example."""

    scope = "baseline"

    def logits(self, batch: Batch, units: int, training: bool) -> Logits:
        """Makes logits in the current scope.

        Raises:
          ValueError: There is no feature, so that the number of examples is not known.
        """
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
        return Logits(tf.multiply(tf.ones([size, units]), bias), [])


class BaselineEstimator(EstimatorV2):
    """Model that ignores the features, with any head: the score that a useful model exceeds.

    Args:
      head: Computes loss, metrics and predictions from logits.
      model_dir: See `Estimator`.
      optimizer: A tf_keras optimizer, new or legacy, a function without arguments that makes
        one, or one of "Adagrad", "Adam", "Ftrl", "RMSProp", "SGD" with learning rate 0.3.
      config: See `Estimator`.

    Raises:
      ValueError: The optimizer is of another kind.
    """

    def __init__(
        self,
        head: Head,
        model_dir: ModelDir = None,
        optimizer: OptimizerArgument = "Ftrl",
        config: Config = None,
    ) -> None:
        trained = TrainedPart(Bias(), KerasChoice(optimizer, LEARNING_RATE))
        super().__init__(make_model_fn(head, [trained]), model_dir, config)


class BaselineClassifier(BaselineEstimator):
    """Classifier that predicts the frequencies of classes among the labels.

    Arguments that are not listed, and errors, are those of `BaselineEstimator` and the heads.

    Args:
      n_classes: Number of classes; labels are smaller.
      weight_column: Name of the feature with the weights of examples, or a numeric column.
      label_vocabulary: Names of the classes if labels are strings.
      loss_reduction: A `tf_keras.losses.Reduction` value other than NONE.
    """

    def __init__(
        self,
        model_dir: ModelDir = None,
        n_classes: int = 2,
        weight_column: WeightColumn = None,
        label_vocabulary: Sequence[str] | None = None,
        optimizer: OptimizerArgument = "Ftrl",
        config: Config = None,
        loss_reduction: str = _MEAN,
    ) -> None:
        head = make_classifier_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        super().__init__(head, model_dir, optimizer, config)


class BaselineRegressor(BaselineEstimator):
    """Regressor that predicts the mean of the labels.

    Arguments that are not listed, and errors, are those of `BaselineEstimator` and the heads.

    Args:
      label_dimension: Numbers in a label.
      weight_column: Name of the feature with the weights of examples, or a numeric column.
      loss_reduction: A `tf_keras.losses.Reduction` value other than NONE.
    """

    def __init__(
        self,
        model_dir: ModelDir = None,
        label_dimension: int = 1,
        weight_column: WeightColumn = None,
        optimizer: OptimizerArgument = "Ftrl",
        config: Config = None,
        loss_reduction: str = _MEAN,
    ) -> None:
        head = make_regressor_head(label_dimension, weight_column, loss_reduction)
        super().__init__(head, model_dir, optimizer, config)
