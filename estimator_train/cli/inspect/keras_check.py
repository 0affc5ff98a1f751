"""Whether a Keras model that was written predicts what the checkpoint it came from does."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow as tf
import tf_keras

from estimator_train.cli.output.errors import UsageError
from estimator_train.keras.checkpoints.saved_variables import saved_variables
from estimator_train.keras.graph.layer_classes import kept_layer_classes
from estimator_train.keras.graph.model_operations import variables_of
from estimator_train.keras.graph.rebuilding import Blueprint

_ROWS = 8
_TOLERANCE = 1e-5


def check_predictions(
    model: Any, path: str, source: str, names: Mapping[str, str], safe_mode: bool = True
) -> float:
    """Predicts one batch with the file and with the checkpoint, and compares.

    Args:
      model: The eager model that was written.
      path: Where it was written.
      source: The model_dir or checkpoint that its weights are from.
      names: The model's variables, in its order, to the checkpoint's.
      safe_mode: Whether Python code in the file is refused.

    Returns:
      The largest difference, relative to the largest prediction.

    Raises:
      UsageError: They differ by more than rounding, or the file has Python code.
    """
    features = tf.nest.map_structure(_random, _specs(model))
    written = _loaded(path, safe_mode)
    found = tf.nest.flatten(written(features, training=False))
    expected = _predicted_in_graph(model, features, source, list(names.values()))
    difference = max(
        float(np.max(np.abs(ours - theirs), initial=0) / max(1e-6, np.max(np.abs(theirs))))
        for ours, theirs in zip((t.numpy() for t in found), expected, strict=True)
    )
    if not difference <= _TOLERANCE:
        raise UsageError(
            f"{path} was written, but its predictions differ from the checkpoint's (by "
            f"{difference:.2g}, relative). Check that --model is the model that was trained, and "
            "the list of names above, which --name_map corrects."
        )
    return difference


def _loaded(path: str, safe_mode: bool) -> Any:
    try:
        return tf_keras.models.load_model(path, compile=False, safe_mode=safe_mode)
    except ValueError as error:
        if not safe_mode or "safe_mode" not in str(error):
            raise
        raise UsageError(
            f"{path} was written, but not checked: it holds Python code of a Lambda layer, and "
            "loading the file runs that code. Use a layer class instead; or trust the file by "
            "--nosafe_mode, as load_model(..., safe_mode=False) does."
        ) from error


def _specs(model: Any) -> Any:
    """What the model is called on."""
    if model.inputs:
        return tf.nest.map_structure(lambda t: tf.TensorSpec(t.shape, t.dtype), model.input)
    return model.save_spec()[0][0]


def _random(spec: tf.TensorSpec) -> tf.Tensor:
    shape = [_ROWS, *(size or 1 for size in spec.shape[1:])]
    generator = np.random.default_rng(0)
    if spec.dtype == tf.string:
        return tf.fill(shape, "a")
    if spec.dtype.is_floating:
        return tf.constant(generator.standard_normal(shape), spec.dtype)
    return tf.cast(tf.constant(generator.integers(0, 2, shape)), spec.dtype)


def _predicted_in_graph(
    model: Any, features: Any, source: str, names: list[str]
) -> list[np.ndarray]:
    """Predictions of the model in a graph, its variables restored from the checkpoint."""
    saved, blueprint = saved_variables(source), Blueprint(model)
    values = tf.nest.map_structure(lambda t: t.numpy(), features)
    with kept_layer_classes(), tf.Graph().as_default():
        built = blueprint.call(tf.nest.map_structure(tf.constant, values), training=False)
        keys = (saved.keys[name] for name in names)
        saver = tf.compat.v1.train.Saver(dict(zip(keys, variables_of(built.model), strict=True)))
        with tf.compat.v1.Session() as session:
            session.run(tf.compat.v1.tables_initializer())
            saver.restore(session, saved.path)
            return session.run([built.outputs[name] for name in built.names.names])
