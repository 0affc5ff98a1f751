"""TensorFlow Privacy: a classifier trains with noise on its gradients, evaluates and exports."""

import os

import numpy as np
import tensorflow as tf
from tensorflow_privacy import DPKerasSGDOptimizer
from tensorflow_privacy.privacy.estimators import dnn

x = np.linspace(-1, 1, 64).astype(np.float32)
y = (x > 0).astype(np.int32)
columns = [tf.feature_column.numeric_column("x")]


def input_fn():
    return tf.data.Dataset.from_tensor_slices(({"x": x}, y)).repeat(5).batch(16)


def make_optimizer():
    return DPKerasSGDOptimizer(
        l2_norm_clip=1.0, noise_multiplier=0.1, num_microbatches=16, learning_rate=0.5
    )


estimator = dnn.DNNClassifier(
    hidden_units=[4],
    feature_columns=columns,
    optimizer=make_optimizer,
    model_dir=os.environ["WORK_DIR"],
)
estimator.train(input_fn)
assert estimator.evaluate(input_fn)["accuracy"] > 0.7
spec = tf.feature_column.make_parse_example_spec(columns)
receiver_fn = tf.estimator.export.build_parsing_serving_input_receiver_fn(spec)
estimator.export_saved_model(os.path.join(os.environ["WORK_DIR"], "export"), receiver_fn)
