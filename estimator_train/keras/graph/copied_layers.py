"""Layers of a model in a copy of it: what their configs do not tell."""

import functools
from typing import Any

import tensorflow as tf
import tf_keras


def lookup_configs(model: Any) -> dict[str, dict[str, Any]]:
    """The configs of a model's lookup layers by name, with the vocabularies they adapted to.

    They are read from tables, which is not possible in a graph.
    """
    return {
        layer.name: {
            **layer.get_config(),
            "vocabulary": layer.get_vocabulary(include_special_tokens=False),
        }
        for layer in model.layers
        if hasattr(layer, "get_vocabulary")
    }


def own_config(config: Any) -> Any:
    """A config for one `from_config`, which may take away what it has used.

    Its dicts and lists are copied, and what they hold is not.
    """
    if isinstance(config, dict):
        return {key: own_config(value) for key, value in config.items()}
    if isinstance(config, list):
        return [own_config(value) for value in config]
    return config


@functools.cache
def connected(cls: Any) -> Any:
    """A layer class for an operation such as `1 - x`, whose first argument is not a tensor.

    A layer that is made in a graph looks at its first argument alone to tell whether it is part of
    a model, and a model is refused for such an operation.
    """

    class Connected(cls):
        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            outputs = super().__call__(*args, **kwargs)
            if all(hasattr(output, "_keras_history") for output in tf.nest.flatten(outputs)):
                return outputs
            return self._set_connectivity_metadata(args, kwargs, outputs)

    Connected.__name__ = cls.__name__
    return Connected


def copy_trainable(source: Any, target: Any) -> None:
    """Freezes the layers that are frozen in `source`, a flag that configs of models leave out."""
    flags = [layer.trainable for layer in _layers(source)]
    layers = _layers(target)
    if len(flags) != len(layers):
        return
    for layer, trainable in zip(layers, flags, strict=True):
        if layer.trainable != trainable:
            layer.trainable = trainable


def _layers(model: Any) -> list[Any]:
    return [
        part
        for part in (model, *model.submodules)
        if isinstance(part, tf_keras.layers.Layer) and not isinstance(part, tf_keras.metrics.Metric)
    ]
