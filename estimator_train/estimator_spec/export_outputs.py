"""Export outputs: declarations of the outputs of a SavedModel; and Keras metrics.

`EstimatorSpec` holds them; users import export outputs from `estimator_train.export`. A Keras
metric is an object of tf_keras or of Keras 3.
"""

from __future__ import annotations

import abc
import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import tensorflow as tf

from estimator_train.engine.tf_internals import graphs

if TYPE_CHECKING:
    import tf_keras


# A metric of tf_keras or of Keras 3, neither of which this module imports.
KerasMetric: TypeAlias = "tf_keras.metrics.Metric"
_KERAS = ("tf_keras", "keras")
_FIRST_VALUE = "Assign"  # the last part of the name of the operation that gives it
SignatureDef: TypeAlias = "tf.compat.v1.MetaGraphDef.SignatureDefEntry"  # a protocol buffer

Outputs: TypeAlias = tf.Tensor | dict[str, tf.Tensor]

_SINGLE_OUTPUT_NAME = "output"
_SEPARATOR = "/"


def is_keras_metric(value: object) -> bool:
    """Returns whether a value is a metric of tf_keras or Keras 3, without importing them."""
    loaded = [sys.modules[name] for name in _KERAS if hasattr(sys.modules.get(name), "metrics")]
    return any(isinstance(value, keras.metrics.Metric) for keras in loaded)


def split_metric(metric: KerasMetric) -> tuple[Any, Any]:
    """Splits an entry of eval_metric_ops into its value tensor and its update operation.

    Args:
      metric: a Keras metric on which `update_state` was called in the current graph, or a
        (value, update_op) tuple, which is returned unchanged.

    Returns:
      The pair (value, update_op).

    Raises:
      ValueError: a Keras metric that was never updated.
    """
    if not is_keras_metric(metric):
        return metric
    # A metric of Keras 3 does not list its update operations.
    updates = _find_updates(metric) if hasattr(metric, "updates") else _find_assignments(metric)
    if not updates:
        raise ValueError(f'Please call update_state(...) on the "{metric.name}" metric')
    return metric.result(), updates[0] if len(updates) == 1 else tf.group(updates)


def add_local_variables(metric: KerasMetric) -> None:
    """Adds a Keras metric's variables to the collections that the session initializes."""
    variables = _list_variables(metric)
    # Keras 3 adds them to the weights, which checkpoints save.
    of_model = tf.compat.v1.get_collection_ref(tf.compat.v1.GraphKeys.GLOBAL_VARIABLES)
    theirs = {variable.ref() for variable in variables}
    of_model[:] = [variable for variable in of_model if variable.ref() not in theirs]
    for collection in (
        tf.compat.v1.GraphKeys.LOCAL_VARIABLES,
        tf.compat.v1.GraphKeys.METRIC_VARIABLES,
    ):
        known = {variable.ref() for variable in tf.compat.v1.get_collection(collection)}
        for variable in variables:
            if variable.ref() not in known:
                tf.compat.v1.add_to_collection(collection, variable)


def _list_variables(metric: KerasMetric) -> list[tf.Variable]:
    """Returns a metric's variables as TensorFlow variables, which Keras 3 wraps."""
    found: Iterable[Any] = metric.variables
    return [v if isinstance(v, tf.Variable) else v.value for v in found]


def _find_assignments(metric: KerasMetric) -> list[tf.Operation]:
    """Returns the operations that update a metric's variables, without their initializers.

    Each waits for the inputs of the previous ones: a count that does not depend on the batch would
    otherwise be incremented after the end of the input.
    """
    handles = {variable.handle.op.name for variable in _list_variables(metric)}
    found = [
        operation
        for operation in tf.compat.v1.get_default_graph().get_operations()
        if "Assign" in operation.type
        and operation.name.rpartition("/")[2] != _FIRST_VALUE
        and operation.inputs[0].op.name in handles
    ]
    values = [operation.inputs[1].op for operation in found]
    for i, operation in enumerate(found[1:], start=1):
        for value in values[:i]:
            graphs.run_after(operation, value)
    return found


def _find_updates(metric: KerasMetric) -> list[Any]:
    """Returns the update of a tf_keras metric, and sums of its variables that it forgets to run.

    In a graph F1Score, FBetaScore and R2Score update only the last of their variables.
    """
    updates = metric.updates[:1]
    if len(metric.updates) != 1 or tf.distribute.in_cross_replica_context():
        return updates
    sums = [
        operation
        for variable in metric.variables
        for operation in variable.handle.consumers()
        if operation.type == "AssignAddVariableOp"
    ]
    last = getattr(updates[0], "op", updates[0])
    run = {before for operation in [last, *sums] for before in operation.control_inputs}
    was_called_twice = len({operation.inputs[0].op for operation in sums}) < len(sums)
    if was_called_twice or run.issuperset(sums):
        return updates
    return [*updates, *_find_assignments(metric)]


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
