"""Checks of shapes and types, and functions of graphs and tensors."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from tf_contrib._types import Nest, Shape, TensorLike

_v1 = tf.compat.v1


def with_shape(expected_shape: Shape | tf.Tensor, tensor: TensorLike) -> tf.Tensor:
    """Returns a tensor whose shape is checked, when it is run if it is not known before.

    Args:
      expected_shape: The shape, or a tensor with it.
      tensor: The tensor.

    Raises:
      ValueError: The tensor is known to have another shape.
    """
    tensor = tf.convert_to_tensor(tensor)
    known = tf.get_static_value(expected_shape) if tf.is_tensor(expected_shape) else expected_shape
    if known is not None:
        shape = tf.TensorShape(known)
        if not shape.is_compatible_with(tensor.shape):
            text = str(shape.as_list()).replace(",", "")
            raise ValueError(
                f"Invalid shape for tensor {tensor.name}, expected {text}, got {tensor.shape}."
            )
        if tensor.shape.is_fully_defined():
            return tensor
        expected_shape = shape.as_list()
    check = _v1.assert_equal(tf.shape(tensor), expected_shape, message="Wrong shape of a tensor.")
    with tf.control_dependencies([check]):
        checked = tf.identity(tensor)
    if known is not None:
        checked.set_shape(known)
    return checked


def with_same_shape(expected_tensor: TensorLike, tensor: TensorLike) -> tf.Tensor:
    """Returns a tensor whose shape is checked to be that of another; see `with_shape`."""
    expected = tf.convert_to_tensor(expected_tensor)
    known = expected.shape.is_fully_defined()
    return with_shape(expected.shape if known else tf.shape(expected), tensor)


def get_placeholders(graph: tf.Graph) -> list[tf.Tensor]:
    """Returns the placeholders of a graph, without those that have a default."""
    return [op.outputs[0] for op in graph.get_operations() if op.type == "Placeholder"]


def get_graph_from_inputs(op_input_list: Sequence[Any], graph: tf.Graph | None = None) -> tf.Graph:
    """Returns the graph of inputs, which is the default graph for inputs without a graph.

    Args:
      op_input_list: Tensors, operations, variables and other values.
      graph: The graph that they must be from.

    Raises:
      ValueError: The inputs are from several graphs.
    """
    found = graph
    for one in op_input_list:
        own = getattr(one, "graph", None)
        if own is not None and found is not None and own is not found:
            raise ValueError(f"{one} is not from the graph of the other inputs, or not from graph.")
        found = found or own
    return found or _v1.get_default_graph()


def py_func(
    func: Callable[..., Any],
    args: Sequence[Nest] = (),
    kwargs: Mapping[str, Nest] | None = None,
    output_types: Nest = None,
    output_shapes: Nest = None,
    stateful: bool = True,
    name: str | None = None,
) -> Nest:
    """Calls a Python function of arrays when the graph runs.

    Args:
      func: The function.
      args: Its arguments; tensors in lists, tuples and dicts.
      kwargs: Its named arguments.
      output_types: Types of the results of the function, in the same structure.
      output_shapes: Shapes of what it returns, in the same structure.
      stateful: Whether equal arguments may give different results.
      name: Name of the operation.

    Returns:
      Tensors in the structure of `output_types`.
    """
    arguments = list(args), dict(kwargs or {})

    def call(*flat: Any) -> list[Any]:
        own_args, own_kwargs = tf.nest.pack_sequence_as(arguments, list(flat))
        return tf.nest.flatten(func(*own_args, **own_kwargs))

    types = tf.nest.flatten(output_types)
    flat = _v1.py_func(call, tf.nest.flatten(arguments), types, stateful=stateful, name=name)
    found = tf.nest.pack_sequence_as(output_types, flat)
    if output_shapes is not None:
        # A shape would be a sequence of sizes for `tf.nest`.
        pairs = zip(flat, _flatten_shapes(output_types, output_shapes), strict=True)
        for tensor, shape in pairs:
            tensor.set_shape(shape)
    return found


def _flatten_shapes(types: Nest, shapes: Nest) -> list[Any]:
    """Returns the shapes in the order of the types, whose structure they have."""
    if isinstance(types, Mapping):
        return [one for key in sorted(types) for one in _flatten_shapes(types[key], shapes[key])]
    if isinstance(types, (list, tuple)):
        pairs = zip(types, shapes, strict=True)
        return [one for kind, shape in pairs for one in _flatten_shapes(kind, shape)]
    return [shapes]


def assert_scalar_int(tensor: TensorLike, name: str | None = None) -> tf.Tensor:
    """Returns a tensor that is one integer.

    Args:
      tensor: The tensor.
      name: Name scope of the operations.

    Raises:
      ValueError: It has another type or shape.
    """
    with tf.name_scope(name or "assert_scalar_int"):
        tensor = tf.convert_to_tensor(tensor)
        if not tensor.dtype.base_dtype.is_integer:
            raise ValueError(
                f"Expected integer type for {tensor.name}, received type: {tensor.dtype}."
            )
        if tensor.shape.rank not in (None, 0):
            raise ValueError(f"Expected scalar shape for {tensor.name}, saw shape: {tensor.shape}.")
        return tensor


def assert_or_get_global_step(
    graph: tf.Graph | None = None, global_step_tensor: Any = None
) -> tf.Variable | None:
    """Returns a global step that is checked; that of the graph if none is given.

    Args:
      graph: The graph; the default graph by default.
      global_step_tensor: The global step.

    Raises:
      TypeError: It is no variable of one integer.
    """
    if global_step_tensor is None:
        return _v1.train.get_global_step(graph)
    _v1.train.assert_global_step(global_step_tensor)
    return global_step_tensor


def reduce_sum_n(tensors: Sequence[TensorLike], name: str | None = None) -> tf.Tensor:
    """Returns the sum of all numbers of several tensors.

    Args:
      tensors: The tensors, of any shapes.
      name: Name scope of the operations.

    Raises:
      ValueError: There are no tensors.
    """
    if not tensors:
        raise ValueError("No tensors provided.")
    with tf.name_scope(name or "reduce_sum_n"):
        return tf.add_n([tf.reduce_sum(one) for one in tensors])


def remove_squeezable_dimensions(
    predictions: tf.Tensor, labels: tf.Tensor, name: str | None = None
) -> tuple[tf.Tensor, tf.Tensor]:
    """Removes the last axis of predictions or labels, if they have one axis more than the other.

    Args:
      predictions: The predictions, of known rank.
      labels: The labels, of known rank.
      name: Name scope of the operations.

    Raises:
      ValueError: The size of that axis is not 1.
    """
    with tf.name_scope(name or "remove_squeezable_dimensions"):
        predictions, labels = tf.convert_to_tensor(predictions), tf.convert_to_tensor(labels)
        more = predictions.shape.rank - labels.shape.rank
        if more == 1:
            predictions = tf.squeeze(predictions, [-1])
        elif more == -1:
            labels = tf.squeeze(labels, [-1])
        return predictions, labels
