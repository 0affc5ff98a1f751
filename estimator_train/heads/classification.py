"""Class names, predictions and export outputs that classification heads share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf
import tf_keras

from estimator_train.estimator_spec.export_outputs import (
    ClassificationOutput,
    ExportOutput,
    PredictOutput,
)
from estimator_train.heads.base import PREDICT_SIGNATURE
from estimator_train.heads.keys import MetricKeys, PredictionKeys

CLASSIFY_SIGNATURE = "classification"
REGRESS_SIGNATURE = "regression"
DEFAULT_SIGNATURE = tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY
_UNKNOWN_ID = -1
_UNKNOWN_NAME = "UNK"


class Classes:
    """Classes of a head, by number and name.

    Args:
      count: Number of classes; an integer or a scalar tensor.
      vocabulary: Their names, or None where labels are the numbers themselves.
    """

    def __init__(self, count: int | tf.Tensor, vocabulary: Sequence[str] | None):
        self.count = count
        self.vocabulary = None if vocabulary is None else Vocabulary(vocabulary)

    def predictions(self, class_logits: tf.Tensor) -> dict[str, Callable[[], tf.Tensor]]:
        """Returns functions that compute predictions about the likeliest class, by key.

        Args:
          class_logits: Float tensor of shape [D0, D1, ... DN, count].
        """
        ids: list[tf.Tensor] = []

        def find_ids() -> tf.Tensor:
            if not ids:
                likeliest = tf.argmax(class_logits, axis=-1, name="class_ids")
                ids.append(tf.expand_dims(likeliest, axis=-1))
            return ids[0]

        return {
            PredictionKeys.PROBABILITIES: lambda: tf.nn.softmax(class_logits, name="probabilities"),
            PredictionKeys.CLASS_IDS: find_ids,
            PredictionKeys.CLASSES: lambda: self.look_up_names(find_ids()),
            PredictionKeys.ALL_CLASS_IDS: lambda: self.all_ids(class_logits),
            PredictionKeys.ALL_CLASSES: lambda: self.all_names(class_logits),
        }

    def look_up_ids(self, labels: tf.Tensor) -> tf.Tensor:
        """Returns the class numbers of labels, which are names where there is a vocabulary."""
        return labels if self.vocabulary is None else self.vocabulary.look_up_ids(labels)

    def look_up_names(self, ids: tf.Tensor) -> tf.Tensor:
        """Returns class numbers as strings."""
        if self.vocabulary is None:
            return tf.strings.as_string(ids, name="str_classes")
        return self.vocabulary.look_up_names(ids)

    def all_ids(self, logits: tf.Tensor) -> tf.Tensor:
        """Returns all class numbers for every example: int32 of shape [batch, count]."""
        return _repeat_for_examples(tf.range(self.count), logits)

    def all_names(self, logits: tf.Tensor) -> tf.Tensor:
        """Returns all class names for every example: strings of shape [batch, count]."""
        if self.vocabulary is None:
            names = tf.strings.as_string(tf.range(self.count))
        else:
            names = tf.constant(self.vocabulary.names, tf.string)
        return _repeat_for_examples(names, logits)

    def make_outputs(
        self, predictions: dict[str, tf.Tensor], regression: ExportOutput | None = None
    ) -> dict[str, ExportOutput]:
        """Returns the signatures of a classifier, by default scores with the names of classes.

        Args:
          predictions: Predictions; PROBABILITIES, [batch, count], are the scores.
          regression: The signature to regress, if there is one.
        """
        scores = predictions[PredictionKeys.PROBABILITIES]
        classification = ClassificationOutput(scores=scores, classes=self.all_names(scores))
        outputs: dict[str, ExportOutput] = {
            DEFAULT_SIGNATURE: classification,
            CLASSIFY_SIGNATURE: classification,
        }
        if regression is not None:
            outputs[REGRESS_SIGNATURE] = regression
        return {**outputs, PREDICT_SIGNATURE: PredictOutput(predictions)}


class Vocabulary:
    """Class names in the order of their numbers.

    Each graph has its own lookup tables; all eager code shares one pair.

    Args:
      names: List or tuple of distinct strings.
    """

    def __init__(self, names: Sequence[str]):
        self.names = names
        self._eager_tables: dict[str, tf.lookup.StaticHashTable] = {}

    def look_up_ids(self, names: tf.Tensor) -> tf.Tensor:
        """Returns the int64 number of each name; unknown ones are -1."""
        return self._make_table("ids").lookup(names)

    def look_up_names(self, ids: tf.Tensor) -> tf.Tensor:
        """Returns the name of each int64 number; unknown ones are "UNK"."""
        return self._make_table("names").lookup(ids)

    def _make_table(self, kind: str) -> tf.lookup.StaticHashTable:
        with tf.init_scope():
            if not tf.executing_eagerly():
                return self._create_table(kind)
            if kind not in self._eager_tables:
                self._eager_tables[kind] = self._create_table(kind)
            return self._eager_tables[kind]

    def _create_table(self, kind: str) -> tf.lookup.StaticHashTable:
        names = tf.constant(self.names, tf.string)
        ids = tf.range(len(self.names), dtype=tf.int64)
        if kind == "ids":
            _check_unique(self.names)
            initializer = tf.lookup.KeyValueTensorInitializer(names, ids)
            return tf.lookup.StaticHashTable(initializer, _UNKNOWN_ID)
        initializer = tf.lookup.KeyValueTensorInitializer(ids, names)
        return tf.lookup.StaticHashTable(initializer, _UNKNOWN_NAME)


def _check_unique(names: Sequence[str]) -> None:
    """Raises FailedPreconditionError, as TensorFlow's table does, for a name that comes twice."""
    numbers: dict[str, int] = {}
    for number, name in enumerate(names):
        first = numbers.setdefault(name, number)
        if first != number:
            raise tf.errors.FailedPreconditionError(
                None,
                None,
                f"label_vocabulary has {name!r} at index {first} and index {number}: each class "
                "needs a name of its own.",
            )


