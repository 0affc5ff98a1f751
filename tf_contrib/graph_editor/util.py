"""Lists of operations and tensors of one graph, and what is next to them."""

from collections.abc import Iterable, Sequence
from typing import Any, Generic, TypeVar, overload

import tensorflow as tf

from tf_contrib.graph_editor._types import Tensors
from tf_contrib.graph_editor.naming import (
    find_corresponding,
    find_corresponding_elem,
    make_placeholder_from_dtype_and_shape,
    make_placeholder_from_tensor,
    placeholder_name,
    scope_basename,
    scope_dirname,
    scope_finalize,
)

__all__ = [
    "ControlOutputs",
    "ListView",
    "check_graphs",
    "concatenate_unique",
    "find_corresponding",
    "find_corresponding_elem",
    "get_consuming_ops",
    "get_generating_ops",
    "get_tensors",
    "get_unique_graph",
    "is_iterable",
    "make_list_of_op",
    "make_list_of_t",
    "make_placeholder_from_dtype_and_shape",
    "make_placeholder_from_tensor",
    "placeholder_name",
    "scope_basename",
    "scope_dirname",
    "scope_finalize",
]
_Element = TypeVar("_Element")


class ListView(Sequence[_Element], Generic[_Element]):
    """Sequence that shows a list and cannot change it.

    Args:
      elements: The list.
    """

    def __init__(self, elements: list[_Element]) -> None:
        if not isinstance(elements, list):
            raise TypeError(f"Expected a list, got: {type(elements)}.")
        self._elements = elements

    @overload
    def __getitem__(self, index: int) -> _Element: ...

    @overload
    def __getitem__(self, index: slice) -> list[_Element]: ...

    def __getitem__(self, index: int | slice) -> _Element | list[_Element]:
        return self._elements[index]

    def __len__(self) -> int:
        return len(self._elements)

    def __add__(self, other: Iterable[_Element]) -> list[_Element]:
        return [*self, *other]

    def __str__(self) -> str:
        return str(self._elements)


class ControlOutputs:
    """The operations that wait for the end of each operation of a graph.

    Args:
      graph: The graph. Call `update` after operations were added to it.

    Raises:
      TypeError: The argument is no graph.
    """

    def __init__(self, graph: tf.Graph) -> None:
        if not isinstance(graph, tf.Graph):
            raise TypeError(f"Expected a tf.Graph, got: {type(graph)}")
        self._graph = graph
        self._waiting: dict[tf.Operation, list[tf.Operation]] = {}
        self.update()

    @property
    def graph(self) -> tf.Graph:
        """The graph."""
        return self._graph

    def update(self) -> "ControlOutputs":
        """Reads the graph again, and returns this object."""
        self._waiting = {}
        for operation in self._graph.get_operations():
            for before in operation.control_inputs:
                waiting = self._waiting.setdefault(before, [])
                if operation not in waiting:
                    waiting.append(operation)
        return self

    def get(self, op: tf.Operation) -> list[tf.Operation]:
        """Returns the operations that wait for the end of an operation."""
        return self._waiting.get(op, [])

    def get_all(self) -> dict[tf.Operation, list[tf.Operation]]:
        """Returns the waiting operations, by the operation for which they wait."""
        return self._waiting


def is_iterable(obj: Any) -> bool:
    """Returns whether an object can be iterated over; a tensor of a graph cannot."""
    if isinstance(obj, tf.Tensor):
        return False
    try:
        iter(obj)
    except TypeError:
        return False
    return True


def concatenate_unique(la: list[_Element], lb: Iterable[_Element]) -> list[_Element]:
    """Adds the elements of `lb` to the list `la` that it does not contain, and returns `la`."""
    known = set(la)
    for element in lb:
        if element not in known:
            la.append(element)
            known.add(element)
    return la


def get_tensors(graph: tf.Graph) -> list[tf.Tensor]:
    """Returns the tensors of a graph.

    Raises:
      TypeError: The argument is no graph.
    """
    if not isinstance(graph, tf.Graph):
        raise TypeError(f"Expected a graph, got: {type(graph)}")
    return [tensor for operation in graph.get_operations() for tensor in operation.outputs]


def check_graphs(*args: Any) -> None:
    """Checks that the objects with a graph have the same graph.

    Raises:
      ValueError: Two graphs differ.
    """
    graphs = [getattr(one, "graph", None) for one in args]
    first = next((graph for graph in graphs if graph is not None), None)
    for index, graph in enumerate(graphs):
        if graph is not None and graph is not first:
            raise ValueError(f"Argument[{index}]: Wrong graph!")


