# A notebook of 2018 turned script: a Keras ConvNet as an Estimator on several GPUs.
import os
import time

import numpy as np
import tensorflow as tf

LABELS = 10
IMG_ROWS, IMG_COLS = 28, 28
NUM_GPUS = 2
BATCH_SIZE = 32
EPOCHS = 2
MODEL_DIR = os.environ["MODEL_DIR"]

tf.logging.set_verbosity(tf.logging.ERROR)
tf.set_random_seed(1)

(train_images, train_labels), (test_images, test_labels) = (
    tf.keras.datasets.fashion_mnist.load_data()
)
train_images = np.asarray(train_images, dtype=np.float32) / 255
train_images = train_images.reshape((-1, IMG_ROWS, IMG_COLS, 1))
test_images = np.asarray(test_images, dtype=np.float32) / 255
test_images = test_images.reshape((-1, IMG_ROWS, IMG_COLS, 1))
train_labels = tf.keras.utils.to_categorical(train_labels, LABELS)
test_labels = tf.keras.utils.to_categorical(test_labels, LABELS)

inputs = tf.keras.Input(shape=(IMG_ROWS, IMG_COLS, 1))
x = tf.keras.layers.Conv2D(filters=8, kernel_size=(3, 3), activation="relu")(inputs)
x = tf.keras.layers.MaxPooling2D(pool_size=(2, 2), strides=2)(x)
x = tf.keras.layers.Conv2D(filters=8, kernel_size=(3, 3), activation="relu")(x)
x = tf.keras.layers.MaxPooling2D(pool_size=(2, 2), strides=2)(x)
x = tf.keras.layers.Flatten()(x)
x = tf.keras.layers.Dense(32, activation="relu")(x)
predictions = tf.keras.layers.Dense(LABELS, activation="softmax")(x)
model = tf.keras.Model(inputs=inputs, outputs=predictions)

optimizer = tf.train.AdamOptimizer(learning_rate=0.001)
model.compile(loss="categorical_crossentropy", optimizer=optimizer, metrics=["accuracy"])

strategy = tf.contrib.distribute.MirroredStrategy(num_gpus=NUM_GPUS)
config = tf.estimator.RunConfig(model_dir=MODEL_DIR, train_distribute=strategy)
estimator = tf.keras.estimator.model_to_estimator(model, config=config)


def input_fn(images, labels, epochs, batch_size):
    ds = tf.data.Dataset.from_tensor_slices((images, labels))
    shuffle_size = 500
    ds = ds.shuffle(shuffle_size).repeat(epochs).batch(batch_size).prefetch(2)
    return ds


class TimeHistory(tf.train.SessionRunHook):
    def begin(self):
        self.times = []

    def before_run(self, run_context):
        self.iter_time_start = time.time()

    def after_run(self, run_context, run_values):
        self.times.append(time.time() - self.iter_time_start)


time_hist = TimeHistory()
estimator.train(
    lambda: input_fn(train_images, train_labels, epochs=EPOCHS, batch_size=BATCH_SIZE),
    hooks=[time_hist],
)
total_time = sum(time_hist.times)
print("total time with %d GPUs: %f seconds" % (NUM_GPUS, total_time))
avg_time_per_batch = np.mean(time_hist.times)
print("%.1f images/second with %d GPUs" % (BATCH_SIZE * NUM_GPUS / avg_time_per_batch, NUM_GPUS))

result = estimator.evaluate(
    lambda: input_fn(test_images, test_labels, epochs=1, batch_size=BATCH_SIZE)
)
print("replicas", strategy.num_replicas_in_sync, "steps seen", len(time_hist.times))
print("RESULT", result)
