"""Models of the presets: functions that return compiled tf_keras models."""

import os
from collections.abc import Sequence

import tf_keras

from estimator_train.cli.output.errors import UsageError


def digits(learning_rate: float) -> tf_keras.Model:
    """Returns the ConvNet of TensorFlow's tutorial for pictures of 8x8 pixels.

    The convolutions are padded, because 8x8 pixels are too few for three unpadded ones.

    Args:
      learning_rate: Learning rate of Adam.
    """
    return _build_convnet(8, "same", learning_rate)


def fashion_mnist(learning_rate: float) -> tf_keras.Model:
    """Returns the ConvNet of TensorFlow's tutorial for pictures of 28x28 pixels.

    Args:
      learning_rate: Learning rate of Adam.
    """
    return _build_convnet(28, "valid", learning_rate)


def oct_vgg16(
    image_size: int, labels: Sequence[str], weights: str | None, learning_rate: float
) -> tf_keras.Model:
    """Returns VGG16 with a small dense head; the head and the last four layers are trainable.

    Args:
      image_size: Height and width of the pictures, in pixels; 32 or more.
      labels: The classes.
      weights: `imagenet`, the path of a weights file, or None for random weights.
      learning_rate: Learning rate of Adam.

    Raises:
      UsageError: The pictures are too small, there are fewer than two classes, or the weights file
        does not exist.
    """
    if image_size < 32:
        raise UsageError(f"--image_size={image_size}: VGG16 needs pictures of 32 pixels or more.")
    if len(labels) < 2:
        raise UsageError(f"--labels={','.join(labels)}: at least two classes are needed.")
    if weights not in (None, "imagenet") and not os.path.exists(weights):
        raise UsageError(f"--weights={weights}: this is neither 'imagenet' nor an existing file.")
    base = tf_keras.applications.VGG16(
        include_top=False, weights=weights, input_shape=(image_size, image_size, 3)
    )
    for layer in base.layers[:-4]:
        layer.trainable = False
    hidden = tf_keras.layers.Flatten()(base.output)
    hidden = tf_keras.layers.Dense(256, activation="relu")(hidden)
    output = tf_keras.layers.Dense(len(labels), activation="softmax", name="probabilities")(hidden)
    return _compile(tf_keras.Model(base.input, output), learning_rate)


def _build_convnet(image_size: int, padding: str, learning_rate: float) -> tf_keras.Model:
    layers = tf_keras.layers
    model = tf_keras.Sequential(
        [
            layers.Input((image_size, image_size, 1), name="images"),
            layers.Conv2D(32, 3, activation="relu", padding=padding),
            layers.MaxPooling2D(2),
            layers.Conv2D(64, 3, activation="relu", padding=padding),
            layers.MaxPooling2D(2),
            layers.Conv2D(64, 3, activation="relu", padding=padding),
            layers.Flatten(),
            layers.Dense(64, activation="relu"),
            layers.Dense(10, activation="softmax", name="probabilities"),
        ]
    )
    return _compile(model, learning_rate)


def _compile(model: tf_keras.Model, learning_rate: float) -> tf_keras.Model:
    model.compile(
        optimizer=tf_keras.optimizers.Adam(learning_rate),
        loss="categorical_crossentropy",
        metrics=["accuracy"],
    )
    return model
