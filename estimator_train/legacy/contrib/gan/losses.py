"""Losses of generators and discriminators, each a function of a GANModel.

The discriminator gives real data higher scores than generated data.
"""

import tensorflow as tf

from estimator_train.legacy.contrib.gan.namedtuples import GANModel

_losses = tf.compat.v1.losses


def wasserstein_generator_loss(gan_model: GANModel, add_summaries: bool = False) -> tf.Tensor:
    """Returns minus the mean score of generated data."""
    return _add_summary(
        "generator", -tf.reduce_mean(gan_model.discriminator_gen_outputs), add_summaries
    )


def wasserstein_discriminator_loss(gan_model: GANModel, add_summaries: bool = False) -> tf.Tensor:
    """Returns the mean score of generated data minus that of real data."""
    real, generated = _get_scores(gan_model)
    loss = tf.reduce_mean(generated) - tf.reduce_mean(real)
    return _add_summary("discriminator", loss, add_summaries)


def modified_generator_loss(
    gan_model: GANModel, label_smoothing: float = 0.0, add_summaries: bool = False
) -> tf.Tensor:
    """Returns the cross entropy of generated data's scores with the label "real"."""
    generated = gan_model.discriminator_gen_outputs
    loss = _compute_cross_entropy(tf.ones_like(generated), generated, label_smoothing)
    return _add_summary("generator", loss, add_summaries)


def modified_discriminator_loss(
    gan_model: GANModel, label_smoothing: float = 0.25, add_summaries: bool = False
) -> tf.Tensor:
    """Returns the cross entropy of all scores with their labels, smoothed for real data."""
    real, generated = _get_scores(gan_model)
    loss = _compute_cross_entropy(tf.ones_like(real), real, label_smoothing)
    loss += _compute_cross_entropy(tf.zeros_like(generated), generated)
    return _add_summary("discriminator", loss, add_summaries)


minimax_discriminator_loss = modified_discriminator_loss


def minimax_generator_loss(
    gan_model: GANModel, label_smoothing: float = 0.0, add_summaries: bool = False
) -> tf.Tensor:
    """Returns minus the discriminator's loss."""
    loss = -modified_discriminator_loss(gan_model, label_smoothing)
    return _add_summary("generator", loss, add_summaries)


def least_squares_generator_loss(
    gan_model: GANModel, real_label: float = 1.0, add_summaries: bool = False
) -> tf.Tensor:
    """Returns half the mean squared difference of generated data's scores and the real label."""
    generated = gan_model.discriminator_gen_outputs
    loss = 0.5 * tf.reduce_mean(tf.math.squared_difference(generated, real_label))
    return _add_summary("generator", loss, add_summaries)


def least_squares_discriminator_loss(
    gan_model: GANModel,
    real_label: float = 1.0,
    fake_label: float = 0.0,
    add_summaries: bool = False,
) -> tf.Tensor:
    """Returns half the mean squared differences of the scores and their labels."""
    real, generated = _get_scores(gan_model)
    loss = 0.5 * tf.reduce_mean(tf.math.squared_difference(real, real_label))
    loss += 0.5 * tf.reduce_mean(tf.math.squared_difference(generated, fake_label))
    return _add_summary("discriminator", loss, add_summaries)


def wasserstein_gradient_penalty(
    gan_model: GANModel,
    epsilon: float = 1e-10,
    target: float = 1.0,
    one_sided: bool = False,
    add_summaries: bool = False,
) -> tf.Tensor:
    """Returns the mean squared distance of the discriminator's gradient norms from a target.

    The gradients are computed at random points between real and generated data.

    Args:
      gan_model: Model.
      epsilon: Number added to squared norms.
      target: Norm that costs nothing.
      one_sided: Whether only norms above the target cost.
      add_summaries: Whether to write a summary of the penalty.
    """
    real = tf.convert_to_tensor(gan_model.real_data)
    generated = tf.convert_to_tensor(gan_model.generated_data)
    positions = tf.random.uniform([tf.shape(real)[0]] + [1] * (real.shape.rank - 1))
    points = real + positions * (generated - real)
    with tf.compat.v1.variable_scope(gan_model.discriminator_scope, reuse=True):
        scores = gan_model.discriminator_fn(points, gan_model.generator_inputs)
    gradient = tf.gradients(scores, points)[0]
    squares = tf.reduce_sum(tf.square(gradient), list(range(1, real.shape.rank)))
    excess = tf.sqrt(squares + epsilon) / target - 1.0
    excess = tf.maximum(excess, 0.0) if one_sided else excess
    return _add_summary("gradient_penalty", tf.reduce_mean(tf.square(excess)), add_summaries)


def _get_scores(gan_model: GANModel) -> tuple[tf.Tensor, tf.Tensor]:
    return gan_model.discriminator_real_outputs, gan_model.discriminator_gen_outputs


def _compute_cross_entropy(
    labels: tf.Tensor, scores: tf.Tensor, smoothing: float = 0.0
) -> tf.Tensor:
    return _losses.sigmoid_cross_entropy(
        labels, scores, label_smoothing=smoothing, loss_collection=None
    )


def _add_summary(name: str, loss: tf.Tensor, add_summaries: bool) -> tf.Tensor:
    if add_summaries:
        tf.compat.v1.summary.scalar(f"{name}_loss", loss)
    return loss
