"""A Keras model with batch normalization in a cluster: `keras_job.py MODEL_DIR MAX_STEPS`.

With MAX_STEPS=0 it ends when the Estimator is made, which writes the model's weights. The variable
STRATEGY chooses: multi_worker, parameter_server (the v1 strategy), or none.
"""

from __future__ import annotations

import os
import sys

import numpy as np
import tensorflow as tf
import tf_keras

import estimator_train as est

tf1 = tf.compat.v1
STRATEGIES = {
    "multi_worker": tf.distribute.MultiWorkerMirroredStrategy,
    "parameter_server": tf1.distribute.experimental.ParameterServerStrategy,
    "none": lambda: None,
}


def input_fn(input_context: tf.distribute.InputContext) -> tf.data.Dataset:
    random = np.random.RandomState(0)
    x = random.randn(128, 4).astype(np.float32)
    y = (x.sum(1) > 0).astype(np.int64)
    data = tf.data.Dataset.from_tensor_slices(({"x": x}, y))
    data = data.shard(input_context.num_input_pipelines, input_context.input_pipeline_id)
    return data.repeat().batch(16, drop_remainder=True)


def main() -> None:
    model_dir, max_steps = sys.argv[1], int(sys.argv[2])
    strategy = STRATEGIES[os.environ["STRATEGY"]]()
    config = est.RunConfig(
        model_dir=model_dir,
        save_checkpoints_steps=30,
        train_distribute=strategy,
        experimental_max_worker_delay_secs=0,
        session_creation_timeout_secs=100,
    )
    model = tf_keras.Sequential(
        [
            tf_keras.layers.Input([4], name="x"),
            tf_keras.layers.Dense(8, activation="relu"),
            tf_keras.layers.BatchNormalization(momentum=0.8),
            tf_keras.layers.Dense(2, activation="softmax"),
        ]
    )
    model.compile(
        tf_keras.optimizers.Adam(0.02), "sparse_categorical_crossentropy", metrics=["accuracy"]
    )
    estimator = est.keras.model_to_estimator(model, config=config)
    if not max_steps:
        return
    train = est.TrainSpec(input_fn, max_steps)
    evaluation = est.EvalSpec(input_fn, steps=8, start_delay_secs=0, throttle_secs=1)
    result = est.train_and_evaluate(estimator, train, evaluation)
    if result:
        print("accuracy", float(result[0]["accuracy"]))


if __name__ == "__main__":
    main()
