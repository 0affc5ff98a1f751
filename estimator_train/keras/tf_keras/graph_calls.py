"""Calls of tf_keras models in a graph: their context, inputs, classes of layers and operations."""

import contextlib
import functools
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence, Set
from typing import Any, TypeAlias, TypeVar

import tensorflow as tf
import tf_keras

from estimator_train.engine.tf_internals import graphs
from estimator_train.engine.tf_internals.modes import convert_callees

_T = TypeVar("_T")
Feature: TypeAlias = Any
Symbol: TypeAlias = Any  # A KerasTensor, which has no public name in tf_keras.
_LOCK = threading.Lock()
_USERS = 0
_KEPT: dict[type, tuple[type, ...]] = {}
_READS = ("ReadVariableOp", "ResourceGather", "ResourceGatherNd", "VarIsInitializedOp")


def in_keras_call(function: Callable[[], _T], training: bool) -> _T:
    """Calls a function as a Keras model calls its layers.

    Layers get this value of `training`, and AutoGraph converts them. Names of operations begin at
    the root name scope.

    Args:
      function: Calls layers in the default graph.
      training: Whether layers run in training mode.

    Returns:
      The result of `function`.
    """
    result: list[_T] = []
    called = convert_callees(function)

    class Model(tf_keras.layers.Layer):
        @tf.autograph.experimental.do_not_convert
        def call(self, inputs: tf.Tensor | None, training: bool) -> tf.Tensor | None:
            with tf.compat.v1.name_scope(None):
                result.append(called())
            return inputs

    with warnings.catch_warnings():
        # TensorFlow 1 code reads it from the graph. The call below follows the warning's advice.
        warnings.filterwarnings("ignore", message=".*set_learning_phase")
        tf_keras.backend.set_learning_phase(int(training))
    Model()(None, training=training)
    return result[0]


def _is_dense(feature: Feature) -> bool:
    return isinstance(feature, (tf.Tensor, tf.Variable))


def cast_floats(feature: Feature, symbol: Symbol) -> Feature:
    """Casts a float feature to the input's float dtype, as layers do."""
    floats = _is_dense(feature) and feature.dtype.is_floating and symbol.dtype.is_floating
    if floats and feature.dtype != symbol.dtype:
        feature = tf.cast(feature, symbol.dtype)
    if _is_dense(feature) and feature.shape.rank is None:
        return tf.ensure_shape(feature, symbol.shape)
    return feature


def is_as_declared(feature: Feature, symbol: Symbol) -> bool:
    """Returns whether a feature has the input's dtype and shape, or cannot be cast to them."""
    if not _is_dense(feature) or feature.dtype == tf.string or symbol.dtype == tf.string:
        return True
    return feature.dtype == symbol.dtype and not _is_row_of(feature, symbol)


def _is_row_of(feature: Feature, symbol: Symbol) -> bool:
    """Returns whether a feature of rank 3 or more has as many elements as the input's rows."""
    if symbol.shape.rank != 2 or (feature.shape.rank or 0) < 3:
        return False
    row = feature.shape[1:].num_elements()
    return row is not None and row == symbol.shape[1]


def cast_to_declared(feature: Feature, symbol: Symbol) -> Feature:
    """Casts a feature to the input's dtype, and flattens it to rows if the input takes rows."""
    if is_as_declared(feature, symbol):
        return feature
    if _is_row_of(feature, symbol):
        feature = tf.reshape(feature, [-1, symbol.shape[1]])
    return tf.cast(feature, symbol.dtype)


def make_placeholder_like(feature: Feature) -> Feature:
    """Makes a placeholder of a feature's dtype and shape in the default graph."""
    if isinstance(feature, tf.SparseTensor):
        return tf.compat.v1.sparse_placeholder(feature.dtype, feature.shape)
    if isinstance(feature, tf.RaggedTensor):
        values = feature.flat_values.shape[1:]
        return tf.compat.v1.ragged.placeholder(feature.dtype, feature.ragged_rank, values)
    return tf.compat.v1.placeholder(feature.dtype, feature.shape)


