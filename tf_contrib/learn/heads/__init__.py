"""Heads of `tf.contrib.learn`, which compute losses, predictions and metrics from logits."""

import abc
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from tf_contrib._types import Features, Scope
from tf_contrib.layers.dense import fully_connected
from tf_contrib.learn.keys import ModeKeys
from tf_contrib.learn.model_fns import ModelFnOps

_v1 = tf.compat.v1
TrainOpFn = Callable[[tf.Tensor], Any]
_CENTERED_BIAS_RATE = 0.1


class Head(abc.ABC):
    """Interface of heads."""

    @property
    @abc.abstractmethod
    def logits_dimension(self) -> int:
        """Number of logits of an example."""

    @abc.abstractmethod
    def create_model_fn_ops(
        self,
        features: Features,
        mode: str,
        labels: Any = None,
        train_op_fn: TrainOpFn | None = None,
        logits: tf.Tensor | None = None,
        logits_input: tf.Tensor | None = None,
        scope: Scope | None = None,
    ) -> ModelFnOps:
        """Returns the result of a model_fn.

        Args:
          features: Features by name.
          mode: One of `ModeKeys`.
          labels: Labels, or a dict of labels; None for predictions.
          train_op_fn: Function of the loss that returns the training operation.
          logits: Logits of shape [batch_size, logits_dimension].
          logits_input: Input of a layer that computes the logits; instead of logits.
          scope: Variable scope.

        Raises:
          ValueError: An argument that the mode requires is missing or has the wrong shape.
        """


