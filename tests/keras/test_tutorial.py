"""The tutorial's own flow as a script, its TF1 names changed, on two virtual CPU devices."""

import forked
import pytest

PROGRAM = """
import json, sys, time
import numpy as np
import tensorflow as tf
import tf_keras
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
import estimator_train
import input_fns

tf_keras.utils.set_random_seed(1)
images, labels = (np.concatenate(parts) for parts in zip(
    *input_fns.digits("train", batch_size=1437, num_epochs=1).as_numpy_iterator()))

inputs = tf_keras.Input(shape=(8, 8, 1))
conv = tf_keras.layers.Conv2D
x = conv(filters=32, kernel_size=(3, 3), activation="relu", padding="same")(inputs)
x = tf_keras.layers.MaxPooling2D(pool_size=(2, 2), strides=2)(x)
x = tf_keras.layers.Conv2D(filters=64, kernel_size=(3, 3), activation="relu", padding="same")(x)
x = tf_keras.layers.MaxPooling2D(pool_size=(2, 2), strides=2)(x)
x = tf_keras.layers.Flatten()(x)
x = tf_keras.layers.Dense(64, activation="relu")(x)
predictions = tf_keras.layers.Dense(10, activation="softmax")(x)
model = tf_keras.Model(inputs=inputs, outputs=predictions)
model.compile(loss="categorical_crossentropy",
              optimizer=tf.compat.v1.train.AdamOptimizer(learning_rate=0.001),
              metrics=["accuracy"])

strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
config = estimator_train.RunConfig(train_distribute=strategy, model_dir=sys.argv[1])
estimator = tf_keras.estimator.model_to_estimator(model, config=config)

def input_fn(images, labels, epochs, batch_size):
    ds = tf.data.Dataset.from_tensor_slices((images, labels))
    ds = ds.shuffle(5000, seed=1).repeat(epochs).batch(batch_size).prefetch(2)
    return ds

class TimeHistory(tf.compat.v1.train.SessionRunHook):
    def begin(self):
        self.times = []
    def before_run(self, run_context):
        self.iter_time_start = time.time()
    def after_run(self, run_context, run_values):
        self.times.append(time.time() - self.iter_time_start)

time_hist = TimeHistory()
estimator.train(lambda: input_fn(images, labels, epochs=10, batch_size=32), hooks=[time_hist])
rate = 32 * 2 / np.mean(time_hist.times[1:])
metrics = estimator.evaluate(lambda: input_fn(images, labels, epochs=1, batch_size=64))
print(json.dumps({"steps": len(time_hist.times), "rate": rate,
                  "metrics": {name: float(value) for name, value in metrics.items()}}))
"""


@pytest.mark.long
def test_tutorial_trains_on_two_devices_and_evaluates(tmp_path):
    result = forked.printed("-c", PROGRAM, tmp_path)
    # Ten epochs of 1,437 examples are 450 batches of 32; a step takes two batches.
    assert result["steps"] == result["metrics"]["global_step"] == 225
    assert result["rate"] > 0
    assert result["metrics"]["accuracy"] > 0.93