@contextlib.contextmanager
def keep_layer_classes() -> Iterator[None]:
    """Restores the bases of layer classes that layers made in a graph have changed.

    When a graph makes a layer, tf_keras changes the bases of its class, and every eager layer and
    model of that class becomes unusable: callers could not use their own model after training. The
    replicas of a strategy build their models at the same time, each in a thread: the last thread to
    leave restores the bases.
    """
    global _USERS
    with _LOCK:
        if _USERS == 0:
            _KEPT.update((cls, cls.__bases__) for cls in _list_subclasses(tf_keras.layers.Layer))
        _USERS += 1
    try:
        yield
    finally:
        with _LOCK:
            _USERS -= 1
            if _USERS == 0:
                _restore()


def _restore() -> None:
    for cls, bases in _KEPT.items():
        if cls.__bases__ != bases:
            cls.__bases__ = bases
    _KEPT.clear()


def _list_subclasses(cls: type) -> Iterator[type]:
    subclass: type
    for subclass in cls.__subclasses__():
        yield subclass
        yield from _list_subclasses(subclass)


def list_variables(model: tf_keras.Model) -> list[tf.Variable]:
    """Returns the weights of a model that are variables, without the state of `adapt`.

    Vocabularies, counts of words and the summary of Discretization go into the configs of copies.
    """
    adapted = {
        id(weight)
        for layer in model.submodules
        if hasattr(layer, "get_vocabulary") or hasattr(layer, "bin_boundaries")
        for weight in layer.weights
    }
    variables = [weight for weight in model.weights if isinstance(weight, tf.Variable)]
    return [variable for variable in variables if id(variable) not in adapted]


def find_operations_on_placeholders(operations: Sequence[tf.Operation]) -> set[tf.Operation]:
    """Returns the operations of a call that depend on a placeholder of that call.

    A model inside a model is first called on placeholders, and the operations stay in the graph.
    """
    found: set[tf.Operation] = set()
    for operation in operations:
        sources = (tensor.op for tensor in operation.inputs)
        if operation.type == "Placeholder" or not found.isdisjoint(sources):
            found.add(operation)
    return found


def list_assignments(
    model: tf_keras.Model, operations: Sequence[tf.Operation]
) -> list[tf.Operation]:
    """Returns the operations that assign a model's variables, without initializers."""
    handles = _list_handles(model)
    initialization = "Assign"  # the last part of its name
    return [
        operation
        for operation in operations
        if "Assign" in operation.type
        and operation.name.rpartition("/")[2] != initialization
        and operation.inputs[0].op.name in handles
    ]


def order_updates(
    model: tf_keras.Model, operations: Sequence[tf.Operation], updates: Sequence[tf.Operation]
) -> None:
    """Makes each use of a variable wait for the updates that a layer has added before, as in `fit`.

    Args:
      model: The model.
      operations: The operations of its call, in the order in which they were created.
      updates: The updates of its layers.
    """
    handles = _list_handles(model)
    assignments = set(list_assignments(model, operations))
    written: dict[tf.Operation, set[str]] = {}
    for update in updates:
        if not graphs.is_in_control_flow(update):
            # An update may be the result of a condition or function, which assigns variables.
            needed = [update] if update in assignments else graphs.walk([update])
            changing = (one for one in needed if one.type not in _READS)
            written[update] = set().union(*(_list_used(one, handles) for one in changing))
    last: dict[str, tf.Operation] = {}
    for operation in operations:
        used = _list_used(operation, handles)
        for before in {last[name] for name in used if name in last}:
            graphs.run_after(operation, before)
        last.update(dict.fromkeys(written.get(operation, ()), operation))


def _list_used(operation: tf.Operation, handles: Set[str]) -> set[str]:
    """Returns the names of the handles that an operation takes."""
    return {tensor.op.name for tensor in operation.inputs if tensor.op.name in handles}


def _list_handles(model: tf_keras.Model) -> set[str]:
    """Returns the names of the operations that are the handles of a model's variables."""
    strategy = tf.distribute.get_strategy()
    return {
        part.handle.op.name
        for variable in list_variables(model)
        for part in strategy.experimental_local_results(variable)
    }


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
    flags = [layer.trainable for layer in list_layers(source)]
    layers = list_layers(target)
    if len(flags) != len(layers):
        return
    for layer, trainable in zip(layers, flags, strict=True):
        if layer.trainable != trainable:
            layer.trainable = trainable


def list_layers(model: tf_keras.Model) -> list[tf_keras.layers.Layer]:
    """Returns a model, its layers and the layers inside of those."""
    return [
        part
        for part in (model, *model.submodules)
        if isinstance(part, tf_keras.layers.Layer) and not isinstance(part, tf_keras.metrics.Metric)
    ]
