"""Properties of layers that their configs leave out, for copies of a model."""

import functools
from typing import Any

import tensorflow as tf
import tf_keras

from estimator_train.keras.graph.structures import Structure


def list_lookup_configs(model: tf_keras.Model) -> dict[str, dict[str, Any]]:
    """Returns configs of lookup layers by name, with the vocabularies that they adapted to.

    Vocabularies are read from tables, which is not possible in a graph.
    """
    return {
        layer.name: {
            **layer.get_config(),
            "vocabulary": layer.get_vocabulary(include_special_tokens=False),
        }
        for layer in model.layers
        if hasattr(layer, "get_vocabulary")
    }


def copy_config(config: Structure) -> Structure:
    """Copies a config's dicts, lists and tuples: `from_config` may remove entries that it has used.

    The values in them are not copied.
    """
    if isinstance(config, dict):
        return {key: copy_config(value) for key, value in config.items()}
    if isinstance(config, list):
        return [copy_config(value) for value in config]
    if type(config) is tuple:
        return tuple(copy_config(value) for value in config)
    return config


@functools.cache
def make_connected_class(cls: Any) -> Any:
    """Returns a layer class for operations such as `1 - x`, whose first argument is no tensor.

    A layer in a graph decides by its first argument alone whether it is part of a model, and
    tf_keras refuses a model with such an operation.
    """

    class Connected(cls):
        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            outputs = super().__call__(*args, **kwargs)
            if all(hasattr(output, "_keras_history") for output in tf.nest.flatten(outputs)):
                return outputs
            return self._set_connectivity_metadata(args, kwargs, outputs)

    Connected.__name__ = cls.__name__
    return Connected


def copy_trainable(source: tf_keras.Model, target: tf_keras.Model) -> None:
    """Freezes the layers that are frozen in `source`; configs of models leave this flag out."""
    flags = [layer.trainable for layer in _list_layers(source)]
    layers = _list_layers(target)
    if len(flags) != len(layers):
        return
    for layer, trainable in zip(layers, flags, strict=True):
        if layer.trainable != trainable:
            layer.trainable = trainable


def _list_layers(model: tf_keras.Model) -> list[tf_keras.layers.Layer]:
    return [
        part
        for part in (model, *model.submodules)
        if isinstance(part, tf_keras.layers.Layer) and not isinstance(part, tf_keras.metrics.Metric)
    ]
