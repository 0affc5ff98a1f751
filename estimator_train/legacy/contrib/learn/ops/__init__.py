"""Operations of `tf.contrib.learn.ops`."""

from collections.abc import Sequence

import tensorflow as tf

from estimator_train.legacy.contrib._types import TensorLike

_v1 = tf.compat.v1


def embedding_lookup(
    params: TensorLike, ids: TensorLike, name: str = "embedding_lookup"
) -> tf.Tensor:
    """Returns the rows of params that ids select; see `tf.nn.embedding_lookup`."""
    return tf.nn.embedding_lookup(params, ids, name=name)


def categorical_variable(
    tensor_in: TensorLike, n_classes: int, embedding_size: int, name: str
) -> tf.Tensor:
    """Embeds ids with the variable `<name>_embeddings` in the scope of this name.

    Args:
      tensor_in: Ids of any shape.
      n_classes: Number of ids.
      embedding_size: Size of an embedding.
      name: Name of the scope.
    """
    with _v1.variable_scope(name):
        embeddings = _v1.get_variable(f"{name}_embeddings", [n_classes, embedding_size])
        return embedding_lookup(embeddings, tensor_in)


def mean_squared_error_regressor(
    tensor_in: tf.Tensor,
    labels: tf.Tensor,
    weights: tf.Tensor,
    biases: tf.Tensor,
    name: str | None = None,
) -> tuple[tf.Tensor, tf.Tensor]:
    """Computes a linear regression.

    Args:
      tensor_in: Features of shape [batch_size, features].
      labels: Labels of shape [batch_size] or [batch_size, outputs].
      weights: Weights of shape [features, outputs].
      biases: Biases of shape [outputs].
      name: Name scope of the operations.

    Returns:
      The predictions, of the shape of the labels, and the mean squared error.
    """
    with tf.name_scope(name or "mean_squared_error_regressor"):
        predictions = _v1.nn.xw_plus_b(tensor_in, weights, biases)
        if labels.shape.rank == 1 and predictions.shape.rank == 2:
            predictions = tf.squeeze(predictions, [1])
        return predictions, _v1.losses.mean_squared_error(labels, predictions)


def softmax_classifier(
    tensor_in: tf.Tensor,
    labels: tf.Tensor,
    weights: tf.Tensor,
    biases: tf.Tensor,
    class_weight: Sequence[float] | None = None,
    name: str | None = None,
) -> tuple[tf.Tensor, tf.Tensor]:
    """Computes a linear classification.

    Args:
      tensor_in: Features of shape [batch_size, features].
      labels: One-hot labels of shape [batch_size, classes].
      weights: Weights of shape [features, classes].
      biases: Biases of shape [classes].
      class_weight: Factors of the logits of the classes.
      name: Name scope of the operations.

    Returns:
      The probabilities, of shape [batch_size, classes], and the mean cross-entropy.
    """
    with tf.name_scope(name or "softmax_classifier"):
        logits = _v1.nn.xw_plus_b(tensor_in, weights, biases)
        if class_weight is not None:
            logits = logits * tf.constant(class_weight, logits.dtype)
        return tf.nn.softmax(logits), _v1.losses.softmax_cross_entropy(labels, logits)
