"""Heads of `tf.contrib.learn` for classes."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from tf_contrib.learn.heads import Head, SingleHead, check_columns
from tf_contrib.learn.keys import PredictionKey, ProblemType

_metrics = tf.compat.v1.metrics
LossFn = Callable[..., tf.Tensor]
_CLASSES, _LOGITS = PredictionKey.CLASSES, PredictionKey.LOGITS
_LOGISTIC, _PROBABILITIES = PredictionKey.LOGISTIC, PredictionKey.PROBABILITIES


class _ClassHead(SingleHead):
    exported = (_CLASSES, _PROBABILITIES)

    def __init__(
        self,
        default_scope: str,
        problem_type: int,
        logits_dimension: int,
        arguments: Mapping[str, Any],
    ) -> None:
        names = "label_name weight_column_name enable_centered_bias head_name"
        super().__init__(
            default_scope,
            problem_type,
            logits_dimension,
            **{name: arguments[name] for name in names.split()},
        )
        self._thresholds = arguments.get("thresholds") or (0.5,)
        self._metric_class_ids = arguments.get("metric_class_ids") or ()
        self.loss_fn = arguments.get("loss_fn")


class _BinaryHead(_ClassHead):
    """Head of two classes."""

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        problem = ProblemType.LOGISTIC_REGRESSION
        super().__init__("binary_logistic_head", problem, 1, arguments)

    def convert_labels(self, labels: tf.Tensor) -> tf.Tensor:
        return tf.cast(check_columns(labels, 1, "labels"), tf.float32)

    def compute_losses(self, labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
        return tf.nn.sigmoid_cross_entropy_with_logits(labels, logits)

    def predict(self, logits: tf.Tensor) -> dict[str, tf.Tensor]:
        both = tf.concat([tf.zeros_like(logits), logits], 1)
        return {
            _LOGITS: logits,
            _LOGISTIC: tf.sigmoid(logits),
            _PROBABILITIES: tf.nn.softmax(both),
            _CLASSES: tf.argmax(both, 1),
        }

    def create_metrics(
        self, labels: tf.Tensor, predictions: Mapping[str, tf.Tensor], weights: Any
    ) -> dict[str, Any]:
        logistic = predictions[_LOGISTIC]
        return {
            "accuracy": _metrics.accuracy(labels, predictions[_CLASSES][:, None], weights),
            "auc_precision_recall": _metrics.auc(labels, logistic, weights, curve="PR"),
            **create_probability_metrics(labels, logistic, weights, self._thresholds),
        }


class _MultiClassHead(_ClassHead):
    """Head of three and more classes."""

    def __init__(
        self, n_classes: int, label_keys: Sequence[Any] | None, arguments: Mapping[str, Any]
    ) -> None:
        problem = ProblemType.CLASSIFICATION
        super().__init__("multi_class_head", problem, n_classes, arguments)
        self._label_keys = label_keys

    def convert_labels(self, labels: tf.Tensor) -> tf.Tensor:
        labels = check_columns(labels, 1, "labels")
        if self._label_keys is None:
            return tf.cast(labels, tf.int64)
        keys = tf.constant(list(self._label_keys))
        return tf.argmax(tf.cast(tf.equal(labels, keys), tf.int64), 1)[:, None]

    def compute_losses(self, labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=tf.squeeze(labels, [1]), logits=logits
        )
        return losses[:, None]

    def predict(self, logits: tf.Tensor) -> dict[str, tf.Tensor]:
        classes = tf.argmax(logits, 1)
        if self._label_keys is not None:
            classes = tf.gather(tf.constant(list(self._label_keys)), classes)
        return {_LOGITS: logits, _PROBABILITIES: tf.nn.softmax(logits), _CLASSES: classes}

    def create_metrics(
        self, labels: tf.Tensor, predictions: Mapping[str, tf.Tensor], weights: Any
    ) -> dict[str, Any]:
        chosen = tf.argmax(predictions[_LOGITS], 1)[:, None]
        made = {"accuracy": _metrics.accuracy(labels, chosen, weights)}
        for number in self._metric_class_ids:
            columns = {
                "probability_mean": predictions[_PROBABILITIES][:, number, None],
                "prediction_mean": tf.cast(tf.equal(chosen, number), tf.float32),
                "actual_label_mean": tf.cast(tf.equal(labels, number), tf.float32),
                "logits_mean": predictions[_LOGITS][:, number, None],
            }
            made |= {
                f"labels/{name}/class{number}": _metrics.mean(column, weights)
                for name, column in columns.items()
            }
        return made


class _MultiLabelHead(_ClassHead):
    """Head of classes of which an example may have several."""

    def __init__(self, n_classes: int, arguments: Mapping[str, Any]) -> None:
        problem = ProblemType.CLASSIFICATION
        super().__init__("multi_label_head", problem, n_classes, arguments)

    def convert_labels(self, labels: Any) -> tf.Tensor:
        if isinstance(labels, tf.SparseTensor):
            labels = tf.sparse.to_indicator(labels, self.logits_dimension)
        return tf.cast(check_columns(labels, self.logits_dimension, "labels"), tf.float32)

    def compute_losses(self, labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
        return tf.nn.sigmoid_cross_entropy_with_logits(labels, logits)

    def predict(self, logits: tf.Tensor) -> dict[str, tf.Tensor]:
        return {
            _LOGITS: logits,
            _PROBABILITIES: tf.sigmoid(logits),
            _CLASSES: tf.cast(logits > 0, tf.int64),
        }

    def create_metrics(
        self, labels: tf.Tensor, predictions: Mapping[str, tf.Tensor], weights: Any
    ) -> dict[str, Any]:
        weights = None if weights is None else tf.ones_like(labels) * weights
        probabilities, classes = predictions[_PROBABILITIES], predictions[_CLASSES]
        made = {
            "accuracy": _metrics.accuracy(labels, classes, weights),
            "auc": _metrics.auc(labels, probabilities, weights),
            "auc_precision_recall": _metrics.auc(labels, probabilities, weights, curve="PR"),
        }
        for number in self._metric_class_ids:
            columns = {
                "probability_mean": probabilities,
                "prediction_mean": tf.cast(classes, tf.float32),
                "actual_label_mean": labels,
                "logits_mean": predictions[_LOGITS],
            }
            weight = None if weights is None else weights[:, number]
            made |= {
                f"labels/{name}/class{number}": _metrics.mean(column[:, number], weight)
                for name, column in columns.items()
            }
        return made


class _BinarySvmHead(_ClassHead):
    """Head of two classes with the loss of support vector machines."""

    exported = (_CLASSES, _LOGITS)

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        problem = ProblemType.LOGISTIC_REGRESSION
        super().__init__("binary_svm_head", problem, 1, arguments)

    def convert_labels(self, labels: tf.Tensor) -> tf.Tensor:
        return tf.cast(check_columns(labels, 1, "labels"), tf.float32)

    def compute_losses(self, labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
        none = tf.compat.v1.losses.Reduction.NONE
        return tf.compat.v1.losses.hinge_loss(labels, logits, reduction=none)

    def predict(self, logits: tf.Tensor) -> dict[str, tf.Tensor]:
        both = tf.concat([tf.zeros_like(logits), logits], 1)
        return {_LOGITS: logits, _CLASSES: tf.argmax(both, 1)}

    def create_metrics(
        self, labels: tf.Tensor, predictions: Mapping[str, tf.Tensor], weights: Any
    ) -> dict[str, Any]:
        classes = predictions[_CLASSES][:, None]
        return {"accuracy": _metrics.accuracy(labels, classes, weights)}


def create_probability_metrics(
    labels: tf.Tensor, probabilities: tf.Tensor, weights: Any, thresholds: Sequence[float]
) -> dict[str, Any]:
    """Returns the metrics of probabilities of two classes, by name.

    Args:
      labels: Labels 0 and 1.
      probabilities: Probabilities of label 1, of the shape of labels.
      weights: Weights of the examples, or None.
      thresholds: Probabilities from which an example counts as label 1.
    """
    made = {
        "labels/prediction_mean": _metrics.mean(probabilities, weights),
        "labels/actual_label_mean": _metrics.mean(labels, weights),
        "accuracy/baseline_label_mean": _metrics.mean(labels, weights),
        "auc": _metrics.auc(labels, probabilities, weights),
    }
    for threshold in thresholds:
        above = tf.cast(probabilities >= threshold, tf.float32)
        arguments = (labels, probabilities, [threshold], weights)
        made |= {
            f"accuracy/threshold_{threshold:f}_mean": _metrics.accuracy(labels, above, weights),
            f"precision/positive_threshold_{threshold:f}_mean": _take_only(
                _metrics.precision_at_thresholds(*arguments)
            ),
            f"recall/positive_threshold_{threshold:f}_mean": _take_only(
                _metrics.recall_at_thresholds(*arguments)
            ),
        }
    return made


def _take_only(metric: tuple[tf.Tensor, tf.Tensor]) -> tuple[tf.Tensor, tf.Tensor]:
    """Converts a metric of one threshold to scalars."""
    value, update_op = metric
    return tf.squeeze(value), tf.squeeze(update_op)


def multi_class_head(
    n_classes: int,
    label_name: str | None = None,
    weight_column_name: str | None = None,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
    thresholds: Sequence[float] | None = None,
    metric_class_ids: Sequence[int] | None = None,
    loss_fn: LossFn | None = None,
    label_keys: Sequence[Any] | None = None,
) -> Head:
    """Creates a head of exclusive classes; see `SingleHead`.

    Args:
      n_classes: Number of classes.
      label_name: Key of the labels in a dict.
      weight_column_name: Name of the feature with the weights.
      enable_centered_bias: Whether to train another bias.
      head_name: Name of the head.
      thresholds: Probabilities at which metrics of two classes are computed; by default 0.5.
      metric_class_ids: Classes that have metrics of their own.
      loss_fn: Function of labels, logits and weights that returns the loss of a batch.
      label_keys: Labels of the classes, if labels are no numbers.

    Raises:
      ValueError: An argument does not suit the number of classes.
    """
    arguments = dict(locals())
    if not isinstance(n_classes, int) or n_classes < 2:
        raise ValueError(f"n_classes must be an integer of 2 or more, got {n_classes}.")
    if label_keys is not None and (n_classes == 2 or len(label_keys) != n_classes):
        raise ValueError(
            f"label_keys need n_classes=3 or more and a key for each class, got {label_keys}."
        )
    if n_classes == 2:
        if metric_class_ids:
            raise ValueError(f"metric_class_ids need n_classes=3 or more, got {metric_class_ids}.")
        return _BinaryHead(arguments)
    return _MultiClassHead(n_classes, label_keys, arguments)


def multi_label_head(
    n_classes: int,
    label_name: str | None = None,
    weight_column_name: str | None = None,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
    thresholds: Sequence[float] | None = None,
    metric_class_ids: Sequence[int] | None = None,
    loss_fn: LossFn | None = None,
) -> Head:
    """Creates a head of classes of which an example may have several; see `multi_class_head`.

    Raises:
      ValueError: There are fewer than two classes.
    """
    if n_classes < 2:
        raise ValueError(f"n_classes must be 2 or more, got {n_classes}.")
    return _MultiLabelHead(n_classes, locals())


def binary_svm_head(
    label_name: str | None = None,
    weight_column_name: str | None = None,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
    thresholds: Sequence[float] | None = None,
) -> Head:
    """Creates a head of two classes with a hinge loss; see `multi_class_head`."""
    return _BinarySvmHead(locals())