def validate_vocabulary(
    vocabulary: Any,
    must: str = "should be a list or a tuple",
    error: type[Exception] = ValueError,
) -> Any:
    """Returns a vocabulary: None, a list or a tuple.

    Args:
      vocabulary: Argument of the user.
      must: Verb of the error's text.
      error: Type of the error.
    """
    if vocabulary is not None and not isinstance(vocabulary, (list, tuple)):
        raise error(f"label_vocabulary {must}. Given type: {type(vocabulary)}")
    return vocabulary


def validate_thresholds(thresholds: Any, text: str) -> tuple[float, ...]:
    """Returns thresholds as a tuple, empty for None.

    Args:
      thresholds: Argument of the user.
      text: The text of the error, with the places {wrong} and {all}.

    Raises:
      TypeError: They are not a sequence of numbers.
      ValueError: One is not between 0 and 1.
    """
    thresholds = () if thresholds is None else tuple(thresholds)
    for threshold in thresholds:
        if threshold <= 0.0 or threshold >= 1.0:
            raise ValueError(text.format(wrong=threshold, all=thresholds))
    return thresholds


def select_predictions(
    make: Mapping[str, Callable[[], tf.Tensor]], keys: Sequence[str] | None
) -> dict[str, tf.Tensor]:
    """Returns the predictions of some keys, by default of all.

    Args:
      make: Function that computes each prediction, by key.
      keys: Keys of the predictions to compute.

    Raises:
      ValueError: There is no such prediction.
    """
    for key in keys or ():
        if key not in make:
            raise ValueError(
                f"Prediction key must be in PredictionKeys, given: {key}."
                f"Valid prediction keys include {list(make)}."
            )
    return {key: make[key]() for key in keys or make}


def create_threshold_metrics(thresholds: Sequence[float]) -> dict[str, Any]:
    """Returns accuracy, precision and recall at each threshold, by key."""
    metrics: dict[str, Any] = {}
    for threshold in thresholds:
        accuracy = MetricKeys.ACCURACY_AT_THRESHOLD % threshold
        metrics[accuracy] = tf_keras.metrics.BinaryAccuracy(accuracy, threshold=threshold)
        precision = MetricKeys.PRECISION_AT_THRESHOLD % threshold
        metrics[precision] = tf_keras.metrics.Precision(threshold, name=precision)
        recall = MetricKeys.RECALL_AT_THRESHOLD % threshold
        metrics[recall] = tf_keras.metrics.Recall(threshold, name=recall)
    return metrics


def _repeat_for_examples(values: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
    return tf.tile(tf.expand_dims(values, axis=0), [tf.shape(logits)[0], 1])
