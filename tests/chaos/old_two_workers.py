"""Two synchronous workers as programs of 2018 had them: `old_two_workers.py MODEL_DIR`."""

import sys

import numpy as np
import tensorflow as tf


def input_fn():
    x = np.random.RandomState(0).rand(256, 8).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices((x, x.sum(1, keepdims=True))).repeat().batch(16)


tf.logging.set_verbosity(tf.logging.INFO)
model = tf.keras.Sequential()
model.add(tf.keras.layers.Dense(16, activation="relu", input_shape=(8,)))
model.add(tf.keras.layers.Dense(1))
model.compile(loss="mse", optimizer=tf.train.GradientDescentOptimizer(0.05))
strategy = tf.contrib.distribute.CollectiveAllReduceStrategy(num_gpus_per_worker=0)
config = tf.estimator.RunConfig(
    model_dir=sys.argv[1],
    experimental_distribute=tf.contrib.distribute.DistributeConfig(train_distribute=strategy),
)
estimator = tf.keras.estimator.model_to_estimator(model, config=config)
tf.estimator.train_and_evaluate(
    estimator,
    tf.estimator.TrainSpec(input_fn, max_steps=20),
    tf.estimator.EvalSpec(input_fn, steps=2),
)
