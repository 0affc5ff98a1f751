"""Keras models of commands: those of the presets, and the check of a written one.

The models of the presets are compiled tf_keras models.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
import tf_keras

from estimator_train.cli.errors import UsageError
from estimator_train.keras.family import find_family, is_keras_3, load_model_file
from estimator_train.keras.matching import read_saved_variables

_ROWS = 8
_TOLERANCE = 1e-5


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


def check_predictions(
    model: tf_keras.Model, path: str, source: str, names: Mapping[str, str], safe_mode: bool = True
) -> float:
    """Predicts one batch with the file and with the checkpoint, and compares.

    Args:
      model: The eager model that was written.
      path: The file or directory of the written model.
      source: The model_dir or checkpoint of the weights.
      names: Maps names of the model's variables, in their order, to names in the checkpoint.
      safe_mode: Whether to refuse a file with Python code.

    Returns:
      The largest difference, relative to the largest prediction.

    Raises:
      UsageError: The difference is larger than rounding errors, or the file has Python code.
    """
    features = tf.nest.map_structure(_make_random_batch, _get_input_specs(model))
    written = _load_model(path, safe_mode)
    actual = [output.numpy() for output in tf.nest.flatten(written(features, training=False))]
    expected = _predict_in_graph(model, features, source, names)
    difference = max(
        float(np.max(np.abs(a - e), initial=0) / max(1e-6, np.max(np.abs(e))))
        for a, e in zip(actual, expected, strict=True)
    )
    if not difference <= _TOLERANCE:
        raise UsageError(
            f"{path} was written, but its predictions differ from those of the checkpoint (by "
            f"{difference:.2g}, relative). Check that --model builds the trained model, and check "
            "the names above, which --name_map can correct."
        )
    return difference


def _load_model(path: str, safe_mode: bool) -> tf_keras.Model:
    try:
        return load_model_file(path, compile=False, safe_mode=safe_mode)
    except ValueError as error:
        if not safe_mode or "safe_mode" not in str(error):
            raise
        raise UsageError(
            f"{path} was written, but not checked: it contains Python code of a Lambda layer, and "
            "loading the file would run this code. Use a layer class instead, or allow the code "
            "with --nosafe_mode, like load_model(..., safe_mode=False)."
        ) from error


def _get_input_specs(model: tf_keras.Model) -> Any:
    """Returns the specs of the model's inputs, in their structure."""
    if is_keras_3(model):
        return _get_keras_3_specs(model)
    if model.inputs:
        return tf.nest.map_structure(lambda t: tf.TensorSpec(t.shape, t.dtype), model.input)
    return model.save_spec()[0][0]


def _get_keras_3_specs(model: Any) -> Any:
    inputs = getattr(model, "inputs", None)
    if not inputs:
        raise UsageError(
            f"the model '{model.name}' was written, but not checked: it has no Inputs, whose "
            "shapes the check needs. Build it as a Functional or Sequential model with Inputs, "
            "or use keras.load_trained and Model.save in Python."
        )
    # Keras refuses a list in the place of a dict. A Sequential model has no `input`.
    declared = inputs[0] if len(inputs) == 1 else model.input
    return tf.nest.map_structure(lambda t: tf.TensorSpec(t.shape, t.dtype), declared)


def _make_random_batch(spec: tf.TensorSpec) -> tf.Tensor:
    shape = [_ROWS, *(size or 1 for size in spec.shape[1:])]
    generator = np.random.default_rng(0)
    if spec.dtype == tf.string:
        return tf.fill(shape, "a")
    if spec.dtype.is_floating:
        return tf.constant(generator.standard_normal(shape), spec.dtype)
    return tf.cast(tf.constant(generator.integers(0, 2, shape)), spec.dtype)


def _predict_in_graph(
    model: tf_keras.Model, features: Any, source: str, names: Mapping[str, str]
) -> list[np.ndarray]:
    """Predicts in a graph, with the variables restored from the checkpoint."""
    saved = read_saved_variables(source)
    values = tf.nest.map_structure(lambda t: t.numpy(), features)
    return find_family(model, "model").predict_checkpoint(model, values, saved, names)
