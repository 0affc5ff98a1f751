"""Views of parts of a graph: operations with the tensors that enter and leave them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import tensorflow as tf

from tf_contrib.graph_editor import select, util
from tf_contrib.graph_editor._types import Node, Operations, Tensors
from tf_contrib.graph_editor.util import ListView

__all__ = ["SubGraphView", "make_view", "make_view_from_scope"]
# Places in a list of tensors: their numbers, or the tensors themselves.
Places: TypeAlias = Sequence[int | tf.Tensor]


class SubGraphView:
    """Operations of a graph, with the tensors that enter and leave them.

    The tensors that enter are those that the operations take from others; those that leave are
    taken by others, or by none. A tensor that passes through a view enters and leaves it, and no
    operation of the view has to do with it.

    Args:
      inside_ops: The operations.
      passthrough_ts: The tensors that pass.

    Raises:
      TypeError: An element has a wrong type.
      ValueError: They belong to different graphs.
    """

    def __init__(self, inside_ops: Operations = (), passthrough_ts: Tensors = ()) -> None:
        self._ops = list(util.make_list_of_op(inside_ops))
        passing = util.make_list_of_t(passthrough_ts)
        nodes: list[Node] = [*self._ops, *passing]
        self._graph = util.get_unique_graph(nodes, none_if_empty=True)
        inputs, outputs, inner = select.compute_boundary_ts(self._ops)
        known = {*inputs, *outputs, *inner}
        self._passthrough_ts = [tensor for tensor in passing if tensor not in known]
        self._all_inputs = [*inputs, *self._passthrough_ts]
        self._all_outputs = [*outputs, *self._passthrough_ts]
        self._inputs, self._outputs = list(self._all_inputs), list(self._all_outputs)

    def copy(self) -> SubGraphView:
        """Returns a view of the same operations."""
        view = type(self)()
        view._ops, view._graph = list(self._ops), self._graph
        view._all_outputs, view._outputs = list(self._all_outputs), list(self._outputs)
        view.set_entrances(self)
        return view

    def __copy__(self) -> SubGraphView:
        return self.copy()

    def set_entrances(self, other: SubGraphView, with_outputs: bool = False) -> None:
        """Takes the inputs and the passing tensors of another view.

        Args:
          other: The other view.
          with_outputs: Whether tensors that passed are replaced among the outputs too.
        """
        if with_outputs:
            pairs = zip(self._inputs, other._inputs, strict=True)
            new = {old: one for old, one in pairs if self.is_passthrough(old)}
            self._all_outputs = [new.get(one, one) for one in self._all_outputs]
            self._outputs = [new.get(one, one) for one in self._outputs]
        self._passthrough_ts = list(other._passthrough_ts)
        self._all_inputs, self._inputs = list(other._all_inputs), list(other._inputs)

    def __enter__(self) -> SubGraphView:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def __bool__(self) -> bool:
        return self._graph is not None

    def __str__(self) -> str:
        if not self:
            return "SubGraphView: empty"
        lines = [f"SubGraphView (graphid={id(self.graph)}):", f"** ops[{len(self.ops)}]:"]
        lines += [f"  {operation.name}" for operation in self.ops]
        for title, tensors in (("inputs", self._inputs), ("outputs", self._outputs)):
            lines.append(f"** {title}[{len(tensors)}]:")
            lines += [
                f"  {tensor.name}{' *' if self.is_passthrough(tensor) else ''}"
                for tensor in tensors
            ]
        return "\n".join([*lines, ""])

    @property
    def graph(self) -> tf.Graph | None:
        """The graph; None of an empty view."""
        return self._graph

    @property
    def ops(self) -> list[tf.Operation]:
        """The operations."""
        return self._ops

    @property
    def inputs(self) -> ListView[tf.Tensor]:
        """The tensors that enter the view, in the order of the last `remap`."""
        return ListView(self._inputs)

    @property
    def outputs(self) -> ListView[tf.Tensor]:
        """The tensors that leave the view, in the order of the last `remap`."""
        return ListView(self._outputs)

    @property
    def passthroughs(self) -> ListView[tf.Tensor]:
        """The tensors that pass through the view."""
        return ListView(self._passthrough_ts)

    @property
    def connected_inputs(self) -> ListView[tf.Tensor]:
        """The inputs that operations of the view take."""
        return ListView([one for one in self._inputs if not self.is_passthrough(one)])

    @property
    def connected_outputs(self) -> ListView[tf.Tensor]:
        """The outputs that operations of the view compute."""
        return ListView([one for one in self._outputs if not self.is_passthrough(one)])

    def is_passthrough(self, t: tf.Tensor) -> bool:
        """Returns whether a tensor passes through the view."""
        return t in self._passthrough_ts

    def op(self, op_id: int) -> tf.Operation:
        """Returns an operation by its place."""
        return self._ops[op_id]

    def find_op_by_name(self, op_name: str) -> tf.Operation:
        """Returns an operation by its name.

        Raises:
          ValueError: The view has no such operation.
        """
        for operation in self._ops:
            if operation.name == op_name:
                return operation
        raise ValueError(f"{op_name} not in subgraph.")

    def input_index(self, t: tf.Tensor) -> int:
        """Returns the place of an input, or raises ValueError."""
        return _find_place(t, self._inputs)

    def output_index(self, t: tf.Tensor) -> int:
        """Returns the place of an output, or raises ValueError."""
        return _find_place(t, self._outputs)

    def consumers(self) -> list[tf.Operation]:
        """Returns the operations outside of the view that take its outputs."""
        inside = set(self._ops)
        return [user for user in util.get_consuming_ops(self._outputs) if user not in inside]

    def remap_inputs(self, new_input_indices: Places) -> SubGraphView:
        """Returns a view with some of the inputs, in a new order.

        Args:
          new_input_indices: The inputs or their places, each at most once.

        Raises:
          ValueError: There is no such input, or it is named twice.
        """
        return self.remap(new_input_indices)

    def remap_outputs(self, new_output_indices: Places) -> SubGraphView:
        """Returns a view with some of the outputs, in a new order.

        Args:
          new_output_indices: The outputs or their places; the same may come several times.

        Raises:
          ValueError: There is no such output.
        """
        return self.remap(None, new_output_indices)

    def remap(
        self, new_input_indices: Places | None = None, new_output_indices: Places | None = None
    ) -> SubGraphView:
        """Returns a view with some of the inputs and outputs, in a new order.

        Args:
          new_input_indices: See `remap_inputs`; None: all, in the same order.
          new_output_indices: See `remap_outputs`; None: all, in the same order.

        Raises:
          ValueError: See `remap_inputs` and `remap_outputs`.
        """
        view = self.copy()
        if new_input_indices is not None:
            view._inputs = _choose(self._inputs, new_input_indices, may_repeat=False)
        if new_output_indices is not None:
            view._outputs = _choose(self._outputs, new_output_indices, may_repeat=True)
        return view

    def remap_default(
        self, remove_input_map: bool = True, remove_output_map: bool = True
    ) -> SubGraphView:
        """Returns a view with all inputs and outputs in their first order.

        Args:
          remove_input_map: Whether it has all inputs.
          remove_output_map: Whether it has all outputs.
        """
        view = self.copy()
        if remove_input_map:
            view._inputs = list(self._all_inputs)
        if remove_output_map:
            view._outputs = list(self._all_outputs)
        return view

    def remap_outputs_make_unique(self) -> SubGraphView:
        """Returns a view that has each output once."""
        view = self.copy()
        view._outputs = list(dict.fromkeys(self._outputs))
        return view

    def remap_outputs_to_consumers(self) -> SubGraphView:
        """Returns a view that has each output once for each operation that takes it."""
        view = self.copy()
        unique = dict.fromkeys(self._outputs)
        view._outputs = [tensor for tensor in unique for _ in tensor.consumers()]
        return view

    def remove_unused_ops(self, control_inputs: bool = True) -> SubGraphView:
        """Returns a view without operations that neither need an input nor serve an output.

        Args:
          control_inputs: Whether an operation serves those that wait for its end.
        """
        view = self.copy()
        used = select.get_walks_union_ops(
            list(self.connected_inputs),
            list(self.connected_outputs),
            within_ops=self._ops,
            control_inputs=control_inputs,
        )
        view._ops = [operation for operation in self._ops if operation in used]
        return view


def _find_place(tensor: tf.Tensor, tensors: list[tf.Tensor]) -> int:
    for place, one in enumerate(tensors):
        if one is tensor:
            return place
    raise ValueError(f"{tensor!r} is not in list")


def _choose(tensors: list[tf.Tensor], places: Iterable[Any], may_repeat: bool) -> list[tf.Tensor]:
    found = [
        _find_place(place, tensors) if isinstance(place, tf.Tensor) else place for place in places
    ]
    for place in found:
        if not 0 <= place < len(tensors):
            raise ValueError(f"Out of [0, {len(tensors)}[ range: {place}")
    if not may_repeat and len(set(found)) < len(found):
        raise ValueError(f"Found repetition in mapping: {found}")
    return [tensors[place] for place in found]


def make_view(*args: Any, graph: tf.Graph | None = None, **kwargs: Any) -> SubGraphView:
    """Returns a view.

    Args:
      *args: A view, which is returned; or what `select_ops_and_ts` takes: the tensors pass through
        the view.
      graph: The graph to which regular expressions belong.
      **kwargs: Other arguments of `select_ops_and_ts`.

    Raises:
      TypeError: An argument has a wrong type.
      ValueError: A regular expression is given without a graph, or an unknown argument.
    """
    if len(args) == 1 and isinstance(args[0], SubGraphView):
        return args[0]
    return SubGraphView(*select.select_ops_and_ts(*args, graph=graph, **kwargs))


def make_view_from_scope(scope: str, graph: tf.Graph) -> SubGraphView:
    """Returns a view of the operations in a scope.

    Args:
      scope: The scope, a regular expression.
      graph: The graph.
    """
    return SubGraphView(select.get_name_scope_ops(graph, scope))
