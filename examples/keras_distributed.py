"""Keras' tutorial on distributed training, with `fit` and with the Estimator of this package.

A small ConvNet trains with four callbacks: TensorBoard, a checkpoint for each epoch, a learning
rate of 1e-3, 1e-4 and 1e-5 by epoch, and one that prints the learning rate. Then the program
evaluates the latest checkpoint, saves the model, loads it inside and outside of the scope of a
strategy, and gets equal results:

    python examples/keras_distributed.py --how=fit --dir=runs/fit
    python examples/keras_distributed.py --how=estimator --dir=runs/estimator
"""

import argparse
import json
import os
from typing import Any

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


def batches(split: str) -> tf.data.Dataset:
    """Returns batches of "train" or "test", in the same order each time."""
    is_training = split == "train"
    return input_fns.digits(split, batch_size=BATCH_SIZE, num_epochs=1, drop_remainder=is_training)


def decay(epoch: int) -> float:
    """Returns the learning rate of an epoch."""
    if epoch < 3:
        return 1e-3
    return 1e-4 if epoch < 5 else 1e-5


class PrintLR(tf_keras.callbacks.Callback):
    """Callback that prints the learning rate at the end of each epoch."""

    def on_epoch_end(self, epoch: int, logs: dict[str, float] | None = None) -> None:
        """Prints the learning rate and the loss."""
        rate = float(self.model.optimizer.lr.numpy())
        print(f"Learning rate for epoch {epoch + 1} is {rate:.6f}, loss {logs['loss']:.4f}")


def callbacks(directory: str) -> list[Any]:
    """Returns the four callbacks of the tutorial."""
    return [
        tf_keras.callbacks.TensorBoard(os.path.join(directory, "logs")),
        tf_keras.callbacks.ModelCheckpoint(
            os.path.join(directory, "ckpt_{epoch}.weights.h5"), save_weights_only=True
        ),
        tf_keras.callbacks.LearningRateScheduler(decay),
        PrintLR(),
    ]


def train_by_fit(directory: str) -> tf_keras.Model:
    """Trains with `fit`, and returns the model with the weights of the latest checkpoint."""
    model = build()
    model.fit(batches("train"), epochs=EPOCHS, callbacks=callbacks(directory), verbose=0)
    return est.keras.make_or_restore(build, directory)


def train_by_estimator(directory: str) -> tf_keras.Model:
    """Trains with the Estimator; returns the model with the weights of the latest checkpoint."""
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


def evaluate(model: tf_keras.Model, directory: str) -> dict[str, dict[str, float]]:
    """Evaluates a model, and its saved copy outside and inside the scope of a strategy."""
    path = os.path.join(directory, "model.keras")
    model.save(path)
    unreplicated = tf_keras.models.load_model(path)
    with tf.distribute.MirroredStrategy(["/cpu:0"]).scope():
        replicated = tf_keras.models.load_model(path)
    models = {"latest": model, "loaded": unreplicated, "loaded in scope": replicated}
    return {
        name: model.evaluate(batches("test"), verbose=0, return_dict=True)
        for name, model in models.items()
    }


def main() -> None:
    """Parses the command line, trains, and prints the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--how", choices=("fit", "estimator"), default="estimator")
    parser.add_argument("--dir", required=True, help="directory for checkpoints and logs")
    flags = parser.parse_args()
    train = train_by_fit if flags.how == "fit" else train_by_estimator
    print(json.dumps(evaluate(train(flags.dir), flags.dir)))


if __name__ == "__main__":
    main()
