"""Losses of generators and discriminators, each a function of a GANModel.

The discriminator gives real data higher scores than generated data.
"""

import tensorflow as tf

from tf_contrib.gan.namedtuples import GANModel

_losses = tf.compat.v1.losses


def wasserstein_generator_loss(gan_model: GANModel, add_summaries: bool = False) -> tf.Tensor:
    """Returns minus the mean score of generated data."""
    with tf.name_scope("generator_wasserstein_loss"):
        loss = -tf.reduce_mean(gan_model.discriminator_gen_outputs)
        return _add_loss(loss, add_summaries, generator_wass_loss=loss)


def wasserstein_discriminator_loss(gan_model: GANModel, add_summaries: bool = False) -> tf.Tensor:
    """Returns the mean score of generated data minus that of real data."""
    with tf.name_scope("discriminator_wasserstein_loss"):
        real, generated = map(tf.reduce_mean, _get_scores(gan_model))
        loss = generated - real
        return _add_loss(
            loss,
            add_summaries,
            discriminator_gen_wass_loss=generated,
            discriminator_real_wass_loss=real,
            discriminator_wass_loss=loss,
        )


def modified_generator_loss(
    gan_model: GANModel, label_smoothing: float = 0.0, add_summaries: bool = False
) -> tf.Tensor:
    """Returns the cross entropy of generated data's scores with the label "real"."""
    with tf.name_scope("generator_modified_loss"):
        generated = gan_model.discriminator_gen_outputs
        loss = _compute_cross_entropy(tf.ones_like(generated), generated, label_smoothing)
        return _add_loss(loss, add_summaries, generator_modified_loss=loss)


def modified_discriminator_loss(
    gan_model: GANModel, label_smoothing: float = 0.25, add_summaries: bool = False
) -> tf.Tensor:
    """Returns the cross entropy of all scores with their labels, smoothed for real data."""
    with tf.name_scope("discriminator_modified_loss"):
        return _compute_minimax_loss(gan_model, label_smoothing, add_summaries)


def minimax_discriminator_loss(
    gan_model: GANModel, label_smoothing: float = 0.25, add_summaries: bool = False
) -> tf.Tensor:
    """Returns the same as `modified_discriminator_loss`."""
    with tf.name_scope("discriminator_minimax_loss"):
        return _compute_minimax_loss(gan_model, label_smoothing, add_summaries)


def minimax_generator_loss(
    gan_model: GANModel, label_smoothing: float = 0.0, add_summaries: bool = False
) -> tf.Tensor:
    """Returns minus the discriminator's loss."""
    with tf.name_scope("generator_minimax_loss"):
        loss = -_compute_minimax_loss(gan_model, label_smoothing, False)
    _add_summaries(add_summaries, generator_minimax_loss=loss)
    return loss


def least_squares_generator_loss(
    gan_model: GANModel, real_label: float = 1.0, add_summaries: bool = False
) -> tf.Tensor:
    """Returns half the mean squared difference of generated data's scores and the real label."""
    with tf.name_scope("lsq_generator_loss"):
        generated = gan_model.discriminator_gen_outputs
        loss = 0.5 * tf.reduce_mean(tf.math.squared_difference(generated, real_label))
    return _add_loss(loss, add_summaries, generator_lsq_loss=loss)


def least_squares_discriminator_loss(
    gan_model: GANModel,
    real_label: float = 1.0,
    fake_label: float = 0.0,
    add_summaries: bool = False,
) -> tf.Tensor:
    """Returns half the mean squared differences of the scores and their labels."""
    with tf.name_scope("lsq_discriminator_loss"):
        real, generated = (
            0.5 * tf.reduce_mean(tf.math.squared_difference(scores, label))
            for scores, label in zip(_get_scores(gan_model), (real_label, fake_label), strict=True)
        )
        loss = generated + real
    return _add_loss(
        loss,
        add_summaries,
        discriminator_gen_lsq_loss=generated,
        discriminator_real_lsq_loss=real,
        discriminator_lsq_loss=loss,
    )


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
    penalty = tf.reduce_mean(tf.square(excess))
    with tf.name_scope("wasserstein_gradient_penalty"):
        return _add_loss(penalty, add_summaries, gradient_penalty_loss=penalty)


def _get_scores(gan_model: GANModel) -> tuple[tf.Tensor, tf.Tensor]:
    return gan_model.discriminator_real_outputs, gan_model.discriminator_gen_outputs


def _compute_cross_entropy(
    labels: tf.Tensor, scores: tf.Tensor, smoothing: float = 0.0
) -> tf.Tensor:
    return _losses.sigmoid_cross_entropy(
        labels, scores, label_smoothing=smoothing, loss_collection=None
    )


def _compute_minimax_loss(
    gan_model: GANModel, label_smoothing: float, add_summaries: bool
) -> tf.Tensor:
    """Returns the cross entropy of all scores with their labels, smoothed for real data."""
    real, generated = _get_scores(gan_model)
    real_loss = _compute_cross_entropy(tf.ones_like(real), real, label_smoothing)
    generated_loss = _compute_cross_entropy(tf.zeros_like(generated), generated)
    loss = real_loss + generated_loss
    return _add_loss(
        loss,
        add_summaries,
        discriminator_gen_minimax_loss=generated_loss,
        discriminator_real_minimax_loss=real_loss,
        discriminator_minimax_loss=loss,
    )


def _add_loss(loss: tf.Tensor, add_summaries: bool, **summaries: tf.Tensor) -> tf.Tensor:
    """Adds a loss to the losses of the graph and returns it."""
    _losses.add_loss(loss)
    _add_summaries(add_summaries, **summaries)
    return loss


def _add_summaries(add_summaries: bool, **summaries: tf.Tensor) -> None:
    for name, value in summaries.items() if add_summaries else ():
        tf.compat.v1.summary.scalar(name, value)
