"""Stand-in for `tf.contrib.nn`: operations of neural networks."""

import tensorflow as tf

from tf_contrib._types import TensorLike

conv1d_transpose = tf.nn.conv1d_transpose


def nth_element(
    input: TensorLike, n: TensorLike, reverse: bool = False, name: str | None = None
) -> tf.Tensor:
    """Returns the n-th smallest element of each row, or the n-th largest.

    Args:
      input: Numbers of shape [..., size].
      n: Index from 0, a scalar int32.
      reverse: Whether to count from the largest.
      name: Name of the operation.
    """
    return tf.raw_ops.NthElement(input=input, n=n, reverse=reverse, name=name)


def scaled_softplus(
    x: TensorLike, alpha: TensorLike, clip: TensorLike | None = None, name: str | None = None
) -> tf.Tensor:
    """Computes `alpha * ln(1 + exp(x / alpha))`, at most clip.

    Args:
      x: Numbers.
      alpha: Positive scale.
      clip: Maximum, or None.
      name: Name scope of the operations.
    """
    with tf.name_scope(name or "scaled_softplus"):
        x = tf.convert_to_tensor(x)
        scaled = alpha * tf.nn.softplus(x / alpha)
        return scaled if clip is None else tf.minimum(scaled, clip)


def alpha_dropout(
    x: TensorLike,
    keep_prob: TensorLike,
    noise_shape: TensorLike | None = None,
    seed: int | None = None,
    name: str | None = None,
) -> tf.Tensor:
    """Drops values such that mean and variance of SELU's outputs stay (Klambauer et al., 2017).

    Args:
      x: Numbers.
      keep_prob: Probability with which a value is kept.
      noise_shape: Shape of the random choices; by default that of x.
      seed: Seed of the choices.
      name: Name scope of the operations.
    """
    with tf.name_scope(name or "alpha_dropout"):
        x = tf.convert_to_tensor(x)
        keep = tf.cast(keep_prob, x.dtype)
        # The value of SELU for minus infinity.
        low = tf.constant(-1.7580993408473766, x.dtype)
        shape = tf.shape(x) if noise_shape is None else noise_shape
        is_kept = tf.random.uniform(shape, dtype=x.dtype, seed=seed) < keep
        scale = 1 / tf.sqrt(keep + low**2 * keep * (1 - keep))
        kept = tf.where(tf.broadcast_to(is_kept, tf.shape(x)), x, low * tf.ones_like(x))
        return scale * kept - scale * low * (1 - keep)


def sampled_sparse_softmax_loss(
    weights: TensorLike,
    biases: TensorLike,
    labels: TensorLike,
    inputs: TensorLike,
    num_sampled: int,
    num_classes: int,
    sampled_values: tuple[TensorLike, TensorLike, TensorLike] | None = None,
    remove_accidental_hits: bool = True,
    partition_strategy: str = "mod",
    name: str = "sampled_sparse_softmax_loss",
) -> tf.Tensor:
    """Computes the softmax loss over a sample of the classes; see `tf.nn.sampled_softmax_loss`.

    Args:
      weights: Weights of shape [num_classes, size].
      biases: Biases of shape [num_classes].
      labels: Classes of shape [batch_size, 1].
      inputs: Inputs of shape [batch_size, size].
      num_sampled: Number of classes to sample.
      num_classes: Number of classes.
      sampled_values: Result of a `tf.random.*_candidate_sampler`; by default a log-uniform one.
      remove_accidental_hits: Whether to remove sampled classes that are labels.
      partition_strategy: Partitioning of a list of weights: "mod" or "div".
      name: Name of the operations.

    Returns:
      The losses, of shape [batch_size].
    """
    return tf.compat.v1.nn.sampled_softmax_loss(
        weights,
        biases,
        labels,
        inputs,
        num_sampled,
        num_classes,
        sampled_values=sampled_values,
        remove_accidental_hits=remove_accidental_hits,
        partition_strategy=partition_strategy,
        name=name,
    )


def deprecated_flipped_softmax_cross_entropy_with_logits(
    logits: TensorLike, labels: TensorLike, dim: int = -1, name: str | None = None
) -> tf.Tensor:
    """See `tf.nn.softmax_cross_entropy_with_logits`; the labels get no gradient."""
    labels = tf.stop_gradient(labels)
    return tf.nn.softmax_cross_entropy_with_logits(labels, logits, dim, name)


def deprecated_flipped_sparse_softmax_cross_entropy_with_logits(
    logits: TensorLike, labels: TensorLike, name: str | None = None
) -> tf.Tensor:
    """See `tf.nn.sparse_softmax_cross_entropy_with_logits`."""
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits, name)


def deprecated_flipped_sigmoid_cross_entropy_with_logits(
    logits: TensorLike, targets: TensorLike, name: str | None = None
) -> tf.Tensor:
    """See `tf.nn.sigmoid_cross_entropy_with_logits`."""
    return tf.nn.sigmoid_cross_entropy_with_logits(targets, logits, name)
