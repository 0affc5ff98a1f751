"""Copies of layers for a graph: properties that configs leave out, and initial values."""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_train.keras.model_io import Structure


def read_vocabularies(layers: Iterable[Any]) -> dict[str, dict[str, Any]]:
    """Returns entries of configs of lookup layers by name: the vocabularies that they adapted to.

    Vocabularies are read from tables, which is not possible in a graph.

    Args:
      layers: Layers of a model, also those inside of others.
    """
    return {layer.name: _read_vocabulary(layer) for layer in layers if _is_lookup(layer)}


def _is_lookup(layer: Any) -> bool:
    return hasattr(layer, "get_vocabulary")


def _find_table_layer(layer: Any) -> Any:
    # TextVectorization has its own lookup layer.
    return getattr(layer, "_lookup_layer", layer)


def _read_vocabulary(layer: Any) -> dict[str, Any]:
    words = list(layer.get_vocabulary(include_special_tokens=False))
    if not words or not _has_word_weights(layer):
        return {"vocabulary": words or None}
    special = len(layer.get_vocabulary()) - len(words)
    weights = _read_word_weights(layer)[special : special + len(words)]
    return {"vocabulary": words, "idf_weights": weights}


def _has_word_weights(layer: Any) -> bool:
    """Returns whether a lookup layer has weights of words, which `adapt` or its user gave it."""
    table = _find_table_layer(layer)
    return table.output_mode == "tf_idf" and getattr(table, "idf_weights", None) is not None


def _read_word_weights(layer: Any) -> list[float]:
    return list(_find_table_layer(layer).idf_weights.numpy().tolist())


def read_constants(layers: Iterable[Any]) -> dict[str, dict[str, Any]]:
    """Returns what layers keep in attributes after `adapt`, by the names of layers.

    These are the boundaries of Discretization and the weights of words of lookup layers.

    Args:
      layers: Layers of a model, also those inside of others.
    """
    found: dict[str, dict[str, Any]] = {}
    for layer in layers:
        if getattr(layer, "num_bins", None) is not None and hasattr(layer, "bin_boundaries"):
            found[layer.name] = {"bin_boundaries": layer.bin_boundaries}
        elif _is_lookup(layer) and _has_word_weights(layer):
            found[layer.name] = {"idf_weights_const": _read_word_weights(layer)}
    return found


def set_constants(layers: Iterable[Any], constants: Mapping[str, Mapping[str, Any]]) -> None:
    """Gives layers of a graph the attributes of the layers that they copy.

    Args:
      layers: Layers, also those inside of others.
      constants: The attributes by the names of layers.
    """
    for layer in layers:
        for name, value in constants.get(layer.name, {}).items():
            if name == "idf_weights_const":
                # The variable that Keras reads instead has no value in a graph.
                _find_table_layer(layer).idf_weights_const = tf.constant(value, tf.float32)
            else:
                setattr(layer, name, value)


def set_vocabularies(config: Structure, vocabularies: Mapping[str, Mapping[str, Any]]) -> None:
    """Puts vocabularies into a config of a layer, or of a model with layers.

    Args:
      config: The config, which is changed.
      vocabularies: Entries by the names of layers.
    """
    if isinstance(config, dict):
        if "vocabulary" in config and config.get("name") in vocabularies:
            config.update(vocabularies[config["name"]])
        for value in config.values():
            set_vocabularies(value, vocabularies)
    elif isinstance(config, (list, tuple)):
        for value in config:
            set_vocabularies(value, vocabularies)


@contextlib.contextmanager
def keep_vocabulary_sizes(layers: Any) -> Iterator[None]:
    """Lets lookup layers in a graph have the sizes of their configs.

    They would read them from tables, and refuse a tensor as "changed after the layer is called".

    Args:
      layers: `keras.layers` or `tf_keras.layers`.
    """
    classes = (layers.StringLookup, layers.IntegerLookup)
    read_size = classes[0].vocabulary_size

    def find_size(layer: Any) -> Any:
        size = layer._frozen_vocab_size
        is_known = isinstance(size, int) and not tf.executing_eagerly()
        return size if is_known else read_size(layer)

    with contextlib.ExitStack() as stack:
        for cls in classes:
            stack.enter_context(_replace_inherited(cls, "vocabulary_size", find_size))
        yield


@contextlib.contextmanager
def _replace_inherited(cls: Any, name: str, value: Any) -> Iterator[None]:
    """Gives a class its own attribute in the place of an inherited one."""
    setattr(cls, name, value)
    try:
        yield
    finally:
        if name in vars(cls):
            delattr(cls, name)


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


class InitialValues:
    """Tensors that initialize the variables of a graph."""

    def __init__(self) -> None:
        self._tensors: dict[str, tf.Tensor | None] = {}

    def record_variables(self) -> contextlib.AbstractContextManager[Any]:
        """Records the variables that are made inside this context."""
        return tf.variable_creator_scope(self._create)

    def make_feeds(
        self, variables: Sequence[tf.Variable], values: Sequence[np.ndarray]
    ) -> dict[tf.Tensor, np.ndarray]:
        """Returns a feed_dict that initializes variables with given values.

        Fed values take no space in the graph, and every tensor that depends on an initial value,
        such as the variable's copies on other replicas, depends on the fed value.

        Args:
          variables: Variables that were made inside the context.
          values: Values of the same shapes, in the same order.
        """
        tensors = [self._tensors[variable.name] for variable in variables]
        pairs = zip(tensors, values, strict=True)
        return {tensor: value for tensor, value in pairs if tensor is not None}

    def _create(self, next_creator: Callable[..., Any], **arguments: Any) -> Any:
        given = arguments["initial_value"]
        made: list[tf.Tensor] = []

        def note_value(*args: Any, **kwargs: Any) -> tf.Tensor:
            made.append(tf.convert_to_tensor(given(*args, **kwargs)))
            return made[-1]

        if callable(given):
            arguments["initial_value"] = note_value
        variable = next_creator(**arguments)
        if not callable(given):
            made.append(variable.initial_value)
        # A mirrored variable computes the first replica's value, and the others copy it.
        self._tensors[variable.name] = made[0] if made else None
        return variable
