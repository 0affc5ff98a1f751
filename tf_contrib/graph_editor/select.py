"""Selection of operations and tensors by regular expressions, functions and scopes."""

import re
from collections.abc import Callable, Iterator
from typing import Any, TypeGuard, TypeVar

import tensorflow as tf

from tf_contrib.graph_editor import util
from tf_contrib.graph_editor._types import (
    OperationFilter,
    Operations,
    Regex,
    TensorFilter,
)
from tf_contrib.graph_editor.walks import (
    check_cios,
    compute_boundary_ts,
    get_backward_walk_ops,
    get_forward_walk_ops,
    get_ops_ios,
    get_walks_intersection_ops,
    get_walks_union_ops,
    get_within_boundary_ops,
)

__all__ = [
    "can_be_regex",
    "check_cios",
    "compute_boundary_ts",
    "filter_ops",
    "filter_ops_from_regex",
    "filter_ts",
    "filter_ts_from_regex",
    "get_backward_walk_ops",
    "get_forward_walk_ops",
    "get_name_scope_ops",
    "get_ops_ios",
    "get_walks_intersection_ops",
    "get_walks_union_ops",
    "get_within_boundary_ops",
    "make_regex",
    "select_ops",
    "select_ops_and_ts",
    "select_ts",
]
_Element = TypeVar("_Element")
_OF_OPERATIONS, _OF_TENSORS = "(?#ops)", "(?#ts)"


def can_be_regex(obj: Any) -> TypeGuard[Regex]:
    """Returns whether an object is a regular expression, as a text or compiled."""
    return isinstance(obj, (str, re.Pattern))


def make_regex(obj: Regex) -> re.Pattern[str]:
    """Returns a compiled regular expression.

    Raises:
      ValueError: The object is no regular expression.
    """
    if not can_be_regex(obj):
        raise ValueError(f"Expected a string or a regex, got: {type(obj)}")
    return re.compile(obj)


def filter_ops(ops: Operations, positive_filter: OperationFilter | bool) -> list[tf.Operation]:
    """Returns the operations that a function accepts.

    Args:
      ops: The operations, or a graph.
      positive_filter: The function; True accepts all.
    """
    operations = util.make_list_of_op(ops)
    return _filter(operations, positive_filter)


def filter_ts(ops: Operations, positive_filter: TensorFilter | bool) -> list[tf.Tensor]:
    """Returns the results of operations that a function accepts.

    Args:
      ops: The operations, or a graph.
      positive_filter: The function; True accepts all.
    """
    operations = util.make_list_of_op(ops)
    return _filter([tensor for one in operations for tensor in one.outputs], positive_filter)


def _filter(
    elements: list[_Element], positive_filter: Callable[[_Element], bool] | bool
) -> list[_Element]:
    if positive_filter is True:
        return elements
    accepts: Any = positive_filter  # False is not callable, an error as in TensorFlow 1.
    return [element for element in elements if accepts(element)]


def filter_ops_from_regex(ops: Operations, regex: Regex) -> list[tf.Operation]:
    """Returns the operations in whose name a regular expression is found.

    Args:
      ops: The operations, or a graph.
      regex: The expression.
    """
    search = make_regex(regex).search
    return filter_ops(ops, lambda operation: search(operation.name) is not None)


def filter_ts_from_regex(ops: Operations, regex: Regex) -> list[tf.Tensor]:
    """Returns the results of operations in whose name, such as `a:0`, an expression is found.

    Args:
      ops: The operations, or a graph.
      regex: The expression.
    """
    search = make_regex(regex).search
    return filter_ts(ops, lambda tensor: search(tensor.name) is not None)


def get_name_scope_ops(ops: Operations, scope: str) -> list[tf.Operation]:
    """Returns the operations in a scope, and the operation that has its name.

    Args:
      ops: The operations, or a graph.
      scope: The scope, a regular expression.
    """
    if scope.endswith("/"):
        scope = scope[:-1]
    return filter_ops_from_regex(ops, f"^{scope}(/.*)?$")


