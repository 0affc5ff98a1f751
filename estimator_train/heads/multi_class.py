"""MultiClassHead: one of three or more classes."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

import tensorflow as tf
import tf_keras

from estimator_train.estimator_spec.export_outputs import ExportOutput
from estimator_train.heads import checks
from estimator_train.heads.base import Metrics
from estimator_train.heads.classification import (
    Classes,
    select_predictions,
    validate_vocabulary,
)
from estimator_train.heads.keys import MetricKeys, PredictionKeys
from estimator_train.heads.losses import collect_loss
from estimator_train.heads.types import Labels, LossFn, TensorLike, WeightColumn
from estimator_train.heads.weighted import Batch, WeightedHead


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
        return checks.check_class_range(ids, self._classes.count, self._range_verb)

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
