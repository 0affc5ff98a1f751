"""Stand-in for `tf.contrib.learn.ops`: predictions and losses of given weights."""

import tensorflow as tf

from tf_contrib._types import TensorLike

_v1 = tf.compat.v1


def mean_squared_error_regressor(
    tensor_in: TensorLike,
    labels: TensorLike,
    weights: TensorLike,
    biases: TensorLike,
    name: str | None = None,
) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns the predictions of a linear model and their mean squared error.

    Args:
      tensor_in: Features, shape (batch, features).
      labels: Labels, shape (batch,) or (batch, outputs).
      weights: Weights, shape (features, outputs).
      biases: Biases, shape (outputs,).
      name: Name scope.
    """
    with tf.name_scope(name or "mean_squared_error_regressor"):
        predictions = _v1.nn.xw_plus_b(tensor_in, weights, biases)
        labels = tf.convert_to_tensor(labels)
        if labels.shape.rank == 1 and predictions.shape.rank == 2:
            predictions = tf.squeeze(predictions, axis=[1])
        return predictions, _v1.losses.mean_squared_error(labels, predictions)


def softmax_classifier(
    tensor_in: TensorLike,
    labels: TensorLike,
    weights: TensorLike,
    biases: TensorLike,
    class_weight: TensorLike | None = None,
    name: str | None = None,
) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns the probabilities of classes and their cross-entropy.

    Args:
      tensor_in: Features, shape (batch, features).
      labels: One-hot labels, shape (batch, classes).
      weights: Weights, shape (features, classes).
      biases: Biases, shape (classes,).
      class_weight: Factors of the logits, shape (classes,); None: 1.
      name: Name scope.
    """
    with tf.name_scope(name or "softmax_classifier"):
        logits = _v1.nn.xw_plus_b(tensor_in, weights, biases)
        if class_weight is not None:
            logits = tf.multiply(logits, class_weight)
        return tf.nn.softmax(logits), _v1.losses.softmax_cross_entropy(labels, logits)


def embedding_lookup(
    params: TensorLike, ids: TensorLike, name: str = "embedding_lookup"
) -> tf.Tensor:
    """Returns the rows of one matrix; see `tf.nn.embedding_lookup`."""
    return tf.gather(params, ids, name=name)


def categorical_variable(
    tensor_in: TensorLike, n_classes: int, embedding_size: int, name: str
) -> tf.Tensor:
    """Creates an embedding of categories and looks up the rows of a batch.

    Args:
      tensor_in: Integer categories, any shape.
      n_classes: Number of categories.
      embedding_size: Length of a row.
      name: Variable scope; the variable is `<name>/<name>_embeddings`.
    """
    with _v1.variable_scope(name):
        table = _v1.get_variable(f"{name}_embeddings", [n_classes, embedding_size])
        return embedding_lookup(table, tensor_in)
