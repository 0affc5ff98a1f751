"""Checks that a written Keras model gives the same predictions as its checkpoint."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow as tf
import tf_keras

from estimator_train.cli.output.errors import UsageError
from estimator_train.keras.checkpoints.saved_variables import read_saved_variables
from estimator_train.keras.graph.layer_classes import keep_layer_classes
from estimator_train.keras.graph.model_operations import list_variables
from estimator_train.keras.graph.rebuilding import Blueprint
from estimator_train.keras.model_checks import is_keras_3
from estimator_train.keras.model_files import load_model_file

_ROWS = 8
_TOLERANCE = 1e-5


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
    specs = [tf.TensorSpec(tensor.shape, tensor.dtype) for tensor in inputs]
    return specs[0] if len(specs) == 1 else specs


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
    if is_keras_3(model):
        from estimator_train.keras.keras3.predict_checkpoint import predict_checkpoint

        return predict_checkpoint(model, values, saved, names)
    blueprint = Blueprint(model)
    with keep_layer_classes(), tf.Graph().as_default():
        built = blueprint.call(tf.nest.map_structure(tf.constant, values), training=False)
        keys = (saved.keys[name] for name in names.values())
        saver = tf.compat.v1.train.Saver(dict(zip(keys, list_variables(built.model), strict=True)))
        with tf.compat.v1.Session() as session:
            session.run(tf.compat.v1.tables_initializer())
            saver.restore(session, saved.path)
            return session.run([built.outputs[name] for name in built.names.names])
