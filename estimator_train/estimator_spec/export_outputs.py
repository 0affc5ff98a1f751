"""Export outputs: declarations of the outputs of a SavedModel.

`EstimatorSpec` holds them; users import them from `estimator_train.export`.
"""

from __future__ import annotations

import abc
from collections.abc import Mapping
from typing import Any, TypeAlias

import tensorflow as tf

from estimator_train.estimator_spec.keras_metrics import split_metric

SignatureDef: TypeAlias = "tf.compat.v1.MetaGraphDef.SignatureDefEntry"  # a protocol buffer

Outputs: TypeAlias = tf.Tensor | dict[str, tf.Tensor]

_SINGLE_OUTPUT_NAME = "output"
_SEPARATOR = "/"


class ExportOutput(abc.ABC):
    """Base class of export outputs, which can be converted to a SignatureDef."""

    @abc.abstractmethod
    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> SignatureDef:
        """Describes a request of these receiver tensors and its response.

        Args:
          receiver_tensors: the tensors a request feeds, by the name it gives them.

        Returns:
          The SignatureDef protocol buffer.
        """


class ClassificationOutput(ExportOutput):
    """Response of a classifier: scores, class labels or both.

    Args:
      scores: float tensor of shape [batch, classes] (or [batch] for one class), or None.
      classes: string tensor of the same shape, or None.

    Raises:
      ValueError: both arguments are missing, or one is not a tensor of its type.
    """

    def __init__(self, scores: tf.Tensor | None = None, classes: tf.Tensor | None = None):
        if scores is not None and not (_is_tensor(scores) and scores.dtype.is_floating):
            raise ValueError(f"Classification scores must be a float32 Tensor; got {scores}")
        if classes is not None and not _is_string(classes):
            raise ValueError(f"Classification classes must be a string Tensor; got {classes}")
        if scores is None and classes is None:
            raise ValueError(
                "Cannot create a ClassificationOutput with empty arguments. "
                "At least one of `scores` and `classes` must be defined."
            )
        self.scores = scores
        self.classes = classes

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> SignatureDef:
        """Returns a signature of the method tensorflow/serving/classify."""
        examples = _get_examples(receiver_tensors, "Classification")
        return tf.compat.v1.saved_model.classification_signature_def(
            examples, self.classes, self.scores
        )


class RegressionOutput(ExportOutput):
    """Response of a regressor.

    Args:
      value: float tensor of shape [batch] or [batch, 1].

    Raises:
      ValueError: `value` is not a float tensor.
    """

    def __init__(self, value: tf.Tensor):
        if not (_is_tensor(value) and value.dtype.is_floating):
            raise ValueError(f"Regression output value must be a float32 Tensor; got {value}")
        self.value = value

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> SignatureDef:
        """Returns a signature of the method tensorflow/serving/regress."""
        examples = _get_examples(receiver_tensors, "Regression")
        return tf.compat.v1.saved_model.regression_signature_def(examples, self.value)


class PredictOutput(ExportOutput):
    """Response of any named tensors.

    Args:
      outputs: a tensor (it is named "output"), or a dict of tensors.

    Raises:
      ValueError: a key is not a string or a value not a dense tensor.
    """

    def __init__(self, outputs: Outputs):
        self.outputs = _name_tensors(outputs, _SINGLE_OUTPUT_NAME, "Prediction")

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> SignatureDef:
        """Returns a signature of the method tensorflow/serving/predict."""
        return tf.compat.v1.saved_model.predict_signature_def(receiver_tensors, self.outputs)


