"""Keras models rebuilt in the default graph, on the tensors of a batch."""

import dataclasses
import warnings
from collections.abc import Mapping
from typing import Any

import tensorflow as tf
import tf_keras

from estimator_train.keras.layer_classes import kept_layer_classes
from estimator_train.keras.names import Names


@dataclasses.dataclass(frozen=True)
class GraphModel:
    """A Keras model in the default graph, called on a batch.

    Attributes:
      model: The tf_keras Model, with its weights, updates and losses in this graph.
      names: The names of its outputs.
      outputs: Its outputs by name.
    """

    model: Any
    names: Names
    outputs: dict[str, tf.Tensor]


class Blueprint:
    """All it takes to rebuild a Keras model in a graph.

    Functional models, and Sequential ones that know their input, are cloned layer by layer on the
    tensors of a batch; other models are made from their config and called. Either way operations
    and variables have the names that they have in the original.

    Args:
      model: A tf_keras Model, eager. It is read, never changed.
      custom_objects: Names to classes and functions that the model's config needs, or None.

    Raises:
      ValueError: A subclassed model cannot be made again from its config.
    """

    def __init__(self, model: Any, custom_objects: Mapping[str, Any] | None = None) -> None:
        self._model = model
        self._custom_objects = dict(custom_objects or {})
        self.weights = model.get_weights() if model.built else []
        if self.is_functional:
            self.inputs = Names.of(model.input_names, model.input)
            return
        self._config = _config_of(model)
        with kept_layer_classes(), tf.Graph().as_default():
            self._from_config()  # raises here, not in the middle of a job

    @property
    def is_functional(self) -> bool:
        """Whether the model's inputs and outputs are known without calling it."""
        return bool(self._model.inputs)

    def call(self, features: Any, training: bool) -> GraphModel:
        """Rebuilds the model in the default graph and calls it.

        Args:
          features: Tensor, or list, tuple or dict of tensors.
          training: Whether layers act as in training.

        Raises:
          FormattedKeyError: A dict of features does not have all of the model's inputs.
          ValueError: The features do not fit the model's inputs, or the model comes out with other
            weights than the given one.
        """
        _set_learning_phase(training)
        with tf_keras.utils.custom_object_scope(self._custom_objects):
            made = self._clone(features) if self.is_functional else self._make(features)
        self._check_weights(made.model)
        return made

    def placeholders(self) -> list[tf.Tensor]:
        """Returns placeholders for the model's inputs in the default graph.

        Raises:
          ValueError: The inputs are not known.
        """
        if not self.is_functional:
            raise ValueError(f"The inputs of the Keras model '{self._model.name}' are not known.")
        return [
            tf.compat.v1.placeholder(symbol.dtype, symbol.shape) for symbol in self._model.inputs
        ]

    def _clone(self, features: Any) -> GraphModel:
        original = self._model
        given = self.inputs.pick(features, "features", "inputs", self.inputs.names)
        tensors = [
            _fitted(given[name], symbol, name)
            for name, symbol in zip(self.inputs.names, original.inputs, strict=True)
        ]
        model = tf_keras.models.clone_model(original, input_tensors=tensors)
        names = Names.of(original.output_names, original.output)
        return GraphModel(model, names, dict(zip(names.names, model.outputs, strict=True)))

    def _make(self, features: Any) -> GraphModel:
        model = self._from_config()
        _copy_trainable(self._model, model)
        if isinstance(model, tf_keras.Sequential) and isinstance(features, Mapping):
            (features,) = features.values() if len(features) == 1 else (features,)
        result = model(features)
        _copy_trainable(self._model, model)
        tensors = tf.nest.flatten(result)
        names = Names.of([f"output_{i}" for i in range(1, len(tensors) + 1)], result)
        return GraphModel(model, names, dict(zip(names.names, tensors, strict=True)))

    def _from_config(self) -> Any:
        with tf_keras.utils.custom_object_scope(self._custom_objects):
            return type(self._model).from_config(self._config)

    def _check_weights(self, model: Any) -> None:
        made = [tuple(weight.shape) for weight in model.weights]
        given = [weight.shape for weight in self.weights]
        if given and made != given:
            raise ValueError(
                f"The Keras model '{self._model.name}' has weights of the shapes {given}, but made "
                f"anew from its config they are {made}. A model that was changed after it was "
                "constructed needs a get_config() that tells so."
            )


def _config_of(model: Any) -> dict[str, Any]:
    """The config of a subclassed model or of a Sequential one that was never called.

    Raises:
      ValueError: It has none.
    """
    own = type(model).get_config is not tf_keras.Model.get_config
    # tf_keras notes the constructor's arguments, and here whether it could; where it could not,
    # its get_config() is an empty dict, which would make another model without a word.
    if not own and not getattr(model, "_auto_get_config", False):
        raise ValueError(
            f"The Keras model '{model.name}' cannot be built again in a graph: arguments of "
            f"{type(model).__name__}.__init__ are no plain values, and the class has no "
            "get_config(). Give it a get_config() that returns them (and a from_config() if they "
            "need more than the constructor)."
        )
    return model.get_config()


def _set_learning_phase(training: bool) -> None:
    """Tells layers that are called in the default graph, without an argument, how to act."""
    with warnings.catch_warnings():
        # The advice of the warning, an argument in the call, is not open to cloned layers.
        warnings.filterwarnings("ignore", message=".*set_learning_phase")
        tf_keras.backend.set_learning_phase(int(training))


def _fitted(tensor: Any, symbol: Any, name: str) -> Any:
    """A feature with the dtype of the model's input, and its shape where the feature's is unknown.

    Raises:
      ValueError: The shapes contradict each other.
    """
    if not isinstance(tensor, (tf.Tensor, tf.Variable)):
        return tensor
    if not tensor.shape.is_compatible_with(symbol.shape):
        raise ValueError(
            f"Feature '{name}' has the shape {tensor.shape}, but the Keras model's input '{name}' "
            f"takes {symbol.shape}."
        )
    if tensor.dtype != symbol.dtype and tf.string not in (tensor.dtype, symbol.dtype):
        tensor = tf.cast(tensor, symbol.dtype)
    return tf.ensure_shape(tensor, symbol.shape) if tensor.shape.rank is None else tensor


def _copy_trainable(source: Any, target: Any) -> None:
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
