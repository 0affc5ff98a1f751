"""Losses of generators and discriminators, each a function of a GANModel.

Scores of real and generated data are those of the discriminator; larger means more real.
"""

from typing import Any

import tensorflow as tf

_losses = tf.compat.v1.losses


def wasserstein_generator_loss(gan_model: Any, add_summaries: bool = False) -> tf.Tensor:
    """Minus the mean score of generated data."""
    return _noted("generator", -tf.reduce_mean(gan_model.discriminator_gen_outputs), add_summaries)


def wasserstein_discriminator_loss(gan_model: Any, add_summaries: bool = False) -> tf.Tensor:
    """The mean score of generated data less that of real data."""
    real, generated = _scores(gan_model)
    loss = tf.reduce_mean(generated) - tf.reduce_mean(real)
    return _noted("discriminator", loss, add_summaries)


def modified_generator_loss(
    gan_model: Any, label_smoothing: float = 0.0, add_summaries: bool = False
) -> tf.Tensor:
    """Cross entropy of generated data with being real."""
    generated = gan_model.discriminator_gen_outputs
    loss = _entropy(tf.ones_like(generated), generated, label_smoothing)
    return _noted("generator", loss, add_summaries)


def modified_discriminator_loss(
    gan_model: Any, label_smoothing: float = 0.25, add_summaries: bool = False
) -> tf.Tensor:
    """Cross entropy with what is real, its labels smoothed."""
    real, generated = _scores(gan_model)
    loss = _entropy(tf.ones_like(real), real, label_smoothing)
    loss += _entropy(tf.zeros_like(generated), generated)
    return _noted("discriminator", loss, add_summaries)


minimax_discriminator_loss = modified_discriminator_loss


def minimax_generator_loss(
    gan_model: Any, label_smoothing: float = 0.0, add_summaries: bool = False
) -> tf.Tensor:
    """Minus the discriminator's loss."""
    loss = -modified_discriminator_loss(gan_model, label_smoothing)
    return _noted("generator", loss, add_summaries)


def least_squares_generator_loss(
    gan_model: Any, real_label: float = 1.0, add_summaries: bool = False
) -> tf.Tensor:
    """Half the squared distance of generated data's scores from the label of real data."""
    generated = gan_model.discriminator_gen_outputs
    loss = 0.5 * tf.reduce_mean(tf.math.squared_difference(generated, real_label))
    return _noted("generator", loss, add_summaries)


def least_squares_discriminator_loss(
    gan_model: Any, real_label: float = 1.0, fake_label: float = 0.0, add_summaries: bool = False
) -> tf.Tensor:
    """Half the squared distances of the scores from their labels."""
    real, generated = _scores(gan_model)
    loss = 0.5 * tf.reduce_mean(tf.math.squared_difference(real, real_label))
    loss += 0.5 * tf.reduce_mean(tf.math.squared_difference(generated, fake_label))
    return _noted("discriminator", loss, add_summaries)


def wasserstein_gradient_penalty(
    gan_model: Any,
    epsilon: float = 1e-10,
    target: float = 1.0,
    one_sided: bool = False,
    add_summaries: bool = False,
) -> tf.Tensor:
    """How far the discriminator's gradients between real and generated data are from a length.

    Args:
      gan_model: The model.
      epsilon: Added to squared lengths.
      target: The length.
      one_sided: Whether only longer gradients count.
      add_summaries: Whether to write it to the summaries.
    """
    real = tf.convert_to_tensor(gan_model.real_data)
    generated = tf.convert_to_tensor(gan_model.generated_data)
    shares = tf.random.uniform([tf.shape(real)[0]] + [1] * (real.shape.rank - 1))
    between = real + shares * (generated - real)
    with tf.compat.v1.variable_scope(gan_model.discriminator_scope, reuse=True):
        scores = gan_model.discriminator_fn(between, gan_model.generator_inputs)
    gradient = tf.gradients(scores, between)[0]
    squares = tf.reduce_sum(tf.square(gradient), list(range(1, real.shape.rank)))
    excess = tf.sqrt(squares + epsilon) / target - 1.0
    excess = tf.maximum(excess, 0.0) if one_sided else excess
    return _noted("gradient_penalty", tf.reduce_mean(tf.square(excess)), add_summaries)


def _scores(gan_model: Any) -> tuple[tf.Tensor, tf.Tensor]:
    return gan_model.discriminator_real_outputs, gan_model.discriminator_gen_outputs


def _entropy(labels: tf.Tensor, scores: tf.Tensor, smoothing: float = 0.0) -> tf.Tensor:
    return _losses.sigmoid_cross_entropy(
        labels, scores, label_smoothing=smoothing, loss_collection=None
    )


def _noted(name: str, loss: tf.Tensor, add_summaries: bool) -> tf.Tensor:
    if add_summaries:
        tf.compat.v1.summary.scalar(f"{name}_loss", loss)
    return loss
