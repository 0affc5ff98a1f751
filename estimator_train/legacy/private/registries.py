"""Registries of operations and types in `tensorflow.python.framework` that old programs ask.

TensorFlow has removed them: C++ now knows the operations and their shapes.
"""

from collections.abc import Callable, Iterable, KeysView
from typing import Any, TypeVar

import tensorflow as tf
from tensorflow.core.framework.op_def_pb2 import OpDef, OpList

from estimator_train.engine.tf_internals.graphs import list_definitions

_Function = TypeVar("_Function")


class OpDefLibrary:
    """Creates operations of the types that were added to it, as until TensorFlow 1.15."""

    def __init__(self) -> None:
        self._added: set[str] = set()

    def add_op(self, op_def: OpDef) -> None:
        """Adds a type of operation.

        Args:
          op_def: Its definition.
        """
        self._added.add(op_def.name)

    def add_op_list(self, op_list: OpList) -> None:
        """Adds types of operations.

        Args:
          op_list: Their definitions.
        """
        for op_def in op_list.op:
            self.add_op(op_def)

    def apply_op(self, op_type_name: str, name: str | None = None, **keywords: Any) -> Any:
        """Creates an operation and returns its outputs.

        Args:
          op_type_name: The type.
          name: The name in the graph.
          **keywords: Inputs and attributes.

        Raises:
          RuntimeError: The type was not added.
        """
        if op_type_name not in self._added:
            raise RuntimeError(
                f"Unrecognized Op name {op_type_name}: this OpDefLibrary has {len(self._added)} "
                "types of operations. Add its definition with add_op first."
            )
        return getattr(tf.raw_ops, op_type_name)(name=name, **keywords)


class ShapeRegistry:
    """Shape functions by type of operation. TensorFlow asks C++ instead."""

    def __init__(self) -> None:
        self._functions: dict[str, Any] = {}

    def register(self, candidate: Any, name: str) -> None:
        """Registers a shape function.

        Args:
          candidate: The function, or None.
          name: The type of operation.

        Raises:
          KeyError: The type has one.
        """
        if name in self._functions:
            raise KeyError(f"Registering two shape functions with name '{name}'!")
        self._functions[name] = candidate

    def list(self) -> KeysView[str]:
        """Returns the types of operations that have a shape function."""
        return self._functions.keys()

    def lookup(self, name: str) -> Any:
        """Returns the shape function of a type of operation.

        Args:
          name: The type of operation.

        Raises:
          LookupError: The type has none.
        """
        if name not in self._functions:
            raise LookupError(f"shape functions registry has no entry for: {name}")
        return self._functions[name]


shape_registry = ShapeRegistry()


class RegisterShape:
    """Decorates the shape function of a type of operation."""

    def __init__(self, op_type: str) -> None:
        self._type = op_type

    def __call__(self, f: _Function) -> _Function:
        """Registers a shape function and returns it."""
        shape_registry.register(f, self._type)
        return f


def get_registered_ops() -> dict[str, OpDef]:
    """Returns the definitions of all types of operations by name."""
    return {definition.name: definition for definition in list_definitions()}


def register_op_list(op_list: Iterable[Any]) -> None:
    """Does nothing: TensorFlow registers types of operations when it loads their library."""
    del op_list


def register_dense_tensor_like_type(tensor_type: type) -> None:
    """Checks a type as until TensorFlow 1.15, and does nothing more.

    Args:
      tensor_type: A class that `tf.register_tensor_conversion_function` knows.

    Raises:
      TypeError: The class does not define the properties `name` and `dtype`.
    """
    for name in ("name", "dtype"):
        if not isinstance(getattr(tensor_type, name, None), property):
            raise TypeError(
                f"Type {tensor_type.__name__} does not define a `{name}` property: add one."
            )


def set_call_cpp_shape_fn(call_cpp_shape_fn: Callable[..., Any]) -> None:
    """Does nothing: TensorFlow always asks C++ for shapes."""
    del call_cpp_shape_fn


def call_cpp_shape_fn(op: tf.Operation, require_shape_fn: bool = True) -> list[tf.TensorShape]:
    """Returns the shapes of the outputs that C++ has found.

    Args:
      op: The operation.
      require_shape_fn: Not used: each type has a shape function.
    """
    del require_shape_fn
    return [output.shape for output in op.outputs]


def scalar_shape(unused_op: tf.Operation) -> list[tf.TensorShape]:
    """Returns the shape of one scalar."""
    del unused_op
    return [tf.TensorShape([])]


def unknown_shape(op: tf.Operation) -> list[tf.TensorShape]:
    """Returns an unknown shape for each output."""
    return [tf.TensorShape(None) for _ in op.outputs]


def unchanged_shape(op: tf.Operation) -> list[tf.TensorShape]:
    """Returns the shape of the first input."""
    return [op.inputs[0].shape]
