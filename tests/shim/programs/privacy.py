"""TensorFlow Privacy: its Estimator classes train, and the noise of DP-SGD has its deviation."""

import json

import numpy as np
import tensorflow as tf
import tensorflow_privacy as privacy
import tensorflow_privacy.v1

CLIP, NOISE, BATCH, SIZE = 2.0, 3.0, 8, 20000


def model_fn(features, labels, mode):
    weights = tf.compat.v1.get_variable("weights", [SIZE], initializer=tf.zeros_initializer())
    losses = features[:, 0] * tf.reduce_sum(weights)  # The features are 0: the gradient is noise.
    optimizer = privacy.v1.DPGradientDescentGaussianOptimizer(
        l2_norm_clip=CLIP, noise_multiplier=NOISE, num_microbatches=BATCH, learning_rate=1.0
    )
    step = tf.compat.v1.train.get_global_step()
    train_op = optimizer.minimize(losses, step, [weights])
    return tf.estimator.EstimatorSpec(mode, loss=tf.reduce_mean(losses), train_op=train_op)


def input_fn():
    return tf.data.Dataset.from_tensors(tf.zeros([BATCH, 1])).repeat()


estimator = tf.estimator.Estimator(model_fn, "noise")
estimator.train(input_fn, steps=1)
noise = estimator.get_variable_value("weights")

columns = [tf.feature_column.numeric_column("x")]
optimizer = privacy.DPKerasAdamOptimizer(
    l2_norm_clip=1.0, noise_multiplier=0.1, num_microbatches=4, learning_rate=0.1
)
classifier = privacy.DNNClassifier([4], columns, n_classes=2, optimizer=optimizer)


def classes_fn():
    x = np.linspace(-1, 1, 64, dtype=np.float32).reshape(64, 1)
    return tf.data.Dataset.from_tensor_slices(({"x": x}, (x > 0).astype(int))).repeat(20).batch(16)


classifier.train(classes_fn)
accuracy = float(classifier.evaluate(classes_fn)["accuracy"])
print(json.dumps([float(noise.std()) / (NOISE * CLIP / BATCH), accuracy]))
