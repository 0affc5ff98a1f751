"""New masks and thresholds from the magnitudes of weights, alone or in blocks."""

import tensorflow as tf


def compute_mask(
    weights: tf.Tensor | tf.Variable,
    threshold: tf.Variable,
    sparsity: tf.Tensor | float,
    decay: float,
) -> tuple[tf.Tensor, tf.Tensor]:
    """Computes the mask of the weights with the largest magnitudes.

    The threshold is the k-th largest magnitude, where k is the number of weights that remain
    (Zhu and Gupta 2017, section 3), smoothed over updates.

    Args:
      weights: Weights of any shape.
      threshold: The threshold of the update before.
      sparsity: Share of the weights to mask.
      decay: Share of the old threshold in the new one.

    Returns:
      The new threshold, and a mask of float32 with the shape of the weights.
    """
    with tf.name_scope(f"{weights.op.name}_pruning_ops"):
        magnitudes = tf.abs(weights)
        size = tf.cast(tf.size(magnitudes), tf.float32)
        remaining = tf.cast(tf.round(size * (1 - sparsity)), tf.int32)
        ordered, _ = tf.nn.top_k(tf.reshape(magnitudes, [-1]), tf.size(magnitudes))
        current = tf.gather(ordered, remaining - 1)
        smoothed = tf.add_n([current * (1 - decay), threshold * decay])
        return smoothed, tf.cast(magnitudes >= smoothed, tf.float32)


def pool_blocks(weights: tf.Tensor, block: list[int], pooling: str, name: str) -> tf.Tensor:
    """Returns the mean or the largest magnitude of each block.

    Args:
      weights: Weights of two dimensions.
      block: Height and width of the blocks.
      pooling: AVG or MAX.
      name: Name of the weights.
    """
    images = tf.reshape(tf.abs(weights), [1, *weights.shape, 1])
    pooled = tf.nn.pool(
        images, block, pooling, strides=block, padding="SAME", name=f"{name}_pooled"
    )
    return tf.squeeze(pooled, [0, 3])


def expand_blocks(mask: tf.Tensor, block: list[int], shape: tf.TensorShape) -> tf.Tensor:
    """Returns the mask of all weights from that of their blocks.

    Args:
      mask: Mask with one value for each block.
      block: Height and width of the blocks.
      shape: Shape of the weights; blocks at the end may be incomplete.
    """
    repeated = tf.repeat(tf.repeat(mask, block[0], axis=0), block[1], axis=1)
    return repeated[: shape[0], : shape[1]]