def select_ops(
    *args: Any,
    graph: tf.Graph | None = None,
    positive_filter: OperationFilter | None = None,
    restrict_ops_regex: bool = False,
    **kwargs: Any,
) -> list[tf.Operation]:
    """Returns operations, each once.

    Args:
      *args: Operations, lists of them, graphs, and regular expressions that are searched in the
        names of operations. Tensors, and expressions that begin with `(?#ts)`, are left out.
      graph: The graph to which the expressions belong.
      positive_filter: Returns whether an operation is selected; by default all are.
      restrict_ops_regex: Whether to leave out expressions that do not begin with `(?#ops)`.
      **kwargs: Nothing.

    Raises:
      TypeError: An argument has a wrong type.
      ValueError: A regular expression is given without a graph, or an unknown argument.
    """
    _check_arguments(graph, kwargs)

    def choose() -> Iterator[tf.Operation]:
        for selector in args:
            if not can_be_regex(selector):
                yield from util.make_list_of_op(selector, ignore_ts=True)
            elif _is_chosen(selector, _OF_OPERATIONS, _OF_TENSORS, restrict_ops_regex):
                yield from filter_ops_from_regex(_require(graph), selector)

    return _select(choose(), positive_filter)


def select_ts(
    *args: Any,
    graph: tf.Graph | None = None,
    positive_filter: TensorFilter | None = None,
    restrict_ts_regex: bool = False,
    **kwargs: Any,
) -> list[tf.Tensor]:
    """Returns tensors, each once.

    Args:
      *args: Tensors, lists of them, graphs, and regular expressions that are searched in the
        names of tensors. Operations, and expressions that begin with `(?#ops)`, are left out.
      graph: The graph to which the expressions belong.
      positive_filter: Returns whether a tensor is selected; by default all are.
      restrict_ts_regex: Whether to leave out expressions that do not begin with `(?#ts)`.
      **kwargs: Nothing.

    Raises:
      TypeError: An argument has a wrong type.
      ValueError: A regular expression is given without a graph, or an unknown argument.
    """
    _check_arguments(graph, kwargs)

    def choose() -> Iterator[tf.Tensor]:
        for selector in args:
            if not can_be_regex(selector):
                yield from util.make_list_of_t(selector, ignore_ops=True)
            elif _is_chosen(selector, _OF_TENSORS, _OF_OPERATIONS, restrict_ts_regex):
                yield from filter_ts_from_regex(_require(graph), selector)

    return _select(choose(), positive_filter)


def select_ops_and_ts(
    *args: Any,
    graph: tf.Graph | None = None,
    positive_filter: Callable[[Any], bool] | None = None,
    **kwargs: Any,
) -> tuple[list[tf.Operation], list[tf.Tensor]]:
    """Returns operations and tensors.

    Args:
      *args: Operations, tensors, lists of them, graphs, and regular expressions: those that begin
        with `(?#ts)` are searched in the names of tensors, the others in those of operations.
      graph: The graph to which the expressions belong.
      positive_filter: Returns whether an operation or a tensor is selected; by default all are.
      **kwargs: Nothing.

    Raises:
      TypeError: An argument has a wrong type.
      ValueError: A regular expression is given without a graph, or an unknown argument.
    """
    operations = select_ops(
        *args, graph=graph, positive_filter=positive_filter, restrict_ops_regex=False, **kwargs
    )
    tensors = select_ts(
        *args, graph=graph, positive_filter=positive_filter, restrict_ts_regex=True, **kwargs
    )
    return operations, tensors


def _check_arguments(graph: tf.Graph | None, unknown: dict[str, Any]) -> None:
    if graph is not None and not isinstance(graph, tf.Graph):
        raise TypeError(f"Expected a tf.Graph, got: {type(graph)}")
    for name in unknown:
        raise ValueError(f"Wrong keywords argument: {name}.")


def _is_chosen(regex: Regex, own_mark: str, other_mark: str, restrict: bool) -> bool:
    pattern = make_regex(regex).pattern
    return pattern.startswith(own_mark) if restrict else not pattern.startswith(other_mark)


def _require(graph: tf.Graph | None) -> tf.Graph:
    if graph is None:
        raise ValueError("Use the keyword argument 'graph' to use regex.")
    return graph


def _select(
    elements: Iterator[_Element], positive_filter: Callable[[_Element], bool] | None
) -> list[_Element]:
    found = list(dict.fromkeys(elements))
    return found if positive_filter is None else _filter(found, positive_filter)
