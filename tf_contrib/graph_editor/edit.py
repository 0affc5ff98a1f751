"""Parts of a graph that are cut off, connected and left out."""

from typing import Any

import tensorflow as tf

from tf_contrib.graph_editor import reroute, select, util
from tf_contrib.graph_editor.subgraph import SubGraphView, make_view
from tf_contrib.graph_editor.util import ControlOutputs

__all__ = [
    "bypass",
    "connect",
    "detach",
    "detach_control_inputs",
    "detach_control_outputs",
    "detach_inputs",
    "detach_outputs",
]


def _make_placeholders(tensors: list[tf.Tensor], graph: tf.Graph | None) -> SubGraphView:
    """Returns a view through which placeholders for tensors pass."""
    if graph is None:
        return SubGraphView()
    with graph.as_default():
        return SubGraphView((), [util.make_placeholder_from_tensor(tensor) for tensor in tensors])


def detach_control_inputs(sgv: Any) -> None:
    """Makes the operations of a view no longer wait for operations outside.

    Args:
      sgv: The view, or its operations.
    """
    view = make_view(sgv)
    for operation in view.ops:
        outside = [before for before in operation.control_inputs if before not in view.ops]
        if outside:
            reroute.remove_control_inputs(operation, outside)


def detach_control_outputs(sgv: Any, control_outputs: ControlOutputs) -> None:
    """Makes operations outside of a view no longer wait for those in it.

    Args:
      sgv: The view, or its operations.
      control_outputs: The control outputs of the graph.

    Raises:
      TypeError: An argument has a wrong type.
    """
    select.check_cios(control_ios=control_outputs)
    view = make_view(sgv)
    for operation in view.ops:
        for after in list(control_outputs.get(operation)):
            if after not in view.ops:
                reroute.remove_control_inputs(after, operation)


def detach_inputs(sgv: Any, control_inputs: bool = False) -> tuple[SubGraphView, list[tf.Tensor]]:
    """Gives a view placeholders as its inputs.

    Args:
      sgv: The view, or its operations.
      control_inputs: Whether its operations no longer wait for others either.

    Returns:
      The view, and the placeholders.
    """
    view = make_view(sgv)
    placeholders = _make_placeholders(list(view.inputs), view.graph)
    # Not `reroute_inputs`: tensors that pass through the view leave it as placeholders too.
    reroute.swap_inputs(placeholders.copy(), view)
    if control_inputs:
        detach_control_inputs(view)
    return view, list(placeholders.inputs)


def detach_outputs(
    sgv: Any, control_outputs: ControlOutputs | None = None
) -> tuple[SubGraphView, list[tf.Tensor]]:
    """Gives placeholders to the operations that take the outputs of a view.

    Args:
      sgv: The view, or its operations.
      control_outputs: The control outputs of the graph: operations outside no longer wait for
        those of the view either.

    Returns:
      The view without the outputs that no operation takes, and the placeholders.
    """
    select.check_cios(control_outputs=control_outputs)
    view = make_view(sgv)
    view = view.remap_outputs([tensor for tensor in view.outputs if tensor.consumers()])
    placeholders = _make_placeholders(list(view.outputs), view.graph)
    reroute.reroute_outputs(placeholders, view)
    if control_outputs is not None:
        detach_control_outputs(view, control_outputs)
    return view, list(placeholders.outputs)


def detach(
    sgv: Any,
    control_inputs: bool = False,
    control_outputs: ControlOutputs | None = None,
    control_ios: ControlOutputs | None = None,
) -> tuple[Any, list[tf.Tensor], list[tf.Tensor]]:
    """Cuts a view off from the other operations; see `detach_inputs` and `detach_outputs`.

    Args:
      sgv: The view, or its operations.
      control_inputs: Whether its operations no longer wait for others.
      control_outputs: The control outputs of the graph, if the others no longer wait for them.
      control_ios: Both.

    Returns:
      The first argument, the placeholders of the inputs, and those for the outputs.
    """
    inputs, outputs = select.check_cios(control_inputs, control_outputs, control_ios)
    view, detached_inputs = detach_inputs(make_view(sgv), inputs)
    _, detached_outputs = detach_outputs(view, outputs)
    return sgv, detached_inputs, detached_outputs


def connect(
    sgv0: Any, sgv1: Any, disconnect_first: bool = False
) -> tuple[SubGraphView, SubGraphView]:
    """Gives the outputs of one view to another as its inputs.

    Args:
      sgv0: The view, or its operations, whose outputs are connected.
      sgv1: The view, or its operations, whose inputs are connected.
      disconnect_first: Whether the operations that took the outputs get placeholders.

    Returns:
      Both views.

    Raises:
      TypeError: An argument has a wrong type.
      ValueError: The graphs, numbers, dtypes or shapes of the tensors differ.
    """
    view0, view1 = make_view(sgv0), make_view(sgv1)
    util.check_graphs(view0, view1)
    reroute.check_compatible(view0.outputs, view1.inputs)
    if disconnect_first:
        detach_outputs(view0)
    reroute.reroute_inputs(SubGraphView((), list(view0.outputs)), view1)
    return view0, view1


def bypass(sgv: Any) -> tuple[SubGraphView, list[tf.Tensor]]:
    """Makes the operations that take the outputs of a view take its inputs.

    Args:
      sgv: The view, or its operations. It gets placeholders as its inputs.

    Returns:
      The view, and the placeholders.

    Raises:
      ValueError: The view has not as many outputs as inputs, or of other dtypes or shapes.
    """
    view = make_view(sgv)
    inputs = SubGraphView((), list(view.inputs))
    reroute.check_compatible(view.inputs, view.outputs)
    _, placeholders = detach_inputs(view)
    reroute.reroute_outputs(inputs, view)
    return view, placeholders
