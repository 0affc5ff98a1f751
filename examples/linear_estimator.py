"""The job of `linear_tf1.py` as an Estimator.

estimator-train launch --workers=1 --ps=1 -- python linear_estimator.py MODEL_DIR
"""

import sys

import numpy as np
import tensorflow as tf

import estimator_train as est

TRUE_WEIGHTS = np.float32([[1.0], [-2.0], [0.5]])


def model_fn(features, labels, mode):
    """Builds linear regression with a squared loss."""
    weights = tf.compat.v1.get_variable("weights", [3, 1])
    loss = tf.reduce_mean(tf.square(features @ weights - labels))
    optimizer = tf.compat.v1.train.GradientDescentOptimizer(0.05)
    train_op = optimizer.minimize(loss, tf.compat.v1.train.get_global_step())
    return est.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    """Returns infinite batches of 8 examples."""
    x = np.random.randn(1000, 3).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices((x, x @ TRUE_WEIGHTS)).repeat().batch(8)


config = est.RunConfig(sys.argv[1], save_checkpoints_steps=100, save_summary_steps=100)
estimator = est.Estimator(model_fn, config=config)
est.train_and_evaluate(estimator, est.TrainSpec(input_fn, 400), est.EvalSpec(input_fn, steps=5))
print("weights", *estimator.get_variable_value("weights").ravel())
