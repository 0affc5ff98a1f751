"""MultiLabelHead: classification into any number of classes."""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf
import tf_keras

from estimator_train.estimator_spec.export_outputs import ExportOutput
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


class MultiLabelHead(WeightedHead):
    """Classification where an example may be in none, one or several of the classes.

    Labels are indicators, a tensor of shape [D0, D1, ... DN, n_classes] of 0 and 1, or a
    SparseTensor of shape [D0, D1, ... DN, ?] with the classes of each example: integers in
    [0, n_classes), or strings where there is a vocabulary.

    Args:
      n_classes: Number of classes, more than 1.
      weight_column: Name of the feature with weights of shape [D0, D1, ... DN] or
        [D0, D1, ... DN, 1], its numeric column, or None.
      thresholds: Numbers between 0 and 1 at which accuracy, precision and recall are measured,
        or None.
      label_vocabulary: List or tuple of n_classes class names, or None.
      loss_reduction: A `tf_keras.losses.Reduction` value other than NONE; by default the sum
        of weighted losses divided by their number.
      loss_fn: Function of `labels`, `logits` and maybe `features` and `loss_reduction` that
        returns losses of shape [D0, D1, ... DN, 1] instead of the mean of the classes'
        sigmoid cross entropies.
      classes_for_class_based_metrics: Classes for which mean probability and AUC are measured
        separately, by number or, with a vocabulary, by name; or None.
      name: Part of the names of metrics, summaries and operations; or None.

    Raises:
      ValueError: n_classes is too small, the vocabulary is of another length, there is no such
        class, or a threshold, loss_reduction or loss_fn is not as above.
      TypeError: weight_column or thresholds are of another type.
    """

    def __init__(
        self,
        n_classes: int,
        weight_column: WeightColumn = None,
        thresholds: Sequence[float] | None = None,
        label_vocabulary: Sequence[str] | None = None,
        loss_reduction: str = tf_keras.losses.Reduction.SUM_OVER_BATCH_SIZE,
        loss_fn: LossFn | None = None,
        classes_for_class_based_metrics: Sequence[int | str] | None = None,
        name: str | None = None,
    ):
        if n_classes is None or n_classes < 2:
            raise ValueError(
                f"n_classes must be > 1 for multi-label classification. Given: {n_classes}"
            )
        vocabulary = validate_vocabulary(label_vocabulary, "must be a list or tuple")
        if vocabulary is not None and len(vocabulary) != n_classes:
            raise ValueError(
                f"Length of label_vocabulary must be n_classes ({n_classes}). "
                f"Given: {len(vocabulary)}"
            )
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        self._thresholds = validate_thresholds(
            thresholds, "thresholds must be in (0, 1) range. Given: {wrong}"
        )
        self._classes = Classes(n_classes, vocabulary)
        self._measured_classes = _find_class_numbers(
            classes_for_class_based_metrics or (), n_classes, vocabulary
        )

    @property
    def logits_dimension(self) -> int:
        """The number of classes."""
        return self._classes.count

    def predictions(
        self, logits: TensorLike, keys: Sequence[str] | None = None
    ) -> dict[str, tf.Tensor]:
        """Returns predictions of a batch.

        Args:
          logits: Float tensor of shape [D0, D1, ... DN, n_classes].
          keys: Some of LOGITS, PROBABILITIES and CLASSES; by default all. CLASSES are the
            names of all classes.

        Raises:
          ValueError: A key is another one, or logits are of another shape.
        """
        with tf.name_scope("predictions"):
            logits = checks.validate_logits(logits, self.logits_dimension)
            make = {
                PredictionKeys.LOGITS: lambda: logits,
                PredictionKeys.PROBABILITIES: lambda: tf.sigmoid(logits, name="probabilities"),
                PredictionKeys.CLASSES: lambda: self._classes.all_names(logits),
            }
            return select_predictions(make, keys)

    def _process_labels(self, labels: Labels, logits: tf.Tensor) -> tf.Tensor:
        if isinstance(checks.require_labels(labels), tf.SparseTensor):
            indicators = self._make_indicators(labels)
        else:
            text = "labels must be an integer indicator Tensor with values in [0, 1]"
            indicators = tf.convert_to_tensor(labels)
            if indicators.dtype in (tf.bool, tf.string):
                raise ValueError(
                    f"{text}. Instead got {indicators.dtype}. Give the classes of each example "
                    "as a SparseTensor, or cast indicators to integers."
                )
            indicators = checks.check_range(indicators, 1, below=text, above=text)
        return checks.validate_dense_labels(
            indicators, logits, self.logits_dimension, self._mismatch
        )

    def _make_indicators(self, labels: tf.SparseTensor) -> tf.Tensor:
        """Returns dense indicators of sparse classes."""
        if labels.dtype == tf.string and self._classes.vocabulary is not None:
            values = self._classes.vocabulary.look_up_ids(labels.values)
        elif labels.dtype.is_integer:
            values = labels.values
        else:
            raise ValueError(
                f"Labels dtype should be integer. Instead got {labels.dtype}."
                " Strings need a label_vocabulary."
            )
        count = self._classes.count
        text = f"labels must be an integer SparseTensor with values in [0, {count})"
        if labels.dtype == tf.string:
            values = checks.check_known_names(values, labels.values, text)
        ids = tf.cast(checks.check_range(values, count - 1, below=text, above=text), tf.int64)
        sparse = tf.SparseTensor(labels.indices, ids, labels.dense_shape)
        return tf.cast(tf.sparse.to_indicator(sparse, count), tf.int64)

    def _compute_losses(self, labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
        losses = tf.nn.sigmoid_cross_entropy_with_logits(
            labels=tf.cast(labels, tf.float32), logits=logits
        )
        return tf.reduce_mean(collect_loss(losses), axis=-1, keepdims=True)

    def _create_task_metrics(self) -> Metrics:
        metrics: Metrics = {
            MetricKeys.AUC: tf_keras.metrics.AUC(name=MetricKeys.AUC),
            MetricKeys.AUC_PR: tf_keras.metrics.AUC(curve="PR", name=MetricKeys.AUC_PR),
            **create_threshold_metrics(self._thresholds),
        }
        for number in self._measured_classes:
            mean_key, auc_key, pr_key = self._make_class_keys(number)
            metrics[mean_key] = tf_keras.metrics.Mean(mean_key)
            metrics[auc_key] = tf_keras.metrics.AUC(name=auc_key)
            metrics[pr_key] = tf_keras.metrics.AUC(curve="PR", name=pr_key)
        return metrics

    def _update_task_metrics(self, metrics: Metrics, batch: Batch) -> None:
        [probabilities] = self._predict(batch, PredictionKeys.PROBABILITIES)
        of_one_class: set[str] = set()
        for number in self._measured_classes:
            mean_key, *auc_keys = self._make_class_keys(number)
            of_one_class.update((mean_key, *auc_keys))
            labels, values = (
                tensor[..., number : number + 1] for tensor in (batch.labels, probabilities)
            )
            metrics[mean_key].update_state(values, sample_weight=batch.weights)
            for auc_key in auc_keys:
                metrics[auc_key].update_state(labels, values, sample_weight=batch.weights)
        for key, metric in metrics.items():
            if key not in of_one_class:
                metric.update_state(batch.labels, probabilities, sample_weight=batch.weights)

    def _make_class_keys(self, number: int) -> tuple[str, str, str]:
        """Returns the keys of mean probability, AUC and AUC of precision-recall of one class."""
        if self._classes.vocabulary is None:
            return (
                MetricKeys.PROBABILITY_MEAN_AT_CLASS % number,
                MetricKeys.AUC_AT_CLASS % number,
                MetricKeys.AUC_PR_AT_CLASS % number,
            )
        name = self._classes.vocabulary.names[number]
        return (
            MetricKeys.PROBABILITY_MEAN_AT_NAME % name,
            MetricKeys.AUC_AT_NAME % name,
            MetricKeys.AUC_PR_AT_NAME % name,
        )

    def _export_outputs(self, predictions: dict[str, tf.Tensor]) -> dict[str, ExportOutput]:
        return self._classes.make_outputs(predictions)


def _find_class_numbers(
    classes: Sequence[int | str], n_classes: int, vocabulary: Sequence[str] | None
) -> tuple[int, ...]:
    """Returns the distinct numbers of the classes that have separate metrics."""
    numbers: dict[int, None] = {}
    for given in classes:
        if isinstance(given, str):
            if vocabulary is None:
                raise ValueError(
                    "label_vocabulary must be provided when classes_for_class_based_metrics are "
                    "strings."
                )
            if given not in vocabulary:
                raise ValueError(
                    f"{given!r} is not in list: classes_for_class_based_metrics must be in "
                    f"label_vocabulary {vocabulary}."
                )
            numbers[vocabulary.index(given)] = None
        elif not 0 <= given < n_classes:
            raise ValueError(
                "All classes_for_class_based_metrics must be in range "
                f"[0, {n_classes - 1}]. Given: {given}"
            )
        else:
            numbers[int(given)] = None
    return tuple(numbers)
