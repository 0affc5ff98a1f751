"""Transfer learning on JPEG files in a folder for each class: a trained base and a new top layer.

    python examples/jpeg_transfer.py --pictures=DIR --model_dir=runs/jpegs --weights=imagenet

Without --pictures the program generates some. Without --weights the base has random weights: this
needs no network, but is useful only to try the program.
"""

import argparse
import os

import numpy as np
import tensorflow as tf
import tf_keras
from PIL import Image

import estimator_train as est
import input_fns

SIZE = (96, 96)


def write_pictures(directory: str) -> str:
    """Writes pictures of two classes, light and dark, and returns their directory."""
    random = np.random.default_rng(0)
    for name, low in (("dark", 0), ("light", 128)):
        os.makedirs(os.path.join(directory, name), exist_ok=True)
        for number in range(24):
            pixels = random.integers(low, low + 128, [100, 120, 3], np.uint8)
            Image.fromarray(pixels).save(os.path.join(directory, name, f"{number}.jpeg"))
    return directory


def build(classes: int, weights: str | None) -> tf_keras.Model:
    """Returns a MobileNetV2 with fixed weights and a trainable layer."""
    base = tf_keras.applications.MobileNetV2(
        (*SIZE, 3), alpha=0.35, include_top=False, weights=weights, pooling="avg"
    )
    base.trainable = False
    model = tf_keras.Sequential([base, tf_keras.layers.Dense(classes, activation="softmax")])
    model.compile(
        tf_keras.optimizers.Adam(0.01), loss="categorical_crossentropy", metrics=["accuracy"]
    )
    return model


def main() -> None:
    """Trains, evaluates, and prints the speed and the accuracy."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pictures")
    parser.add_argument("--model_dir", default="runs/jpegs")
    parser.add_argument("--weights")
    parser.add_argument("--steps", type=int, default=30)
    flags = parser.parse_args()
    directory = flags.pictures or write_pictures(os.path.join(flags.model_dir, "pictures"))
    classes = sorted(entry.name for entry in os.scandir(directory) if entry.is_dir())

    def read_pictures(**settings: object) -> tf.data.Dataset:
        return input_fns.image_folder(
            os.path.join(directory, "*", "*.jpeg"), classes, SIZE, batch_size=8, **settings
        )

    estimator = est.keras.model_to_estimator(
        build(len(classes), flags.weights), model_dir=flags.model_dir
    )
    timing = est.hooks.TimeHistory(batch_size=8)
    estimator.train(lambda: read_pictures(shuffle=True), steps=flags.steps, hooks=[timing])
    print(timing.report())
    print("accuracy", estimator.evaluate(lambda: read_pictures(num_epochs=1))["accuracy"])


if __name__ == "__main__":
    main()
