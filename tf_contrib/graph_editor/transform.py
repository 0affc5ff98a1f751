"""Copies of parts of a graph, in the same graph or in another one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from tf_contrib.graph_editor import select, util
from tf_contrib.graph_editor.copying import (
    CopiedPart,
    assign_renamed_collections_handler,
    copy_op_handler,
    keep_t_if_possible_handler,
    list_in_order,
    replace_t_with_placeholder_handler,
    transform_op_if_inside_handler,
)
from tf_contrib.graph_editor.naming import scope_finalize
from tf_contrib.graph_editor.reroute import add_control_inputs
from tf_contrib.graph_editor.subgraph import SubGraphView, make_view
from tf_contrib.graph_editor.transformer_info import TransformerInfo
from tf_contrib.graph_editor.util import ControlOutputs

__all__ = [
    "Transformer",
    "TransformerInfo",
    "assign_renamed_collections_handler",
    "copy",
    "copy_op_handler",
    "copy_with_input_replacements",
    "graph_replace",
    "keep_t_if_possible_handler",
    "replace_t_with_placeholder_handler",
    "transform_op_if_inside_handler",
]


class Transformer:
    """Copies views; its attributes are functions that decide how.

    Each takes the `CopiedPart` as its first argument:

    - `transform_op_handler(info, op, new_inputs)` returns the copy of an operation, and its
      outputs.
    - `transform_external_input_handler(info, t)` returns the tensor that a copy takes in the place
      of an input of the view; by default a placeholder.
    - `transform_external_hidden_input_handler(info, t)` does so for tensors of other operations
      that are no inputs of the view; by default it keeps them in the same graph.
    - `transform_control_input_handler(info, op)` returns the operation for which a copy waits, or
      None; by default the copy, or the same operation in the same graph.
    - `assign_collections_handler(info, elem, elem_)` adds a copy to collections.
    """

    def __init__(self) -> None:
        self.transform_op_handler: Callable[..., tuple[tf.Operation, list[tf.Tensor]]] = (
            copy_op_handler
        )
        self.transform_control_input_handler: Callable[..., tf.Operation | None] = (
            transform_op_if_inside_handler
        )
        self.assign_collections_handler: Callable[..., None] = assign_renamed_collections_handler
        self.transform_external_input_handler: Callable[..., tf.Tensor] = (
            replace_t_with_placeholder_handler
        )
        self.transform_external_hidden_input_handler: Callable[..., tf.Tensor] = (
            keep_t_if_possible_handler
        )

    def __call__(
        self,
        sgv: Any,
        dst_graph: tf.Graph,
        dst_scope: str,
        src_scope: str = "",
        reuse_dst_scope: bool = False,
    ) -> tuple[SubGraphView, TransformerInfo]:
        """Copies a view.

        Args:
          sgv: The view, or its operations.
          dst_graph: The graph of the copies.
          dst_scope: The scope of the copies; another one if it exists.
          src_scope: The part of the names that `dst_scope` replaces.
          reuse_dst_scope: Whether the copies may be in a scope that exists.

        Returns:
          A view of the copies, and a TransformerInfo that maps originals to copies.

        Raises:
          TypeError: An argument has a wrong type.
          ValueError: An operation is not in `src_scope`, or `transform_op_handler` returned an
            operation itself.
        """
        view = make_view(sgv)
        if not isinstance(dst_graph, tf.Graph):
            raise TypeError(f"Expected a tf.Graph, got: {type(dst_graph)}")
        src_scope, dst_scope = scope_finalize(src_scope), scope_finalize(dst_scope)
        if dst_scope and not reuse_dst_scope:
            dst_scope = scope_finalize(dst_graph.unique_name(dst_scope[:-1]))
        info = CopiedPart(view, dst_graph, dst_scope, src_scope)
        self._copy_operations(info)
        self._add_control_inputs(info)
        return _make_copied_view(info), TransformerInfo(info)

    def _copy_operations(self, info: CopiedPart) -> None:
        """Copies each operation after those whose results it takes."""
        inputs = set(info.sgv.inputs)
        late: list[tuple[tf.Operation, int, tf.Tensor]] = []
        for operation in list_in_order(info.graph, info.ops):
            found: dict[int, tf.Tensor] = {}
            for index, tensor in enumerate(operation.inputs):
                if tensor in info.transformed_ts:
                    found[index] = info.transformed_ts[tensor]
                elif tensor.op in info.ops:
                    late.append((operation, index, tensor))
                elif tensor in inputs:
                    found[index] = self.transform_external_input_handler(info, tensor)
                else:
                    found[index] = self.transform_external_hidden_input_handler(info, tensor)
            # Until the last operation of a loop is copied, the first takes its start twice.
            start = next(iter(found.values()), None)
            new_inputs = [found.get(index, start) for index in range(len(operation.inputs))]
            self._copy_operation(info, operation, new_inputs)
        for operation, index, tensor in late:
            info.close_loop(operation, index, tensor)

    def _copy_operation(
        self, info: CopiedPart, operation: tf.Operation, new_inputs: list[tf.Tensor | None]
    ) -> None:
        copied, outputs = self.transform_op_handler(info, operation, new_inputs)
        if copied is operation:
            raise ValueError("In-place transformation not allowed.")
        info.transformed_ops[operation] = copied
        self.assign_collections_handler(info, operation, copied)
        for tensor, new in zip(operation.outputs, outputs, strict=True):
            info.transformed_ts[tensor] = new
            self.assign_collections_handler(info, tensor, new)

    def _add_control_inputs(self, info: CopiedPart) -> None:
        for operation, copied in info.transformed_ops.items():
            before = [
                self.transform_control_input_handler(info, one) for one in operation.control_inputs
            ]
            wanted = {one for one in before if one is not None}
            if new := [one for one in wanted if one not in copied.control_inputs]:
                add_control_inputs(copied, new)


def _make_copied_view(info: CopiedPart) -> SubGraphView:
    """Returns a view of the copies, with the inputs and outputs that the view had too."""
    view = SubGraphView(info.transformed_ops.values())

    def choose(originals: Any, existing: Any) -> list[tf.Tensor]:
        made = [info.transformed_ts.get(tensor) for tensor in originals]
        return [tensor for tensor in made if tensor is not None and tensor in existing]

    return view.remap(choose(info.sgv.inputs, view.inputs), choose(info.sgv.outputs, view.outputs))


def _choose_graph(sgv: SubGraphView, dst_graph: tf.Graph | None) -> Any:
    return sgv.graph if dst_graph is None else dst_graph


def copy(
    sgv: Any,
    dst_graph: tf.Graph | None = None,
    dst_scope: str = "",
    src_scope: str = "",
    reuse_dst_scope: bool = False,
) -> tuple[SubGraphView, TransformerInfo]:
    """Copies a view, with placeholders as its inputs.

    Args:
      sgv: The view, or its operations.
      dst_graph: The graph of the copies; by default the same.
      dst_scope: The scope of the copies; another one if it exists.
      src_scope: The part of the names that `dst_scope` replaces.
      reuse_dst_scope: Whether the copies may be in a scope that exists.

    Returns:
      A view of the copies, and a TransformerInfo that maps originals to copies.

    Raises:
      TypeError: An argument has a wrong type.
      ValueError: An operation is not in `src_scope`.
    """
    view = make_view(sgv)
    graph = _choose_graph(view, dst_graph)
    return Transformer()(view, graph, dst_scope, src_scope, reuse_dst_scope)


def copy_with_input_replacements(
    sgv: Any,
    replacement_ts: Mapping[tf.Tensor, tf.Tensor],
    dst_graph: tf.Graph | None = None,
    dst_scope: str = "",
    src_scope: str = "",
    reuse_dst_scope: bool = False,
) -> tuple[SubGraphView, TransformerInfo]:
    """Copies a view, with other tensors in the places of some of its inputs.

    Args:
      sgv: The view, or its operations.
      replacement_ts: Maps inputs of the view to the tensors that the copies take; they take the
        other inputs themselves, or placeholders in another graph.
      dst_graph: The graph of the copies; by default the same.
      dst_scope: The scope of the copies; another one if it exists.
      src_scope: The part of the names that `dst_scope` replaces.
      reuse_dst_scope: Whether the copies may be in a scope that exists.

    Returns:
      A view of the copies, and a TransformerInfo that maps originals to copies.

    Raises:
      TypeError: An argument has a wrong type.
      ValueError: An operation is not in `src_scope`.
    """
    view = make_view(sgv)
    graph = _choose_graph(view, dst_graph)

    def replace(info: CopiedPart, tensor: tf.Tensor) -> tf.Tensor:
        if tensor in replacement_ts:
            return replacement_ts[tensor]
        return keep_t_if_possible_handler(info, tensor)

    transformer = Transformer()
    transformer.transform_external_input_handler = replace
    return transformer(view, graph, dst_scope, src_scope, reuse_dst_scope)


def graph_replace(
    target_ts: Any,
    replacement_ts: Mapping[tf.Tensor, tf.Tensor],
    dst_scope: str = "",
    src_scope: str = "",
    reuse_dst_scope: bool = False,
) -> Any:
    """Computes tensors once more, with other tensors in the places of some that they need.

    Args:
      target_ts: The tensors, in lists, tuples and dicts.
      replacement_ts: Maps tensors to those that take their places.
      dst_scope: The scope of the copied operations; another one if it exists.
      src_scope: The part of the names that `dst_scope` replaces.
      reuse_dst_scope: Whether the copies may be in a scope that exists.

    Returns:
      The new tensors, as `target_ts` is arranged; a tensor without a copy is the same.

    Raises:
      TypeError: A target is no tensor.
      ValueError: No target needs one of the tensors that are replaced.
    """
    targets = util.make_list_of_t(tf.nest.flatten(target_ts))
    graph = util.get_unique_graph(targets, check_types=tf.Tensor)
    assert graph is not None
    operations = select.get_walks_intersection_ops(
        list(replacement_ts), targets, control_ios=ControlOutputs(graph)
    )
    if not operations:
        raise ValueError("Targets and replacements are not connected!")
    _, info = copy_with_input_replacements(
        operations, replacement_ts, None, dst_scope, src_scope, reuse_dst_scope
    )
    return info.transformed(target_ts, lambda tensor: tensor)
