"""Keras models rebuilt in the default graph, on the tensors of a batch."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf
import tf_keras

from estimator_train.keras.graph.call_context import in_keras_call
from estimator_train.keras.graph.copied_layers import (
    connected,
    copy_trainable,
    lookup_configs,
    own_config,
)
from estimator_train.keras.graph.declared_inputs import (
    as_declared,
    in_float_type,
    is_as_declared,
    placeholder_like,
)
from estimator_train.keras.graph.io_names import Names
from estimator_train.keras.graph.layer_classes import kept_layer_classes
from estimator_train.keras.graph.model_operations import assignments, on_placeholders, variables_of

_LOG = tf.get_logger()


@dataclasses.dataclass(frozen=True)
class GraphModel:
    """A Keras model in the default graph, called on a batch.

    Attributes:
      model: The tf_keras Model, with its weights in this graph.
      names: The names of its outputs.
      outputs: Its outputs by name.
      updates: Operations by which its layers keep statistics and other state.
      losses: Losses of its layers: regularization and what `add_loss` added.
      unused: Operations of calls that the model's maker made, on other data than the batch.
    """

    model: Any
    names: Names
    outputs: dict[str, tf.Tensor]
    updates: Sequence[tf.Operation] = ()
    losses: Sequence[tf.Tensor] = ()
    unused: frozenset[tf.Operation] = frozenset()


class Blueprint:
    """All it takes to rebuild a Keras model in a graph.

    Functional models, and Sequential ones that know their input, are cloned layer by layer on the
    tensors of a batch; other models are made from their config and called. Either way operations
    and variables have the names that they have in the given model.

    Args:
      model: A tf_keras Model, eager. It is read, never changed.
      custom_objects: Names to classes and functions that the model's config needs, or None.
      remake: Makes such a model again, for subclassed ones without a config; or None.

    Raises:
      ValueError: A subclassed model cannot be made again from its config.
    """

    def __init__(
        self,
        model: Any,
        custom_objects: Mapping[str, Any] | None = None,
        remake: Callable[[], Any] | None = None,
    ) -> None:
        self._model = model
        self._custom_objects = dict(custom_objects or {})
        self._remake = remake or self._from_config
        self.weights = _values_of(variables_of(model)) if model.built else []
        if self.is_layered:
            self._lookups = lookup_configs(model)
            return
        if remake:
            return
        self._config = _config_of(model)
        with kept_layer_classes(), tf.Graph().as_default():
            self._from_config()  # raises here, not in the middle of a job

    def eager_copy(self) -> Any:
        """Returns another eager model like this one, not compiled, with weights of its own."""
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
        """Whether the model is nothing but its layers: Functional or Sequential, not subclassed."""
        return self.is_functional or type(self._model) is tf_keras.Sequential

    def call(self, features: Any, training: bool) -> GraphModel:
        """Rebuilds the model in the default graph and calls it.

        Args:
          features: Tensor, or list, tuple or dict of tensors.
          training: Whether layers act as in training.

        Raises:
          FormattedKeyError: A dict of features does not have all of the model's inputs.
          ValueError: The features do not fit the model's inputs, or a Functional or Sequential
            model comes out with other weights than the given one.
        """
        graph = tf.compat.v1.get_default_graph()
        if self.is_functional:
            features = self._as_taken(features, training)
        before = len(graph.get_operations())
        made = self._called(features, training)
        self._check_weights(made.model, features)
        operations = graph.get_operations()[before:]
        unused = on_placeholders(operations) | made.unused
        updates = dict.fromkeys([*made.model.updates, *assignments(made.model, operations)])
        return dataclasses.replace(
            made,
            updates=[operation for operation in updates if operation not in unused],
            losses=[loss for loss in made.model.losses if loss.op not in unused],
        )

    def _called(self, features: Any, training: bool) -> GraphModel:
        of_layers = self._clone if self.is_functional else self._chain
        make = of_layers if self.is_layered else self._make
        with tf_keras.utils.custom_object_scope(self._custom_objects):
            return in_keras_call(lambda: make(features), training)

    def placeholders(self) -> Any:
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

    def _as_taken(self, features: Any, training: bool) -> dict[str, Any]:
        """Features by input, as they are; as the inputs were declared where layers need it so.

        A feature takes the place of an Input whatever that was declared with. What a layer cannot
        take, such as integers or pictures where it multiplies rows of floats, is made fit for it.
        """
        names = self._model.input_names
        given = Names.of(names, self._model.input).pick(features, "features", "inputs", names)
        symbols = dict(zip(names, self._model.inputs, strict=True))
        floats = {name: in_float_type(given[name], symbols[name]) for name in names}
        if all(is_as_declared(floats[name], symbols[name]) for name in names):
            return floats
        if self._takes(given, training):
            return given
        return {name: as_declared(floats[name], symbols[name]) for name in names}

    def _takes(self, features: Mapping[str, Any], training: bool) -> bool:
        """Whether the model can be called on such features, tried in a graph of its own."""
        with tf.Graph().as_default():
            try:
                given = tf.nest.map_structure(placeholder_like, dict(features))
                self._check_weights(self._called(given, training).model, given)
            except Exception:  # Whatever a layer objects by.
                return False
        return True

    def _clone(self, features: Mapping[str, Any]) -> GraphModel:
        original = self._model
        model = tf_keras.models.clone_model(
            original,
            input_tensors=[features[name] for name in original.input_names],
            clone_function=self._copied,
        )
        names = Names.of(original.output_names, original.output)
        return GraphModel(model, names, dict(zip(names.names, model.outputs, strict=True)))

    def _chain(self, features: Any) -> GraphModel:
        """Stacks the layers of a Sequential model on features that it was not told of."""
        tensor = tf.nest.flatten(features)
        if len(tensor) != 1:
            raise ValueError(
                f"The Sequential model '{self._model.name}' takes one feature, but input_fn "
                f"returned {len(tensor)}: {features}"
            )
        layers = [self._copied(layer) for layer in self._model.layers]
        model = tf_keras.Sequential([tf_keras.Input(tensor=tensor[0]), *layers])
        names = Names.of(model.output_names, model.output)
        return GraphModel(model, names, dict(zip(names.names, model.outputs, strict=True)))

    def _copied(self, layer: Any) -> Any:
        config = self._lookups.get(layer.name)
        layer_class: Any = type(layer)
        made = layer_class.from_config(own_config(config or layer.get_config()))
        if layer_class.__name__ == "TFOpLambda":
            made.__class__ = connected(layer_class)
        return made

    def _make(self, features: Any) -> GraphModel:
        graph = tf.compat.v1.get_default_graph()
        before = len(graph.get_operations())
        model = self._remake()
        unused = frozenset(graph.get_operations()[before:])
        for metric in model.metrics:
            # Else a call that the maker made would be what updates the metric from now on.
            metric._updates = [update for update in metric.updates if update not in unused]
        copy_trainable(self._model, model)
        result = model(features)
        copy_trainable(self._model, model)
        tensors = tf.nest.flatten(result)
        names = Names.of([f"output_{i}" for i in range(1, len(tensors) + 1)], result)
        outputs = dict(zip(names.names, tensors, strict=True))
        return GraphModel(model, names, outputs, unused=unused)

    def _from_config(self) -> Any:
        with tf_keras.utils.custom_object_scope(self._custom_objects):
            return type(self._model).from_config(own_config(self._config))

    def fits(self, model: Any) -> bool:
        """Whether a rebuilt model has weights of the same shapes as the given one."""
        return not self.weights or _shapes(variables_of(model)) == _shapes(self.weights)

    def _check_weights(self, model: Any, features: Any) -> None:
        if self.fits(model):
            return
        told = (
            f"The Keras model '{self._model.name}' has weights of the shapes "
            f"{_shapes(self.weights)}, but made anew from its config they are "
            f"{_shapes(variables_of(model))}. If it was changed after it was constructed, it needs "
            "a get_config() that tells so; else return features of the shapes that it was built "
            f"for from input_fn, which returned {features}."
        )
        if self.is_layered:
            raise ValueError(told)
        _LOG.warning("%s Training starts from new weights.", told)


def _shapes(values: Sequence[Any]) -> list[tuple[int, ...]]:
    return [tuple(value.shape) for value in values]


def _values_of(variables: Sequence[Any]) -> list[Any]:
    """The values of a model's variables, also of one made after `disable_v2_behavior()`."""
    if tf.compat.v1.executing_eagerly_outside_functions():
        return [variable.numpy() for variable in variables]
    return list(tf_keras.backend.batch_get_value(list(variables)))


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
