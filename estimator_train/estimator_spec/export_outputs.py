"""Export outputs: what a model_fn declares that a SavedModel of it returns.

They stand on the ground floor because an `EstimatorSpec` holds them; users find them in
`estimator_train.export`.
"""

from __future__ import annotations

import abc
from collections.abc import Mapping
from typing import Any, TypeAlias

import tensorflow as tf

from estimator_train.estimator_spec.keras_metrics import metric_value_and_update

SignatureDef: TypeAlias = "tf.compat.v1.MetaGraphDef.SignatureDefEntry"  # a protocol buffer

_SINGLE_OUTPUT_NAME = "output"
_SEPARATOR = "/"


class ExportOutput(abc.ABC):
    """What every kind of export output has: a way to become a SignatureDef."""

    @abc.abstractmethod
    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> SignatureDef:
        """Describes a request of these receiver tensors and its response.

        Args:
          receiver_tensors: the tensors a request feeds, by the name it gives them.

        Returns:
          The SignatureDef protocol buffer.
        """


class ClassificationOutput(ExportOutput):
    """The response of a classifier: scores, class labels or both.

    Args:
      scores: float tensor of shape [batch, classes] (or [batch] for one class), or None.
      classes: string tensor of the same shape, or None.

    Raises:
      ValueError: both are None, or one is not a tensor of its type.
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
        """A signature of the method tensorflow/serving/classify; see the base class."""
        examples = _only_examples(receiver_tensors, "Classification")
        return tf.compat.v1.saved_model.classification_signature_def(
            examples, self.classes, self.scores
        )


class RegressionOutput(ExportOutput):
    """The response of a regressor.

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
        """A signature of the method tensorflow/serving/regress; see the base class."""
        examples = _only_examples(receiver_tensors, "Regression")
        return tf.compat.v1.saved_model.regression_signature_def(examples, self.value)


class PredictOutput(ExportOutput):
    """A response of any named tensors.

    Args:
      outputs: a tensor (it is named "output"), or a dict of tensors.

    Raises:
      ValueError: a key is not a string or a value not a dense tensor.
    """

    def __init__(self, outputs: Any):
        self.outputs = _named_tensors(outputs, _SINGLE_OUTPUT_NAME, "Prediction")

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> SignatureDef:
        """A signature of the method tensorflow/serving/predict; see the base class."""
        return tf.compat.v1.saved_model.predict_signature_def(receiver_tensors, self.outputs)


class _SupervisedOutput(ExportOutput):
    """What `EvalOutput` and `TrainOutput` share."""

    LOSS_NAME = "loss"
    PREDICTIONS_NAME = "predictions"
    METRICS_NAME = "metrics"
    METRIC_VALUE_SUFFIX = "value"
    METRIC_UPDATE_SUFFIX = "update_op"
    method_name: str

    def __init__(self, loss: Any = None, predictions: Any = None, metrics: Any = None):
        self.loss = None if loss is None else _prefixed(loss, self.LOSS_NAME)
        self.predictions = (
            None if predictions is None else _prefixed(predictions, self.PREDICTIONS_NAME)
        )
        self.metrics = None if metrics is None else self._metric_tensors(metrics)

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> SignatureDef:
        """A signature of loss, predictions and metrics; see the base class."""
        outputs = {**(self.loss or {}), **(self.predictions or {}), **(self.metrics or {})}
        info = tf.compat.v1.saved_model.build_tensor_info
        return tf.compat.v1.saved_model.build_signature_def(
            inputs={name: info(tensor) for name, tensor in receiver_tensors.items()},
            outputs={name: info(tensor) for name, tensor in outputs.items()},
            method_name=self.method_name,
        )

    def _metric_tensors(self, metrics: Any) -> dict[str, tf.Tensor]:
        if not isinstance(metrics, dict):
            metrics = {self.METRICS_NAME: metrics}
        tensors = {}
        for key, metric in metrics.items():
            name = _prefixed_key(_checked_key(key, self.METRICS_NAME), self.METRICS_NAME)
            value, update = metric_value_and_update(metric)
            if not _is_tensor(value):
                raise ValueError(f"{name} output value must be a Tensor; got {value}.")
            if not _is_tensor(update) and not isinstance(update, tf.Operation):
                raise ValueError(f"{name} update_op must be a Tensor or Operation; got {update}.")
            tensors[name + _SEPARATOR + self.METRIC_VALUE_SUFFIX] = value
            tensors[name + _SEPARATOR + self.METRIC_UPDATE_SUFFIX] = _as_tensor(update)
        return tensors


class TrainOutput(_SupervisedOutput):
    """The same as `EvalOutput`, of a graph exported to train with."""

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


def _is_tensor(value: Any) -> bool:
    """True for a dense tensor; SavedModel outputs cannot be sparse, ragged or variables."""
    return isinstance(value, tf.Tensor)


def _is_string(value: Any) -> bool:
    return _is_tensor(value) and value.dtype == tf.string


def _as_tensor(update: tf.Tensor | tf.Operation) -> tf.Tensor:
    if _is_tensor(update):
        return update
    with tf.control_dependencies([update]):
        return tf.constant([], name="metric_op_wrapper")


def _named_tensors(outputs: Any, single_name: str, subject: str) -> dict[str, tf.Tensor]:
    """A dict of tensors with string keys, made of such a dict or of one tensor."""
    if not isinstance(outputs, dict):
        outputs = {single_name: outputs}
    named = {}
    for key, value in outputs.items():
        name = _checked_key(key, subject)
        if not _is_tensor(value):
            raise ValueError(f"{subject} output value must be a Tensor; got {value}.")
        named[name] = value
    return named


def _checked_key(key: Any, subject: str) -> str:
    """The key, which must be a string; the parts of a tuple of strings are joined by /."""
    if isinstance(key, tuple):
        key = _SEPARATOR.join(map(str, key))
    if not isinstance(key, str):
        raise ValueError(f"{subject} output key must be a string; got {key}.")
    return key


def _prefixed(outputs: Any, prefix: str) -> dict[str, tf.Tensor]:
    named = _named_tensors(outputs, prefix, prefix)
    return {_prefixed_key(name, prefix): tensor for name, tensor in named.items()}


def _prefixed_key(key: str, prefix: str) -> str:
    """Puts `prefix/` before a key that does not begin with the prefix already."""
    return key if key.startswith(prefix) else prefix + _SEPARATOR + key


def _only_examples(receiver_tensors: Mapping[str, Any], kind: str) -> tf.Tensor:
    """The one string tensor that a classify or regress request feeds."""
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
