import numpy as np
import tensorflow as tf

import estimator_train as est

x = np.random.default_rng(0).normal(size=(256, 1)).astype(np.float32)


def eval_input_fn():
    return tf.data.Dataset.from_tensor_slices(({"x": x}, x[:, 0] > 0)).batch(32)


def train_input_fn():
    return eval_input_fn().repeat()


columns = [tf.feature_column.numeric_column("x")]
receiver_fn = est.export.build_parsing_serving_input_receiver_fn(
    tf.feature_column.make_parse_example_spec(columns)
)
estimator = est.LinearClassifier(columns, model_dir="runs/mine")
