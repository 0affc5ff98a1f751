"""Keras's tutorial on distributed training on this package: through `fit` and the Estimator.

A Conv-pool-dense model with four callbacks: TensorBoard, checkpoints of each epoch, a learning rate
of 1e-3, 1e-4 and 1e-5 by epoch, and one that prints it. Then evaluation from the latest checkpoint,
and the model saved and loaded without a strategy's scope and within one, with equal results:

    python examples/keras_distributed.py --how=fit --dir=runs/fit
    python examples/keras_distributed.py --how=estimator --dir=runs/estimator
"""

import argparse
import functools
import json
import os
from typing import Any

import numpy as np
import tensorflow as tf
import tf_keras

import estimator_train as est
import input_fns

BATCH_SIZE, EPOCHS = 64, 6


def build() -> tf_keras.Model:
    """Returns the compiled model."""
    tf_keras.utils.set_random_seed(1)
    model = tf_keras.Sequential(
        [
            tf_keras.layers.Conv2D(32, 3, activation="relu", input_shape=(8, 8, 1)),
            tf_keras.layers.MaxPooling2D(),
            tf_keras.layers.Flatten(),
            tf_keras.layers.Dense(64, activation="relu"),
            tf_keras.layers.Dense(10),
        ]
    )
    model.compile(
        loss=tf_keras.losses.CategoricalCrossentropy(from_logits=True),
        optimizer=tf_keras.optimizers.Adam(),
        metrics=["accuracy"],
    )
    return model


@functools.cache
def arrays(split: str) -> tuple[np.ndarray, np.ndarray]:
    """Returns the pictures and one-hot labels of "train" or "test"."""
    given = input_fns.digits(split, batch_size=500, num_epochs=1, shuffle=False)
    parts = zip(*given.as_numpy_iterator(), strict=True)
    images, labels = (np.concatenate(part) for part in parts)
    return images, labels


def batches(split: str) -> tf.data.Dataset:
    """Returns batches of "train" or "test", in the same order each time."""
    dataset = tf.data.Dataset.from_tensor_slices(arrays(split))
    return dataset.batch(BATCH_SIZE, drop_remainder=split == "train")


def decay(epoch: int) -> float:
    """Returns an epoch's learning rate."""
    if epoch < 3:
        return 1e-3
    return 1e-4 if epoch < 5 else 1e-5


class PrintLR(tf_keras.callbacks.Callback):
    """Prints the learning rate at each epoch's end."""

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Prints it."""
        rate = float(self.model.optimizer.lr.numpy())
        print(f"Learning rate for epoch {epoch + 1} is {rate:.6f}, loss {logs['loss']:.4f}")


def callbacks(directory: str) -> list[Any]:
    """Returns the tutorial's four callbacks."""
    return [
        tf_keras.callbacks.TensorBoard(os.path.join(directory, "logs")),
        tf_keras.callbacks.ModelCheckpoint(
            os.path.join(directory, "ckpt_{epoch}.weights.h5"), save_weights_only=True
        ),
        tf_keras.callbacks.LearningRateScheduler(decay),
        PrintLR(),
    ]


def trained_by_fit(directory: str) -> tf_keras.Model:
    """Trains by `fit` and returns the model, its weights from the latest checkpoint."""
    model = build()
    model.fit(batches("train"), epochs=EPOCHS, callbacks=callbacks(directory), verbose=0)
    return est.keras.make_or_restore(build, directory)


def trained_by_estimator(directory: str) -> tf_keras.Model:
    """Trains by the Estimator and returns the model, its weights from the latest checkpoint."""
    model_fn = est.keras.model_fn(
        build,
        tf_keras.losses.CategoricalCrossentropy(from_logits=True),
        tf_keras.optimizers.Adam(),
        ["accuracy"],
    )
    estimator = est.Estimator(model_fn, os.path.join(directory, "model"))
    per_epoch = len(batches("train"))
    hook = est.hooks.KerasCallbacks(callbacks(directory), per_epoch, epochs=EPOCHS)
    estimator.train(lambda: batches("train").repeat(), hooks=[hook])
    return est.keras.load_trained(build(), estimator)


def results(model: tf_keras.Model, directory: str) -> dict[str, dict[str, float]]:
    """Evaluates a model, and what was saved of it without and within a strategy's scope."""
    path = os.path.join(directory, "model.keras")
    model.save(path)
    unreplicated = tf_keras.models.load_model(path)
    with tf.distribute.MirroredStrategy(["/cpu:0"]).scope():
        replicated = tf_keras.models.load_model(path)
    models = {"latest": model, "loaded": unreplicated, "loaded in scope": replicated}
    return {
        name: each.evaluate(batches("test"), verbose=0, return_dict=True)
        for name, each in models.items()
    }


def main() -> None:
    """Reads the command line and trains."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--how", choices=("fit", "estimator"), default="estimator")
    parser.add_argument("--dir", required=True, help="where checkpoints and logs go")
    flags = parser.parse_args()
    train = trained_by_fit if flags.how == "fit" else trained_by_estimator
    print(json.dumps(results(train(flags.dir), flags.dir)))


if __name__ == "__main__":
    main()
