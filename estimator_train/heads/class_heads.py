"""BinaryClassHead and MultiClassHead: one of two classes, or of three and more."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

import tensorflow as tf
import tf_keras

from estimator_train.engine.tf_internals.modes import enter_eager_mode
from estimator_train.estimator_spec.export_outputs import ExportOutput, RegressionOutput
from estimator_train.heads import checks
from estimator_train.heads.base import Metrics
from estimator_train.heads.classification import (
    Classes,
    create_threshold_metrics,
    select_predictions,
    validate_thresholds,
    validate_vocabulary,
)
from estimator_train.heads.keys import (
    Labels,
    LossFn,
    MetricKeys,
    PredictionKeys,
    TensorLike,
    WeightColumn,
)
from estimator_train.heads.losses import Batch, WeightedHead, collect_loss


class MultiClassHead(WeightedHead):
    """Softmax classification of each example into one of more than two classes.

    Labels are of shape [D0, D1, ... DN, 1] or [D0, D1, ... DN]: integers in [0, n_classes), or
    strings if there is a vocabulary.

    Args:
      n_classes: Number of classes, more than 2 (`BinaryClassHead` is for two); may be a scalar
        tensor of integers.
      weight_column: Name of the feature with weights of shape [D0, D1, ... DN] or
        [D0, D1, ... DN, 1], its numeric column, or None.
      label_vocabulary: List or tuple of n_classes class names, or None.
      loss_reduction: A `tf_keras.losses.Reduction` value other than NONE; by default the sum
        of weighted losses divided by their number.
      loss_fn: Function of `labels`, `logits` and maybe `features` and `loss_reduction` that
        returns losses of shape [D0, D1, ... DN, 1] instead of the softmax cross entropy.
      name: Part of the names of metrics, summaries and operations; or None.

    Raises:
      ValueError: n_classes is too small, the vocabulary is of another length, or
        loss_reduction or loss_fn is not as above.
      InvalidArgumentError: n_classes is a tensor that is known to be too small.
      TypeError: n_classes or weight_column is of another type.
    """

    _mismatch = (
        "`labels.shape` must equal `logits.shape` except for the last dimension. Received: "
        "labels.shape={examples} and logits.shape={logits}"
    )

    def __init__(
        self,
        n_classes: int | tf.Tensor,
        weight_column: WeightColumn = None,
        label_vocabulary: Sequence[str] | None = None,
        loss_reduction: str = tf_keras.losses.Reduction.SUM_OVER_BATCH_SIZE,
        loss_fn: LossFn | None = None,
        name: str | None = None,
    ):
        _check_count(n_classes)
        vocabulary = validate_vocabulary(label_vocabulary)
        # None for a tensor whose value only the running graph knows.
        count = tf.get_static_value(n_classes) if tf.is_tensor(n_classes) else n_classes
        if vocabulary is not None and len(vocabulary) != count:
            raise ValueError(
                '"label_vocabulary" does not have "n_classes" items. '
                f"len(label_vocabulary)={len(vocabulary)}, n_classes={n_classes}, "
                f"label_vocabulary={vocabulary}"
            )
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        self._classes = Classes(n_classes, vocabulary)

    @property
    def logits_dimension(self) -> int | tf.Tensor:
        """The number of classes, as it was given."""
        return self._classes.count

    def predictions(
        self, logits: TensorLike, keys: Sequence[str] | None = None
    ) -> dict[str, tf.Tensor]:
        """Returns predictions of a batch.

        Args:
          logits: Float tensor of shape [D0, D1, ... DN, n_classes].
          keys: Some of LOGITS, PROBABILITIES, CLASS_IDS, CLASSES, ALL_CLASS_IDS and
            ALL_CLASSES; by default all.

        Raises:
          ValueError: A key is another one, or logits are of another shape.
        """
        with tf.name_scope("predictions"):
            logits = checks.validate_logits(logits, self.logits_dimension)
            make = {PredictionKeys.LOGITS: lambda: logits, **self._classes.predictions(logits)}
            return select_predictions(make, keys)

    def _process_labels(self, labels: Labels, logits: tf.Tensor) -> tf.Tensor:
        labels = checks.validate_dense_labels(labels, logits, 1, self._mismatch)
        named = self._classes.vocabulary is not None
        if named and labels.dtype != tf.string:
            raise ValueError(
                "Labels dtype should be string if there is a vocabulary. "
                f"Instead got {labels.dtype}"
            )
        if not named and not labels.dtype.is_integer:
            raise ValueError(f"Labels dtype should be integer. Instead got {labels.dtype}.")
        ids = self._classes.look_up_ids(labels)
        if ids.dtype not in (tf.int32, tf.int64):
            ids = tf.cast(ids, tf.int64)
        names = labels if named else None
        return checks.check_class_range(ids, self._classes.count, self._range_verb, names)

    def _compute_losses(self, labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=tf.squeeze(labels, axis=-1), logits=logits
        )
        return tf.expand_dims(collect_loss(losses), axis=-1)

    def _create_task_metrics(self) -> Metrics:
        return {MetricKeys.ACCURACY: tf_keras.metrics.Accuracy(MetricKeys.ACCURACY)}

    def _update_task_metrics(self, metrics: Metrics, batch: Batch) -> None:
        [class_ids] = self._predict(batch, PredictionKeys.CLASS_IDS)
        accuracy = metrics[MetricKeys.ACCURACY]
        accuracy.update_state(batch.labels, class_ids, sample_weight=batch.weights)

    def _export_outputs(self, predictions: dict[str, tf.Tensor]) -> dict[str, ExportOutput]:
        return self._classes.make_outputs(predictions)


def _check_count(n_classes: Any) -> None:
    if n_classes is None:
        raise ValueError("n_classes cannot be None")
    if tf.is_tensor(n_classes) and n_classes.dtype.is_integer:
        if n_classes.shape.rank != 0:
            raise ValueError(f"Shape must be rank 0 but is rank {n_classes.shape.rank}: n_classes.")
        two = tf.constant(2, n_classes.dtype)
        tf.debugging.assert_greater(n_classes, two, "n_classes must be greater than 2")
        return
    if not isinstance(n_classes, numbers.Integral):
        raise TypeError(f"n_classes must be an integer > 2: {n_classes!r}.")
    if n_classes <= 2:
        raise ValueError(f"n_classes must be > 2: {n_classes}.")


class BinaryClassHead(WeightedHead):
    """Classification into two classes by one logit, the log-odds of class 1.

    Labels are of shape [D0, D1, ... DN, 1] or [D0, D1, ... DN]: numbers in [0, 1], also floats
    between 0 and 1, or strings if there is a vocabulary.

    Args:
      weight_column: Name of the feature with weights of shape [D0, D1, ... DN] or
        [D0, D1, ... DN, 1], its numeric column, or None.
      thresholds: Numbers between 0 and 1 at which accuracy, precision and recall are also
        measured, or None.
      label_vocabulary: List or tuple of the two class names, or None.
      loss_reduction: A `tf_keras.losses.Reduction` value other than NONE; by default the sum
        of weighted losses divided by their number.
      loss_fn: Function of `labels`, `logits` and maybe `features` and `loss_reduction` that
        returns losses of shape [D0, D1, ... DN, 1] instead of the sigmoid cross entropy.
      name: Part of the names of metrics, summaries and operations; or None.

    Raises:
      ValueError: A threshold, label_vocabulary, loss_reduction or loss_fn is not as above.
      TypeError: weight_column or thresholds are of another type.
    """

    def __init__(
        self,
        weight_column: WeightColumn = None,
        thresholds: Sequence[float] | None = None,
        label_vocabulary: Sequence[str] | None = None,
        loss_reduction: str = tf_keras.losses.Reduction.SUM_OVER_BATCH_SIZE,
        loss_fn: LossFn | None = None,
        name: str | None = None,
    ):
        self._thresholds = validate_thresholds(thresholds, "thresholds not in (0, 1): ({all},).")
        self._classes = Classes(2, validate_vocabulary(label_vocabulary))
        super().__init__(weight_column, loss_reduction, loss_fn, name)

    @property
    def logits_dimension(self) -> int:
        """One."""
        return 1

    def predictions(
        self, logits: TensorLike, keys: Sequence[str] | None = None
    ) -> dict[str, tf.Tensor]:
        """Returns predictions of a batch.

        Args:
          logits: Float tensor of shape [D0, D1, ... DN, 1].
          keys: Some of LOGITS, LOGISTIC, PROBABILITIES, CLASS_IDS, CLASSES, ALL_CLASS_IDS and
            ALL_CLASSES; by default all.

        Raises:
          ValueError: A key is another one, or logits are of another shape.
        """
        with tf.name_scope("predictions"):
            logits = checks.validate_logits(logits, self.logits_dimension)
            both = tf.concat((tf.zeros_like(logits), logits), axis=-1, name="two_class_logits")
            make = {
                PredictionKeys.LOGITS: lambda: logits,
                PredictionKeys.LOGISTIC: lambda: tf.sigmoid(logits, name="logistic"),
                **self._classes.predictions(both),
            }
            return select_predictions(make, keys)

    def _process_labels(self, labels: Labels, logits: tf.Tensor) -> tf.Tensor:
        labels = checks.validate_dense_labels(labels, logits, 1, self._mismatch)
        if labels.dtype == tf.string and self._classes.vocabulary is None:
            raise ValueError(
                f"Labels dtype should be integer. Instead got {labels.dtype}. For labels that are "
                "names, give a label_vocabulary."
            )
        ids = tf.cast(self._classes.look_up_ids(labels), tf.float32)
        names = None if self._classes.vocabulary is None else labels
        return checks.check_class_range(ids, self._classes.count, self._range_verb, names)

    def _compute_losses(self, labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
        return tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)

    def _create_task_metrics(self) -> Metrics:
        keys = MetricKeys
        return {
            keys.ACCURACY: tf_keras.metrics.Accuracy(keys.ACCURACY),
            keys.PRECISION: tf_keras.metrics.Precision(name=keys.PRECISION),
            keys.RECALL: tf_keras.metrics.Recall(name=keys.RECALL),
            keys.PREDICTION_MEAN: tf_keras.metrics.Mean(keys.PREDICTION_MEAN),
            keys.LABEL_MEAN: tf_keras.metrics.Mean(keys.LABEL_MEAN),
            keys.ACCURACY_BASELINE: AccuracyBaseline(keys.ACCURACY_BASELINE),
            keys.AUC: tf_keras.metrics.AUC(name=keys.AUC),
            keys.AUC_PR: tf_keras.metrics.AUC(curve="PR", name=keys.AUC_PR),
            **create_threshold_metrics(self._thresholds),
        }

    def _update_task_metrics(self, metrics: Metrics, batch: Batch) -> None:
        keys = (PredictionKeys.LOGISTIC, PredictionKeys.CLASS_IDS)
        logistic, class_ids = self._predict(batch, *keys)
        for key, metric in metrics.items():
            values: tuple[tf.Tensor, ...] = (batch.labels, logistic)
            if key in (MetricKeys.LABEL_MEAN, MetricKeys.ACCURACY_BASELINE):
                values = (batch.labels,)
            elif key == MetricKeys.PREDICTION_MEAN:
                values = (logistic,)
            elif key in (MetricKeys.ACCURACY, MetricKeys.PRECISION, MetricKeys.RECALL):
                values = (batch.labels, class_ids)
            metric.update_state(*values, sample_weight=batch.weights)

    def _export_outputs(self, predictions: dict[str, tf.Tensor]) -> dict[str, ExportOutput]:
        regression = RegressionOutput(predictions[PredictionKeys.LOGISTIC])
        return self._classes.make_outputs(predictions, regression)


class AccuracyBaseline(tf_keras.metrics.Mean):
    """Metric: accuracy of always predicting the more frequent class, from labels in [0, 1]."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """Creates the metric without wrapping its update in a tf.function."""
        # A tf.function cannot change variables of CentralStorageStrategy.
        with enter_eager_mode():
            return super().__new__(cls)

    def result(self) -> tf.Tensor:
        """Returns the share of the commoner class."""
        share = super().result()
        return tf.maximum(share, 1.0 - share)
