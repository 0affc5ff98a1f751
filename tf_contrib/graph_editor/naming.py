"""Names: scopes, placeholders, and the same operation in another graph."""

from typing import Any

import tensorflow as tf

from tf_contrib._types import DType, Shape
from tf_contrib.graph_editor._types import Node

_PREFIX = "geph"


def scope_finalize(scope: str) -> str:
    """Returns a scope with a slash at its end, except the scope without a name."""
    return scope if not scope or scope.endswith("/") else f"{scope}/"


def scope_dirname(scope: str) -> str:
    """Returns the part of a name up to its last slash, with the slash."""
    return scope[: scope.rfind("/") + 1]


def scope_basename(scope: str) -> str:
    """Returns the part of a name after its last slash."""
    return scope[scope.rfind("/") + 1 :]


def placeholder_name(
    t: tf.Tensor | None = None, scope: str | None = None, prefix: str = _PREFIX
) -> str:
    """Returns a name for a placeholder.

    Args:
      t: The tensor that the placeholder replaces; its name is part of the new name.
      scope: The scope of the placeholder; by default that of the tensor.
      prefix: The beginning of the name in its scope.

    Raises:
      TypeError: `t` is no tensor.
    """
    if scope is not None:
        scope = scope_finalize(scope)
    if t is None:
        return f"{scope or ''}{prefix}"
    if not isinstance(t, tf.Tensor):
        raise TypeError(f"Expected a tensor, got: {type(t)}")
    name = scope_basename(t.op.name)
    scope = scope_dirname(t.op.name) if scope is None else scope
    # A placeholder of a placeholder keeps the name.
    return scope + (name if name.startswith(f"{prefix}__") else f"{prefix}__{name}_{t.value_index}")


def make_placeholder_from_tensor(
    t: tf.Tensor, scope: str | None = None, prefix: str = _PREFIX
) -> tf.Tensor:
    """Returns a placeholder of a tensor's dtype and shape in the default graph.

    Args:
      t: The tensor.
      scope: The scope of the placeholder; by default that of the tensor.
      prefix: The beginning of the name in its scope.
    """
    name = placeholder_name(t, scope, prefix)
    return tf.compat.v1.placeholder(t.dtype, t.shape, name)


def make_placeholder_from_dtype_and_shape(
    dtype: DType, shape: Shape | None = None, scope: str | None = None, prefix: str = _PREFIX
) -> tf.Tensor:
    """Returns a placeholder in the default graph.

    Args:
      dtype: Its dtype.
      shape: Its shape; None: any.
      scope: Its scope.
      prefix: The beginning of its name in the scope.
    """
    return tf.compat.v1.placeholder(dtype, shape, placeholder_name(None, scope, prefix))


def find_corresponding_elem(
    target: Node, dst_graph: tf.Graph, dst_scope: str = "", src_scope: str = ""
) -> Node:
    """Returns the operation or tensor of another graph with the same name.

    Args:
      target: An operation or a tensor.
      dst_graph: The graph to search.
      dst_scope: The scope that the name has in that graph in the place of `src_scope`.
      src_scope: The scope of the target.

    Raises:
      KeyError: The graph has no such name.
      ValueError: The target is not in `src_scope`.
    """
    name, source = target.name, scope_finalize(src_scope)
    if not name.startswith(source):
        raise ValueError(f"{name} is not in the scope {source}")
    name = scope_finalize(dst_scope) + name.removeprefix(source)
    if isinstance(target, tf.Tensor):
        return dst_graph.get_tensor_by_name(name)
    return dst_graph.get_operation_by_name(name)


def find_corresponding(
    targets: Any, dst_graph: tf.Graph, dst_scope: str = "", src_scope: str = ""
) -> Any:
    """Returns the operations and tensors of another graph with the names of given ones.

    Args:
      targets: Operations and tensors in lists, tuples and dicts.
      dst_graph: The graph to search.
      dst_scope: The scope that the names have in that graph in the place of `src_scope`.
      src_scope: The scope of the targets.
    """
    return tf.nest.map_structure(
        lambda target: find_corresponding_elem(target, dst_graph, dst_scope, src_scope), targets
    )
