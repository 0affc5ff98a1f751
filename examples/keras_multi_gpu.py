"""Keras' guide to several devices, with `fit` and with the Estimator of this package.

A dense net of 256, 256 and 10 units trains on pictures in MNIST's format. A tenth of the training
data is for validation. A new run continues from the checkpoint of an earlier run:

    python examples/keras_multi_gpu.py --how=fit --dir=runs/fit
    python examples/keras_multi_gpu.py --how=estimator --dir=runs/estimator

Both print the same numbers. --replicas=2 trains on two virtual CPUs, or on all GPUs.
"""

import argparse
import functools
import json
import os

import numpy as np
import tensorflow as tf
import tf_keras

import estimator_train as est
import input_fns

BATCH_SIZE = 32
# The Estimator's loss is the mean over batches, that of fit the mean over examples. They are equal,
# because this size divides the test data.
TEST_BATCH_SIZE = 36


def build() -> tf_keras.Model:
    """Returns the compiled model."""
    tf_keras.utils.set_random_seed(1)
    inputs = tf_keras.Input(shape=(8, 8, 1))
    x = tf_keras.layers.Flatten()(inputs)
    x = tf_keras.layers.Dense(256, activation="relu")(x)
    x = tf_keras.layers.Dense(256, activation="relu")(x)
    model = tf_keras.Model(inputs, tf_keras.layers.Dense(10)(x))
    model.compile(
        optimizer=tf_keras.optimizers.Adam(),
        loss=tf_keras.losses.CategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    return model


@functools.cache
def arrays(split: str) -> tuple[np.ndarray, np.ndarray]:
    """Returns the pictures and one-hot labels of "train" or "test"."""
    batches = input_fns.digits(split, batch_size=500, num_epochs=1, shuffle=False)
    parts = zip(*batches.as_numpy_iterator(), strict=True)
    images, labels = (np.concatenate(part) for part in parts)
    return images, labels


def data() -> tuple[tf.data.Dataset, tf.data.Dataset, tf.data.Dataset]:
    """Returns batches for training (of equal size), for validation and for the test."""
    images, labels = arrays("train")
    held_out = len(images) // 10
    train = tf.data.Dataset.from_tensor_slices((images[:-held_out], labels[:-held_out]))
    validation = tf.data.Dataset.from_tensor_slices((images[-held_out:], labels[-held_out:]))
    test = tf.data.Dataset.from_tensor_slices(arrays("test"))
    return (
        train.batch(BATCH_SIZE, drop_remainder=True),
        validation.batch(BATCH_SIZE),
        test.batch(TEST_BATCH_SIZE),
    )


def train_by_fit(directory: str, epochs: int) -> dict[str, float]:
    """Trains with `fit` from the latest checkpoint in the directory, and returns test metrics."""
    train, validation, test = data()
    os.makedirs(directory, exist_ok=True)
    model = est.keras.make_or_restore(build, directory)
    done = int(model.optimizer.iterations) // len(train)
    callbacks = [tf_keras.callbacks.ModelCheckpoint(os.path.join(directory, "{epoch}.keras"))]
    model.fit(
        train,
        initial_epoch=done,
        epochs=done + epochs,
        callbacks=callbacks,
        validation_data=validation,
        verbose=2,
    )
    return model.evaluate(test, verbose=0, return_dict=True)


def train_by_estimator(directory: str, epochs: int, replicas: int) -> dict[str, float]:
    """Trains with the Estimator from its latest checkpoint, and returns test metrics."""
    train, validation, test = data()
    strategy = tf.distribute.MirroredStrategy(_list_cpus(replicas)) if replicas > 1 else None
    config = est.RunConfig(train_distribute=strategy)
    model_fn = est.keras.model_fn(
        build,
        tf_keras.losses.CategoricalCrossentropy(from_logits=True),
        tf_keras.optimizers.Adam(),
        ["accuracy"],
    )
    estimator = est.Estimator(model_fn, directory, config)
    per_epoch = len(train) // replicas
    hook = est.hooks.KerasCallbacks([], per_epoch, validation_data=validation)
    estimator.train(lambda: data()[0].repeat(epochs), hooks=[hook])
    print(hook.history)
    metrics = estimator.evaluate(lambda: data()[2])
    return {name: float(metrics[name]) for name in ("loss", "accuracy")}


def _list_cpus(replicas: int) -> list[str] | None:
    """Returns virtual CPUs, or None if there are GPUs."""
    if tf.config.list_physical_devices("GPU"):
        return None
    return [f"/cpu:{i}" for i in range(replicas)]


def main() -> None:
    """Parses the command line, trains, and prints the metrics."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--how", choices=("fit", "estimator"), default="estimator")
    parser.add_argument("--dir", required=True, help="directory for checkpoints")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--replicas", type=int, default=1)
    flags = parser.parse_args()
    if flags.replicas > 1 and not tf.config.list_physical_devices("GPU"):
        cpu = tf.config.list_physical_devices("CPU")[0]
        virtual_cpu = tf.config.LogicalDeviceConfiguration()
        tf.config.set_logical_device_configuration(cpu, [virtual_cpu] * flags.replicas)
    if flags.how == "fit":
        print(json.dumps(train_by_fit(flags.dir, flags.epochs)))
    else:
        print(json.dumps(train_by_estimator(flags.dir, flags.epochs, flags.replicas)))


if __name__ == "__main__":
    main()
