"""RegressionHead, and its forms for counts and for probabilities."""

from __future__ import annotations

from collections.abc import Callable

import tensorflow as tf
import tf_keras

from estimator_train.engine.job import convert_on_replica
from estimator_train.estimator_spec.export_outputs import (
    ExportOutput,
    PredictOutput,
    RegressionOutput,
)
from estimator_train.heads import checks
from estimator_train.heads.base import PREDICT_SIGNATURE, Metrics
from estimator_train.heads.classification import DEFAULT_SIGNATURE, REGRESS_SIGNATURE
from estimator_train.heads.keys import (
    Labels,
    LossFn,
    MetricKeys,
    PredictionKeys,
    TensorLike,
    WeightColumn,
)
from estimator_train.heads.losses import Batch, WeightedHead, collect_loss

_MEAN_OF_LOSSES = tf_keras.losses.Reduction.SUM_OVER_BATCH_SIZE


class RegressionHead(WeightedHead):
    """Regression of one or several numbers by squared error.

    Labels are of shape [D0, D1, ... DN, label_dimension], or without the last dimension where
    label_dimension is 1.

    Args:
      label_dimension: Number of values of an example.
      weight_column: Name of the feature with weights of shape [D0, D1, ... DN],
        [D0, D1, ... DN, 1] or that of the labels, its numeric column, or None.
      loss_reduction: A `tf_keras.losses.Reduction` value other than NONE; by default the sum
        of weighted losses divided by their number.
      loss_fn: Function of `labels`, `logits` and maybe `features` and `loss_reduction` that
        returns losses of the labels' shape instead of the squared error.
      inverse_link_fn: Function that makes predictions of logits; by default they are the same.
      name: Part of the names of metrics, summaries and operations; or None.

    Raises:
      ValueError: label_dimension is less than 1, or loss_reduction or loss_fn is not as above.
      TypeError: weight_column is of another type.
    """

    _mismatch = "Shapes {logits} and {labels} are incompatible"

    def __init__(
        self,
        label_dimension: int = 1,
        weight_column: WeightColumn = None,
        loss_reduction: str = _MEAN_OF_LOSSES,
        loss_fn: LossFn | None = None,
        inverse_link_fn: Callable[[tf.Tensor], tf.Tensor] | None = None,
        name: str | None = None,
    ):
        if label_dimension < 1:
            raise ValueError(f"Invalid label_dimension {label_dimension}.")
        self._label_dimension = label_dimension
        self._inverse_link_fn = inverse_link_fn
        super().__init__(weight_column, loss_reduction, loss_fn, name)

    @property
    def logits_dimension(self) -> int:
        """Number of values of an example."""
        return self._label_dimension

    @property
    def _loss_dimension(self) -> int:
        return self._label_dimension

    def predictions(self, logits: TensorLike) -> dict[str, tf.Tensor]:  # type: ignore[override]
        """Returns PREDICTIONS and, if there is an inverse_link_fn, LOGITS.

        Args:
          logits: Float tensor of shape [D0, D1, ... DN, label_dimension].

        Raises:
          ValueError: logits are of another shape.
        """
        logits = checks.validate_logits(logits, self._label_dimension)
        with tf.name_scope("predictions"):
            if self._inverse_link_fn is None:
                return {PredictionKeys.PREDICTIONS: logits}
            return {
                PredictionKeys.PREDICTIONS: convert_on_replica(self._inverse_link_fn)(logits),
                PredictionKeys.LOGITS: logits,
            }

    def _process_labels(self, labels: Labels, logits: tf.Tensor) -> tf.Tensor:
        labels = checks.validate_dense_labels(labels, logits, self._label_dimension, self._mismatch)
        return tf.cast(labels, tf.float32)

    def _compute_losses(self, labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
        return collect_loss(tf.math.squared_difference(labels, logits))

    def _create_task_metrics(self) -> Metrics:
        keys = (MetricKeys.PREDICTION_MEAN, MetricKeys.LABEL_MEAN)
        return {key: tf_keras.metrics.Mean(key) for key in keys}

    def _update_task_metrics(self, metrics: Metrics, batch: Batch) -> None:
        predictions = convert_on_replica(self.predictions)(batch.logits)[PredictionKeys.PREDICTIONS]
        metrics[MetricKeys.PREDICTION_MEAN].update_state(predictions, sample_weight=batch.weights)
        metrics[MetricKeys.LABEL_MEAN].update_state(batch.labels, sample_weight=batch.weights)

    def _export_outputs(self, predictions: dict[str, tf.Tensor]) -> dict[str, ExportOutput]:
        regression = RegressionOutput(predictions[PredictionKeys.PREDICTIONS])
        return {
            DEFAULT_SIGNATURE: regression,
            REGRESS_SIGNATURE: regression,
            PREDICT_SIGNATURE: PredictOutput(predictions),
        }


class PoissonRegressionHead(RegressionHead):
    """Regression of counts: the logits are logarithms of the means of Poisson distributions.

    Arguments that are not listed, and errors, are those of `RegressionHead`.

    Args:
      label_dimension: Number of counts of an example.
      compute_full_loss: Whether the loss has Stirling's approximation of the term that
        depends on the labels alone.
    """

    _mismatch = (
        "`log_input` and `targets` must have the same shape, received ({logits} vs {labels})."
    )

    def __init__(
        self,
        label_dimension: int = 1,
        weight_column: WeightColumn = None,
        loss_reduction: str = _MEAN_OF_LOSSES,
        compute_full_loss: bool = True,
        name: str | None = None,
    ):
        self._compute_full_loss = compute_full_loss
        super().__init__(
            label_dimension, weight_column, loss_reduction, inverse_link_fn=tf.exp, name=name
        )

    def _compute_losses(self, labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
        return tf.nn.log_poisson_loss(
            targets=labels, log_input=logits, compute_full_loss=self._compute_full_loss
        )


class LogisticRegressionHead(RegressionHead):
    """Regression of a probability: labels in [0, 1], cross entropy as loss.

    Unlike `BinaryClassHead` it predicts no classes. Arguments and errors are those of
    `RegressionHead`.
    """

    _mismatch = WeightedHead._mismatch

    def __init__(
        self,
        weight_column: WeightColumn = None,
        loss_reduction: str = _MEAN_OF_LOSSES,
        name: str | None = None,
    ):
        super().__init__(1, weight_column, loss_reduction, inverse_link_fn=tf.sigmoid, name=name)

    def _compute_losses(self, labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
        text = "Labels must be in range [0, 1]"
        labels = checks.check_range(labels, 1.0, below=text, above=text)
        return tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
