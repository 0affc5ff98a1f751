"""TensorFlow Model Garden: its recommender trains, evaluates and exports as an Estimator."""

import os

import numpy as np
import tensorflow as tf
from official.recommendation import neumf_model

NEGATIVES, USERS = 999, 2  # The evaluation of the package needs 999 negatives for each user.
random = np.random.RandomState(1)
params = {
    "num_users": 8,
    "num_items": 12,
    "mf_dim": 4,
    "model_layers": [8, 4],
    "mf_regularization": 0.0,
    "mlp_reg_layers": [0.0, 0.0],
    "num_neg": NEGATIVES,
    "match_mlperf": False,
    "use_tpu": False,
    "learning_rate": 0.05,
    "beta1": 0.9,
    "beta2": 0.999,
    "epsilon": 1e-8,
    "batch_size": USERS * (NEGATIVES + 1),
}


def train_input_fn():
    features = {
        "user_id": random.randint(0, 8, [64, 1]).astype(np.int32),
        "item_id": random.randint(0, 12, [64, 1]).astype(np.int32),
        "valid_point_mask": np.ones([64, 1], bool),
    }
    labels = features["item_id"] % 2
    return tf.data.Dataset.from_tensor_slices((features, labels)).repeat(20).batch(16)


def eval_input_fn():
    rows = USERS * (NEGATIVES + 1)
    features = {
        "user_id": np.repeat(np.arange(USERS), NEGATIVES + 1).astype(np.int32)[:, None],
        "item_id": random.randint(0, 12, [rows, 1]).astype(np.int32),
        "duplicate_mask": np.zeros([rows, 1], np.int32),
    }
    return tf.data.Dataset.from_tensors((features, np.zeros([rows, 1], np.int32)))


def model_fn(features, labels, mode, params):
    if mode != tf.estimator.ModeKeys.PREDICT:
        return neumf_model.neumf_model_fn(features, labels, mode, params)
    inputs = [tf.keras.layers.Input(tensor=features[name]) for name in ("user_id", "item_id")]
    logits = neumf_model.construct_model(*inputs, params).output
    return tf.estimator.EstimatorSpec(mode, predictions={"score": tf.nn.sigmoid(logits)})


estimator = tf.estimator.Estimator(model_fn, os.environ["WORK_DIR"], params=params)
estimator.train(train_input_fn)
assert 0 <= estimator.evaluate(eval_input_fn)["HR"] <= 1


def receiver_fn():
    names = ("user_id", "item_id")
    inputs = {name: tf.compat.v1.placeholder(tf.int32, [None, 1], name) for name in names}
    return tf.estimator.export.ServingInputReceiver(inputs, inputs)


estimator.export_saved_model(os.path.join(os.environ["WORK_DIR"], "export"), receiver_fn)
