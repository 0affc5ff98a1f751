"""Input and model of the programs."""

import numpy as np
import tensorflow as tf


def input_fn():
    x = np.random.RandomState(0).rand(64, 4).astype(np.float32)
    data = tf.data.Dataset.from_tensor_slices(({"x": x}, x.sum(1, keepdims=True)))
    return data.repeat().batch(32)


def make_estimator(model_dir, **settings):
    config = tf.estimator.RunConfig(model_dir, save_summary_steps=10, **settings)
    columns = [tf.feature_column.numeric_column("x", shape=[4])]
    return tf.estimator.DNNRegressor(hidden_units=[4], feature_columns=columns, config=config)


def receiver_fn():
    x = tf.compat.v1.placeholder(tf.float32, [None, 4], "x")
    return tf.estimator.export.ServingInputReceiver({"x": x}, {"x": x})
