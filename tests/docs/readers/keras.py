from pathlib import Path

import numpy as np
import tensorflow as tf

x = np.random.default_rng(0).normal(size=(256, 4)).astype(np.float32)
y = x.sum(1, keepdims=True)


def input_fn():
    return tf.data.Dataset.from_tensor_slices((x, y)).repeat().batch(32)


validation_dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(64)

Path("my_package").mkdir()
Path("my_package/model.py").write_text("""
import tf_keras


def build():
    layers = tf_keras.layers
    model = tf_keras.Sequential(
        [layers.Dense(64, activation="relu", input_shape=(4,)), layers.Dense(1)]
    )
    model.compile("adam", "mse")
    return model
""")