class _SupervisedOutput(ExportOutput):
    """Base class of `EvalOutput` and `TrainOutput`."""

    LOSS_NAME = "loss"
    PREDICTIONS_NAME = "predictions"
    METRICS_NAME = "metrics"
    METRIC_VALUE_SUFFIX = "value"
    METRIC_UPDATE_SUFFIX = "update_op"
    method_name: str

    def __init__(
        self, loss: Outputs | None = None, predictions: Outputs | None = None, metrics: Any = None
    ):
        self.loss = None if loss is None else _add_prefix(loss, self.LOSS_NAME)
        self.predictions = (
            None if predictions is None else _add_prefix(predictions, self.PREDICTIONS_NAME)
        )
        self.metrics = None if metrics is None else self._split_metrics(metrics)

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> SignatureDef:
        """Returns a signature of loss, predictions and metrics."""
        outputs = {**(self.loss or {}), **(self.predictions or {}), **(self.metrics or {})}
        info = tf.compat.v1.saved_model.build_tensor_info
        return tf.compat.v1.saved_model.build_signature_def(
            inputs={name: info(tensor) for name, tensor in receiver_tensors.items()},
            outputs={name: info(tensor) for name, tensor in outputs.items()},
            method_name=self.method_name,
        )

    def _split_metrics(self, metrics: Any) -> dict[str, tf.Tensor]:
        if not isinstance(metrics, dict):
            metrics = {self.METRICS_NAME: metrics}
        tensors = {}
        for key, metric in metrics.items():
            name = _prefix_key(_validate_key(key, self.METRICS_NAME), self.METRICS_NAME)
            value, update = split_metric(metric)
            if not _is_tensor(value):
                raise ValueError(f"{name} output value must be a Tensor; got {value}.")
            if not _is_tensor(update) and not isinstance(update, tf.Operation):
                raise ValueError(f"{name} update_op must be a Tensor or Operation; got {update}.")
            tensors[name + _SEPARATOR + self.METRIC_VALUE_SUFFIX] = value
            tensors[name + _SEPARATOR + self.METRIC_UPDATE_SUFFIX] = _wrap_operation(update)
        return tensors


class TrainOutput(_SupervisedOutput):
    """Same as `EvalOutput`, of a graph exported to train with."""

    method_name = "tensorflow/supervised/training"


class EvalOutput(_SupervisedOutput):
    """Loss, predictions and metrics: the response of a graph exported to evaluate with.

    Args:
      loss: a tensor or a dict of tensors, or None.
      predictions: a tensor or a dict of tensors, or None.
      metrics: dict of (value, update_op) tuples or of tf_keras Metric objects, one such
        tuple, or None. Every update_op that is not a tensor is wrapped in an empty one,
        because a signature names tensors only.

    Raises:
      ValueError: a key is not a string, or a value not a tensor.
    """

    method_name = "tensorflow/supervised/eval"


def _is_tensor(value: object) -> bool:
    """Returns whether the value is a dense tensor, as SavedModel outputs must be."""
    return isinstance(value, tf.Tensor)


def _is_string(value: Any) -> bool:
    return _is_tensor(value) and value.dtype == tf.string


def _wrap_operation(update: tf.Tensor | tf.Operation) -> tf.Tensor:
    if _is_tensor(update):
        return update
    with tf.control_dependencies([update]):
        return tf.constant([], name="metric_op_wrapper")


def _name_tensors(outputs: Outputs, single_name: str, subject: str) -> dict[str, tf.Tensor]:
    """Returns a dict of tensors with string keys, from such a dict or from one tensor."""
    if not isinstance(outputs, dict):
        outputs = {single_name: outputs}
    named = {}
    for key, value in outputs.items():
        name = _validate_key(key, subject)
        if not _is_tensor(value):
            raise ValueError(f"{subject} output value must be a Tensor; got {value}.")
        named[name] = value
    return named


def _validate_key(key: object, subject: str) -> str:
    """Returns the key as a string; joins the parts of a tuple by /."""
    if isinstance(key, tuple):
        key = _SEPARATOR.join(map(str, key))
    if not isinstance(key, str):
        raise ValueError(f"{subject} output key must be a string; got {key}.")
    return key


def _add_prefix(outputs: Outputs, prefix: str) -> dict[str, tf.Tensor]:
    named = _name_tensors(outputs, prefix, prefix)
    return {_prefix_key(name, prefix): tensor for name, tensor in named.items()}


def _prefix_key(key: str, prefix: str) -> str:
    """Puts `prefix/` before a key that does not begin with the prefix already."""
    return key if key.startswith(prefix) else prefix + _SEPARATOR + key


def _get_examples(receiver_tensors: Mapping[str, Any], kind: str) -> tf.Tensor:
    """Returns the one string tensor that a classify or regress request feeds."""
    tensors = list(receiver_tensors.values())
    if len(tensors) != 1 or not _is_string(tensors[0]):
        raise ValueError(
            f"{kind} signatures can only accept a single tensor input of type tf.string. "
            "Please check to make sure that you have structured the serving_input_receiver_fn "
            "so that it creates a single string placeholder. If your model function expects "
            "multiple inputs, then use `tf.io.parse_example()` to parse the string into "
            f"multiple tensors.\n Received: {receiver_tensors}"
        )
    return tensors[0]
