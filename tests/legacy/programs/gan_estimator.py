"""A generator against a discriminator, with tf.contrib.gan: GANEstimator, and the parts by hand."""
import os

import numpy as np
import tensorflow as tf

tfgan = tf.contrib.gan
slim = tf.contrib.slim
tf.logging.set_verbosity(tf.logging.ERROR)
tf.set_random_seed(0)
WORK = os.environ['WORK_DIR']
MEAN = np.array([2.0, -1.0], np.float32)


def generator_fn(noise, weight_decay=2.5e-5, mode=None):
    with slim.arg_scope([slim.fully_connected],
                        weights_regularizer=slim.l2_regularizer(weight_decay)):
        net = slim.fully_connected(noise, 8)
        if mode == tf.estimator.ModeKeys.PREDICT:
            net = tf.identity(net, name='only_to_predict')
        return slim.fully_connected(net, 2, activation_fn=None)


def discriminator_fn(data, unused_conditioning, mode=None):
    net = slim.fully_connected(data, 16, activation_fn=tf.nn.leaky_relu)
    return slim.fully_connected(net, 1, activation_fn=None)


def train_input_fn(batch_size=32):
    def reals(noise):
        return noise, MEAN + 0.1 * tf.random_normal([2])
    noise = tf.data.Dataset.from_tensors(0).repeat().map(lambda _: tf.random_normal([4]))
    return noise.map(reals).batch(batch_size).prefetch(1)


def predict_input_fn():
    return tf.data.Dataset.from_tensor_slices(
        np.random.RandomState(1).randn(64, 4).astype(np.float32)).batch(16)


gan_estimator = tfgan.estimator.GANEstimator(
    model_dir=os.path.join(WORK, 'gan'),
    generator_fn=generator_fn,
    discriminator_fn=discriminator_fn,
    generator_loss_fn=tfgan.losses.modified_generator_loss,
    discriminator_loss_fn=tfgan.losses.modified_discriminator_loss,
    generator_optimizer=tf.train.AdamOptimizer(0.02, 0.5),
    discriminator_optimizer=lambda: tf.train.AdamOptimizer(0.02, 0.5),
    get_eval_metric_ops_fn=lambda model: {
        'mean_x': tf.metrics.mean(model.generated_data[:, 0])},
    add_summaries=tfgan.estimator.SummaryType.VARIABLES)
before = np.mean([p for p in gan_estimator.predict(predict_input_fn)], 0) \
    if tf.train.latest_checkpoint(WORK) else np.zeros(2)
gan_estimator.train(train_input_fn, max_steps=150)
generated = np.array(list(gan_estimator.predict(predict_input_fn)))
metrics = gan_estimator.evaluate(train_input_fn, steps=4)
print(generated.shape, generated.mean(0), sorted(metrics))
assert generated.shape == (64, 2) and metrics['global_step'] == 150
assert np.linalg.norm(generated.mean(0) - MEAN) < np.linalg.norm(before - MEAN) / 2
assert sorted(n for n in gan_estimator.get_variable_names() if n.startswith('Gen') and 'Adam' not in n) == [
    'Generator/fully_connected/biases', 'Generator/fully_connected/weights',
    'Generator/fully_connected_1/biases', 'Generator/fully_connected_1/weights']

# The parts by hand: a Wasserstein model with a gradient penalty
with tf.Graph().as_default():
    tf.set_random_seed(1)
    real = MEAN + 0.1 * tf.random_normal([32, 2])
    gan_model = tfgan.gan_model(generator_fn, discriminator_fn, real_data=real,
                                generator_inputs=tf.random_normal([32, 4]))
    gan_loss = tfgan.gan_loss(gan_model, gradient_penalty_weight=1.0)
    train_ops = tfgan.gan_train_ops(
        gan_model, gan_loss, generator_optimizer=tf.train.AdamOptimizer(0.02, 0.5),
        discriminator_optimizer=tf.train.AdamOptimizer(0.02, 0.5), summarize_gradients=True)
    steps = tfgan.GANTrainSteps(1, 2)
    assert len(gan_model.generator_variables) == 4 and len(gan_model.discriminator_variables) == 4
    tfgan.gan_train(
        train_ops, logdir=os.path.join(WORK, 'wgan'),
        get_hooks_fn=tfgan.get_sequential_train_hooks(steps),
        hooks=[tf.train.StopAtStepHook(num_steps=60)], save_summaries_steps=50)
    with tf.Session() as sess:
        tf.train.Saver().restore(sess, tf.train.latest_checkpoint(os.path.join(WORK, 'wgan')))
        moved = np.mean([sess.run(gan_model.generated_data).mean(0) for _ in range(4)], 0)
        assert sess.run(tf.train.get_global_step()) == 60
print('wasserstein', moved)
assert np.linalg.norm(moved - MEAN) < np.linalg.norm(MEAN)
print('gan done')
