"""A folder of JPEG files, a folder a class, and transfer learning: a trained base, a new top.

    python examples/jpeg_transfer.py --pictures=DIR --model_dir=runs/jpegs --weights=imagenet

Without --pictures a few are made up; without --weights the base is as it is drawn, which is of no
use but to try the program out, and needs no network.
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


def make_up(directory: str) -> str:
    """Writes pictures of two classes, light and dark."""
    random = np.random.default_rng(0)
    for name, low in (("dark", 0), ("light", 128)):
        os.makedirs(os.path.join(directory, name), exist_ok=True)
        for number in range(24):
            pixels = random.integers(low, low + 128, [100, 120, 3], np.uint8)
            Image.fromarray(pixels).save(os.path.join(directory, name, f"{number}.jpeg"))
    return directory


def build(classes: int, weights: str | None) -> tf_keras.Model:
    """A MobileNetV2 that is not trained, and a layer that is."""
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
    """Trains, evaluates and says how fast it was."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pictures")
    parser.add_argument("--model_dir", default="runs/jpegs")
    parser.add_argument("--weights")
    parser.add_argument("--steps", type=int, default=30)
    flags = parser.parse_args()
    directory = flags.pictures or make_up(os.path.join(flags.model_dir, "pictures"))
    classes = sorted(entry.name for entry in os.scandir(directory) if entry.is_dir())

    def pictures(**more: object) -> tf.data.Dataset:
        return input_fns.image_folder(
            os.path.join(directory, "*", "*.jpeg"), classes, SIZE, batch_size=8, **more
        )

    estimator = est.keras.model_to_estimator(
        build(len(classes), flags.weights), model_dir=flags.model_dir
    )
    timing = est.hooks.TimeHistory(batch_size=8)
    estimator.train(lambda: pictures(shuffle=True), steps=flags.steps, hooks=[timing])
    print(timing.report())
    print("accuracy", estimator.evaluate(lambda: pictures(num_epochs=1))["accuracy"])


if __name__ == "__main__":
    main()