class SingleHead(Head):
    """Base class of heads for one kind of label.

    Args:
      default_scope: Name of the variable scope of a head without a name.
      problem_type: One of `ProblemType`.
      logits_dimension: Number of logits of an example.
      label_name: Key of the labels in a dict.
      weight_column_name: Name of the feature with the weights of examples.
      enable_centered_bias: Whether to train another bias, which is added to the logits.
      head_name: Name of the head, which metrics and signatures have as a suffix.
    """

    # Keys of predictions that a SavedModel returns.
    exported: tuple[str, ...] = ()
    # Function of labels, logits and weights that returns the loss of a batch; None: mean of losses.
    loss_fn: Callable[..., tf.Tensor] | None = None

    def __init__(
        self,
        default_scope: str,
        problem_type: int,
        logits_dimension: int,
        label_name: str | None,
        weight_column_name: str | None,
        enable_centered_bias: bool,
        head_name: str | None,
    ) -> None:
        self._default_scope = default_scope
        self._problem_type = problem_type
        self._size = logits_dimension
        self._label_name = label_name
        self._weight_column_name = weight_column_name
        self._has_centered_bias = enable_centered_bias
        self.head_name = head_name

    @property
    def logits_dimension(self) -> int:
        """Number of logits of an example."""
        return self._size

    @abc.abstractmethod
    def convert_labels(self, labels: tf.Tensor) -> tf.Tensor:
        """Converts labels to the form that losses and metrics need."""

    @abc.abstractmethod
    def compute_losses(self, labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
        """Returns the loss of each example."""

    @abc.abstractmethod
    def predict(self, logits: tf.Tensor) -> dict[str, tf.Tensor]:
        """Returns the predictions by key."""

    def create_metrics(
        self, labels: tf.Tensor, predictions: Mapping[str, tf.Tensor], weights: Any
    ) -> dict[str, Any]:
        """Returns the metrics by name, except the loss."""
        del labels, predictions, weights
        return {}

    def create_model_fn_ops(
        self,
        features: Features,
        mode: str,
        labels: Any = None,
        train_op_fn: TrainOpFn | None = None,
        logits: tf.Tensor | None = None,
        logits_input: tf.Tensor | None = None,
        scope: Scope | None = None,
    ) -> ModelFnOps:
        """Returns the result of a model_fn; see `Head`."""
        with _v1.variable_scope(scope, self.head_name or self._default_scope):
            logits = self._check_logits(logits, logits_input)
            bias = self._create_centered_bias() if self._has_centered_bias else None
            logits = logits if bias is None else logits + bias
            predictions = self.predict(logits)
            if mode == ModeKeys.INFER:
                outputs = {key: predictions[key] for key in self.exported}
                alternatives = {self.head_name: (self._problem_type, outputs)}
                return ModelFnOps(mode, predictions, output_alternatives=alternatives)
            labels = self.convert_labels(self._select_labels(labels))
            weights = self._find_weights(features)
            loss, average = self._compute_loss(labels, logits, weights)
            with _v1.name_scope(""):
                _v1.summary.scalar(self._name("loss"), loss)
            train_op = None
            if mode == ModeKeys.TRAIN:
                train_op = self._train(train_op_fn, loss, labels, bias)
            with _v1.name_scope("metrics"):
                metrics = {"loss": _v1.metrics.mean(average)}
                metrics |= self.create_metrics(labels, predictions, weights)
        named = {self._name(key): metric for key, metric in metrics.items()}
        ops = ModelFnOps(mode, predictions, loss, train_op, named)
        return ops._replace(average_loss=None if self.head_name else average)

    def _name(self, key: str) -> str:
        return f"{key}/{self.head_name}" if self.head_name else key

    def _check_logits(self, logits: tf.Tensor | None, logits_input: tf.Tensor | None) -> tf.Tensor:
        if (logits is None) == (logits_input is None):
            raise ValueError("Exactly one of logits and logits_input must be given.")
        if logits is None:
            return fully_connected(logits_input, self._size, activation_fn=None, scope="logits")
        shape = tf.TensorShape([None, self._size])
        if not logits.shape.is_compatible_with(shape):
            raise ValueError(f"logits must have shape {shape}, got {logits.shape}.")
        return logits

    def _select_labels(self, labels: Any) -> Any:
        selected = labels[self._label_name] if isinstance(labels, dict) else labels
        if selected is None:
            raise ValueError("labels are missing: training and evaluation need them.")
        return selected

    def _find_weights(self, features: Any) -> tf.Tensor | None:
        """Returns the weights of the examples, of shape [batch_size, 1]."""
        if self._weight_column_name is None:
            return None
        weights = tf.cast(features[self._weight_column_name], tf.float32)
        return tf.reshape(weights, [-1, 1])

    def _compute_loss(
        self, labels: tf.Tensor, logits: tf.Tensor, weights: tf.Tensor | None
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns the loss to minimize and the mean in proportion to the weights."""
        if self.loss_fn:
            loss = self.loss_fn(labels, logits, weights)
            return loss, loss
        losses = self.compute_losses(labels, logits)
        if weights is None:
            return tf.reduce_mean(losses), tf.reduce_mean(losses)
        weights = tf.ones_like(losses) * weights
        weighted = losses * weights
        average = tf.math.divide_no_nan(tf.reduce_sum(weighted), tf.reduce_sum(weights))
        return tf.reduce_mean(weighted), average

    def _create_centered_bias(self) -> tf.Variable:
        bias = _v1.Variable(tf.zeros([self._size]), name="centered_bias_weight")
        for index in range(self._size):
            _v1.summary.scalar(f"centered_bias/bias_{index}", bias[index])
        return bias

    def _train(
        self,
        train_op_fn: TrainOpFn | None,
        loss: tf.Tensor,
        labels: tf.Tensor,
        bias: tf.Variable | None,
    ) -> tf.Operation:
        if train_op_fn is None:
            raise ValueError("train_op_fn is missing: training needs it.")
        with _v1.name_scope("train_op"):
            operations = [train_op_fn(loss)]
        if bias is not None:
            logits = tf.tile(bias[None, :], [tf.shape(labels)[0], 1])
            bias_loss, _ = self._compute_loss(labels, logits, None)
            optimizer = _v1.train.AdagradOptimizer(_CENTERED_BIAS_RATE)
            operations.append(optimizer.minimize(bias_loss, var_list=[bias]))
        return tf.group(*operations)


def check_columns(tensor: Any, size: int, name: str) -> tf.Tensor:
    """Returns a tensor of shape [batch_size, size].

    Args:
      tensor: A tensor of this shape; or of shape [batch_size] if the size is 1.
      size: Expected size.
      name: Name of the tensor, for errors.

    Raises:
      ValueError: The tensor is sparse or has another shape.
    """
    if isinstance(tensor, tf.SparseTensor):
        raise ValueError(f"{name} must be a dense tensor, got a SparseTensor.")
    tensor = tf.convert_to_tensor(tensor)
    if tensor.shape.rank == 1 and size == 1:
        tensor = tensor[:, None]
    if not tensor.shape.is_compatible_with([None, size]):
        raise ValueError(f"{name} must have shape (?, {size}), got {tensor.shape}.")
    return tensor


def no_op_train_fn(loss: tf.Tensor) -> tf.Operation:
    """Returns an operation that trains nothing."""
    del loss
    return tf.no_op()