def get_unique_graph(
    tops: Any,
    check_types: type | tuple[type, ...] | None = None,
    none_if_empty: bool = False,
) -> tf.Graph | None:
    """Returns the graph that all elements belong to.

    Args:
      tops: A graph, which is returned; or operations or tensors.
      check_types: Types of the elements; by default operations and tensors.
      none_if_empty: Whether to return None if there is no element.

    Raises:
      TypeError: An element has another type.
      ValueError: Elements belong to different graphs, or there is none.
    """
    if isinstance(tops, tf.Graph):
        return tops
    if not is_iterable(tops):
        raise TypeError(f"{type(tops)} is not iterable")
    types = (tf.Operation, tf.Tensor) if check_types is None else check_types
    graph: tf.Graph | None = None
    for element in tops:
        is_accepted = isinstance(element, types)
        if not is_accepted:
            expected = ", ".join(map(str, types if isinstance(types, tuple) else (types,)))
            raise TypeError(f"Expected a type in ({expected}), got: {type(element)}")
        graph = graph or element.graph
        if element.graph is not graph:
            raise ValueError(f"Operation {element} does not belong to given graph")
    if graph is None and not none_if_empty:
        raise ValueError("Can't find the unique graph of an empty list")
    return graph


def make_list_of_op(
    ops: Any, check_graph: bool = True, allow_graph: bool = True, ignore_ts: bool = False
) -> list[tf.Operation]:
    """Returns operations in a list.

    Args:
      ops: An operation, operations, or a graph.
      check_graph: Whether to check that they belong to one graph.
      allow_graph: Whether `ops` may be a graph, whose operations are returned.
      ignore_ts: Whether to leave out tensors.

    Raises:
      TypeError: An element is no operation, or `ops` is a graph and must not be one.
      ValueError: The operations belong to different graphs.
    """
    if isinstance(ops, tf.Graph):
        _check_graph_allowed(allow_graph)
        return ops.get_operations()
    return _make_list(ops, tf.Operation, tf.Tensor, check_graph, ignore_ts)


def make_list_of_t(
    ts: Any, check_graph: bool = True, allow_graph: bool = True, ignore_ops: bool = False
) -> list[tf.Tensor]:
    """Returns tensors in a list.

    Args:
      ts: A tensor, tensors, or a graph.
      check_graph: Whether to check that they belong to one graph.
      allow_graph: Whether `ts` may be a graph, whose tensors are returned.
      ignore_ops: Whether to leave out operations.

    Raises:
      TypeError: An element is no tensor, or `ts` is a graph and must not be one.
      ValueError: The tensors belong to different graphs.
    """
    if isinstance(ts, tf.Graph):
        _check_graph_allowed(allow_graph)
        return get_tensors(ts)
    return _make_list(ts, tf.Tensor, tf.Operation, check_graph, ignore_ops)


def _check_graph_allowed(is_allowed: bool) -> None:
    if not is_allowed:
        raise TypeError("allow_graph is False: cannot convert a tf.Graph.")


def _make_list(nodes: Any, kind: type, other: type, check_graph: bool, ignore: bool) -> list[Any]:
    found = list(nodes) if is_iterable(nodes) else [nodes]
    if check_graph:
        types = (tf.Operation, tf.Tensor) if ignore else (kind,)
        get_unique_graph(found, types, none_if_empty=True)
    return [node for node in found if not isinstance(node, other)] if ignore else found


def get_generating_ops(ts: Tensors) -> list[tf.Operation]:
    """Returns the operation that computes each of the tensors.

    Raises:
      TypeError: An element is no tensor.
    """
    return [tensor.op for tensor in make_list_of_t(ts, allow_graph=False)]


def get_consuming_ops(ts: Tensors) -> list[tf.Operation]:
    """Returns the operations that take one of the tensors, each once.

    Raises:
      TypeError: An element is no tensor.
    """
    tensors = make_list_of_t(ts, allow_graph=False)
    return list(dict.fromkeys(user for tensor in tensors for user in tensor.consumers()))


def find_seed_operations(seeds: Any, forward: bool) -> list[tf.Operation]:
    """Returns the operations that a walk begins with.

    Args:
      seeds: Operations, or tensors: these give the operations that take them, or compute them.
      forward: Whether the walk follows the results.

    Raises:
      TypeError: An element is neither an operation nor a tensor, or both kinds are given.
    """
    found = list(seeds) if is_iterable(seeds) else [seeds]
    if not found or not isinstance(found[0], tf.Tensor):
        return make_list_of_op(found)
    return get_consuming_ops(found) if forward else get_generating_ops(found)
