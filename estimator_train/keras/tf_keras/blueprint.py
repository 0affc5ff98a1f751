"""Rebuilds Keras models in the default graph, on the tensors of a batch."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import tensorflow as tf
import tf_keras

from estimator_train.keras.copied_layers import (
    copy_config,
    keep_vocabulary_sizes,
    read_constants,
    read_vocabularies,
    set_constants,
    set_vocabularies,
)
from estimator_train.keras.model_io import Names, Structure
from estimator_train.keras.tf_keras.graph_calls import (
    cast_floats,
    cast_to_declared,
    copy_trainable,
    find_operations_on_placeholders,
    in_keras_call,
    is_as_declared,
    keep_layer_classes,
    list_assignments,
    list_layers,
    list_variables,
    make_connected_class,
    make_placeholder_like,
    order_updates,
)

_LOG = tf.get_logger()
# A model, the structure of its outputs, and operations of its calls on other data than the batch.
_BuiltModel: TypeAlias = tuple[tf_keras.Model, Structure, set[tf.Operation]]


@dataclasses.dataclass(frozen=True)
class TfKerasGraphModel:
    """Keras model in the default graph, called on a batch.

    Attributes:
      model: The tf_keras Model, with its weights in this graph.
      names: The names of its outputs.
      outputs: Its outputs by name.
      updates: Operations that update statistics and other state of its layers.
      losses: Losses of its layers: regularization and `add_loss`.
    """

    model: tf_keras.Model
    names: Names
    outputs: dict[str, tf.Tensor]
    updates: Sequence[tf.Operation]
    losses: Sequence[tf.Tensor]


class TfKerasBlueprint:
    """Rebuilds a Keras model in graphs.

    Functional and Sequential models are cloned layer by layer on the tensors of a batch; other
    models are made from their config and called. Operations and variables keep their names.

    Args:
      model: A tf_keras Model, eager. It is read, never changed.
      custom_objects: Names to classes and functions that the model's config needs, or None.
      remake: Function that builds the model again, for subclassed models without a config; or
        None.

    Raises:
      ValueError: A subclassed model cannot be made again from its config.
    """

    def __init__(
        self,
        model: tf_keras.Model,
        custom_objects: Mapping[str, Any] | None = None,
        remake: Callable[[], Any] | None = None,
    ) -> None:
        self._model = model
        self._custom_objects = dict(custom_objects or {})
        self._remake = remake or self._remake_from_config
        values = tf_keras.backend.batch_get_value(list_variables(model)) if model.built else []
        self.weights: list[np.ndarray] = list(values)
        if self.is_layered:
            self._vocabularies = read_vocabularies(list_layers(model))
            self._constants = read_constants(list_layers(model))
        elif remake is None:
            self._config = _read_config(model)
            with keep_layer_classes():
                # Raises here, not in the middle of a job. As under tf.estimator it takes names from
                # the caller's graph: later models without a name keep the names of checkpoints.
                self._remake_from_config()

    def build_eager_copy(self) -> Any:
        """Builds another eager model like this one, with its own weights and not compiled."""
        with tf_keras.utils.custom_object_scope(self._custom_objects):
            layered = self.is_layered
            copied = tf_keras.models.clone_model(self._model) if layered else self._remake()
        copy_trainable(self._model, copied)
        return copied

    @property
    def is_functional(self) -> bool:
        """Whether the model's inputs and outputs are known without calling it."""
        return bool(self._model.inputs)

    @property
    def is_layered(self) -> bool:
        """Whether the model is Functional or Sequential, not subclassed."""
        return self.is_functional or type(self._model) is tf_keras.Sequential

    def call(
        self, features: Structure, training: bool, *, allows_other_shapes: bool = False
    ) -> TfKerasGraphModel:
        """Rebuilds the model in the default graph and calls it.

        Args:
          features: Tensor, or list, tuple or dict of tensors.
          training: Whether layers run in training mode.
          allows_other_shapes: Warns where weights have other shapes than in the given model, for
            predictions and exports.

        Raises:
          FormattedKeyError: A dict of features lacks an input of the model.
          ValueError: The features do not fit the model's inputs, or the weights of a Functional or
            Sequential model have other shapes than in the given model.
        """
        graph = tf.compat.v1.get_default_graph()
        inputs = features
        if self.is_functional:
            inputs = self._prepare_features(features, training)
            features = dict(zip(self._model.input_names, inputs, strict=True))  # for errors
        before = len(graph.get_operations())
        model, result, of_other_data = self._build(inputs, training)
        self._check_weights(model, features, allows_other_shapes)
        operations = graph.get_operations()[before:]
        unused = find_operations_on_placeholders(operations) | of_other_data
        added = [getattr(update, "op", update) for update in model.updates]
        updates = list(dict.fromkeys([*added, *list_assignments(model, operations)]))
        updates = [update for update in updates if update not in unused]
        order_updates(model, operations, updates)
        tensors = tf.nest.flatten(result)
        numbered = [f"output_{i}" for i in range(1, len(tensors) + 1)]
        names = Names.from_structure(model.output_names if self.is_layered else numbered, result)
        return TfKerasGraphModel(
            model,
            names,
            dict(zip(names.names, tensors, strict=True)),
            updates=updates,
            losses=[loss for loss in model.losses if loss.op not in unused],
        )

    def _build(self, features: Structure, training: bool) -> _BuiltModel:
        make = self._clone if self.is_layered else self._remake_and_call
        with (
            tf_keras.utils.custom_object_scope(self._custom_objects),
            keep_vocabulary_sizes(tf_keras.layers),
        ):
            return in_keras_call(lambda: make(features), training)

    def make_placeholders(self) -> Any:
        """Returns placeholders for the model's inputs in the default graph.

        Raises:
          ValueError: The inputs are not known.
        """
        taken = self._model.inputs
        if not self.is_functional:
            called = self._model.save_spec()  # What a subclassed model was called on.
            if called is None:
                raise ValueError(
                    f"The inputs of the Keras model '{self._model.name}' are not known. Call it "
                    "once on features."
                )
            taken = called[0][0]
        return tf.nest.map_structure(
            lambda one: tf.compat.v1.placeholder(one.dtype, one.shape), taken
        )

    def _prepare_features(self, features: Structure, training: bool) -> list[Any]:
        """Returns features in the order of the inputs, cast to the Inputs if layers need it.

        A feature replaces an Input of any dtype and shape. Features that layers do not take, such
        as integers or pictures where a layer multiplies rows of floats, are cast and reshaped.
        """
        names = self._model.input_names
        by_name = Names.from_structure(names, self._model.input).pick(
            features, "features", "inputs", names
        )
        given, symbols = list(by_name.values()), self._model.inputs
        floats = list(map(cast_floats, given, symbols))
        if all(map(is_as_declared, floats, symbols)):
            return floats
        if self._accepts(given, training):
            return given
        return list(map(cast_to_declared, floats, symbols))

    def _accepts(self, features: Sequence[Any], training: bool) -> bool:
        """Returns whether the model can be called on such features; tries it in another graph."""
        with tf.Graph().as_default():
            given = list(map(make_placeholder_like, features))
            try:
                model, *_ = self._build(given, training)
            except Exception as error:
                _LOG.info(
                    "The features are cast to the dtypes and shapes of the Inputs of the Keras "
                    "model '%s', as it does not take them otherwise: %s: %s",
                    self._model.name,
                    type(error).__name__,
                    error,
                )
                return False
        return self.fits(model)

    def _clone(self, features: Structure) -> _BuiltModel:
        tensors = tf.nest.flatten(features)
        if isinstance(self._model, tf_keras.Sequential):
            if len(tensors) != 1:
                raise ValueError(
                    f"The Sequential model '{self._model.name}' takes one feature, but input_fn "
                    f"returned {len(tensors)}: {features}"
                )
            # For a Sequential model, clone_model takes sparse and ragged tensors only as an Input.
            tensors = [tf_keras.Input(tensor=tensors[0])]
        model = tf_keras.models.clone_model(
            self._model, input_tensors=tensors, clone_function=self._copy_layer
        )
        return model, model.output, set()

    def _copy_layer(self, layer: tf_keras.layers.Layer) -> tf_keras.layers.Layer:
        config = copy_config(layer.get_config())
        set_vocabularies(config, self._vocabularies)
        layer_class: Any = type(layer)
        if layer_class.__name__ == "TFOpLambda":
            layer_class = make_connected_class(layer_class)
        copied = layer_class.from_config(config)
        set_constants(list_layers(copied), self._constants)
        return copied

    def _remake_and_call(self, features: Structure) -> _BuiltModel:
        graph = tf.compat.v1.get_default_graph()
        before = len(graph.get_operations())
        model = self._remake()
        unused = set(graph.get_operations()[before:])
        for metric in model.metrics:
            # Otherwise an earlier call on other data would update the metric.
            metric._updates = [update for update in metric.updates if update not in unused]
        copy_trainable(self._model, model)
        result = model(features)
        copy_trainable(self._model, model)
        return model, result, unused

    def _remake_from_config(self) -> Any:
        with tf_keras.utils.custom_object_scope(self._custom_objects):
            return type(self._model).from_config(copy_config(self._config))

    def fits(self, model: tf_keras.Model) -> bool:
        """Returns whether a rebuilt model has weights of the same shapes as the given model."""
        return not self.weights or _list_shapes(list_variables(model)) == _list_shapes(self.weights)

    def _check_weights(
        self, model: tf_keras.Model, features: Structure, allows_other_shapes: bool
    ) -> None:
        if self.fits(model):
            return
        message = (
            f"The Keras model '{self._model.name}' has weights of the shapes "
            f"{_list_shapes(self.weights)}, but rebuilt from its config they are "
            f"{_list_shapes(list_variables(model))}. If it was changed after it was constructed, "
            "it needs a get_config() with the change; otherwise input_fn must return features of "
            f"the shapes that the model was built for: it returned {features}."
        )
        if allows_other_shapes:
            _LOG.warning("%s The weights of the checkpoint do not fit these features.", message)
        elif self.is_layered:
            raise ValueError(message)
        else:
            _LOG.warning("%s Training starts from new weights.", message)


def _list_shapes(values: Sequence[Any]) -> list[tuple[int, ...]]:
    return [tuple(value.shape) for value in values]


def _read_config(model: tf_keras.Model) -> dict[str, Any]:
    """Returns the config of a subclassed model, or of a Sequential model that was never called.

    Raises:
      ValueError: The model has no config.
    """
    own = type(model).get_config is not tf_keras.Model.get_config
    # tf_keras sets this attribute where it could record the constructor's arguments. Without it
    # get_config() returns an empty dict, which would silently build another model.
    if not own and not getattr(model, "_auto_get_config", False):
        raise ValueError(
            f"The Keras model '{model.name}' cannot be built again in a graph: arguments of "
            f"{type(model).__name__}.__init__ are no plain values, and the class has no "
            "get_config(). Give it a get_config() that returns them (and a from_config() if they "
            "need more than the constructor)."
        )
    return model.get_config()
