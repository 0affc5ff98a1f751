"""Heads of `tf.contrib.learn` for numbers."""

from collections.abc import Callable

import tensorflow as tf

from tf_contrib.learn.heads import SingleHead, check_columns
from tf_contrib.learn.keys import PredictionKey, ProblemType


class RegressionHead(SingleHead):
    """Head with a squared error, or with the loss of Poisson regression."""

    exported = (PredictionKey.SCORES,)

    def __init__(
        self,
        label_name: str | None,
        weight_column_name: str | None,
        label_dimension: int,
        enable_centered_bias: bool,
        head_name: str | None,
        loss_fn: Callable[[tf.Tensor, tf.Tensor], tf.Tensor],
        link_fn: Callable[[tf.Tensor], tf.Tensor],
    ) -> None:
        super().__init__(
            "regression_head",
            ProblemType.LINEAR_REGRESSION,
            label_dimension,
            label_name,
            weight_column_name,
            enable_centered_bias,
            head_name,
        )
        self._loss_fn, self._link_fn = loss_fn, link_fn

    def convert_labels(self, labels: tf.Tensor) -> tf.Tensor:
        """Converts the labels to floats of shape [batch_size, label_dimension]."""
        return tf.cast(check_columns(labels, self.logits_dimension, "labels"), tf.float32)

    def compute_losses(self, labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
        """Returns the loss of each number."""
        return self._loss_fn(labels, logits)

    def predict(self, logits: tf.Tensor) -> dict[str, tf.Tensor]:
        """Returns the numbers, of shape [batch_size] for a label_dimension of 1."""
        scores = self._link_fn(logits)
        scores = tf.squeeze(scores, [1]) if self.logits_dimension == 1 else scores
        return {PredictionKey.SCORES: scores}


def regression_head(
    label_name: str | None = None,
    weight_column_name: str | None = None,
    label_dimension: int = 1,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
    link_fn: Callable[[tf.Tensor], tf.Tensor] | None = None,
) -> RegressionHead:
    """Creates a head with a squared error; see `SingleHead`.

    Args:
      label_name: Key of the labels in a dict.
      weight_column_name: Name of the feature with the weights.
      label_dimension: Number of labels of an example.
      enable_centered_bias: Whether to train another bias.
      head_name: Name of the head.
      link_fn: Function of the logits that returns the predictions.
    """
    arguments = label_name, weight_column_name, label_dimension, enable_centered_bias, head_name
    return RegressionHead(*arguments, tf.math.squared_difference, link_fn or tf.identity)


def poisson_regression_head(
    label_name: str | None = None,
    weight_column_name: str | None = None,
    label_dimension: int = 1,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
) -> RegressionHead:
    """Creates a head whose logits are logarithms of counts; see `regression_head`."""
    arguments = label_name, weight_column_name, label_dimension, enable_centered_bias, head_name

    def compute_loss(labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
        return tf.nn.log_poisson_loss(labels, logits, compute_full_loss=True)

    return RegressionHead(*arguments, compute_loss, tf.exp)
