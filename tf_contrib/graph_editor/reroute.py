"""Changes of the tensors that operations take, and of the operations that they wait for."""

from collections.abc import Callable, Iterable
from typing import Any

import tensorflow as tf

from estimator_train.extension import drop_control_inputs, run_after, set_input
from tf_contrib.graph_editor import util
from tf_contrib.graph_editor._types import Operations, Tensors
from tf_contrib.graph_editor.subgraph import SubGraphView, make_view

__all__ = [
    "add_control_inputs",
    "remove_control_inputs",
    "reroute_inputs",
    "reroute_ios",
    "reroute_outputs",
    "reroute_ts",
    "swap_inputs",
    "swap_ios",
    "swap_outputs",
    "swap_ts",
]


def check_compatible(ts0: Iterable[tf.Tensor], ts1: Iterable[tf.Tensor]) -> None:
    """Checks that the tensors of two lists can take each other's places.

    Raises:
      ValueError: The numbers of tensors, a dtype, a shape or a graph differ.
    """
    ts0, ts1 = util.make_list_of_t(ts0), util.make_list_of_t(ts1)
    if len(ts0) != len(ts1):
        raise ValueError(f"ts0 and ts1 have different sizes: {len(ts0)} != {len(ts1)}")
    for t0, t1 in zip(ts0, ts1, strict=True):
        if t0.dtype.base_dtype != t1.dtype.base_dtype:
            raise ValueError(f"Dtypes {t0.dtype!r} and {t1.dtype!r} are not compatible.")
        if not t0.shape.is_compatible_with(t1.shape):
            raise ValueError(f"Shapes {t0.shape} and {t1.shape} are not compatible.")


def _replace(old: tf.Tensor, new: tf.Tensor, users: Iterable[tf.Operation]) -> int:
    """Makes operations take another tensor, and returns the number of changed inputs."""
    count = 0
    for user in users:
        for index, tensor in enumerate(user.inputs):
            if tensor is old:
                set_input(user, index, new)
                count += 1
    return count


def _exchange(
    ts0: Iterable[tf.Tensor],
    ts1: Iterable[tf.Tensor],
    swap: bool,
    can_modify: Callable[[tf.Operation, tf.Tensor], bool],
) -> int:
    """Puts each tensor of `ts0` in the place of one of `ts1`, and returns the number of changes.

    Args:
      ts0: The tensors that operations take afterwards.
      ts1: The tensors that they take before.
      swap: Whether the tensors of `ts1` take the places of those of `ts0` too. As in TensorFlow 1
        they do so afterwards: an operation that takes both takes the second twice.
      can_modify: Returns whether an operation that takes a tensor may be changed.
    """
    count = 0
    for t0, t1 in zip(ts0, ts1, strict=True):
        if t0 is t1:
            continue
        users0 = [user for user in util.get_consuming_ops(t0) if can_modify(user, t0)]
        users1 = [user for user in util.get_consuming_ops(t1) if can_modify(user, t1)]
        count += _replace(t1, t0, users1)
        if swap:
            count += _replace(t0, t1, users0)
    return count


def _exchange_tensors(
    ts0: Tensors,
    ts1: Tensors,
    swap: bool,
    can_modify: Operations | None,
    cannot_modify: Operations | None,
) -> int:
    check_compatible(ts0, ts1)
    allowed = None if can_modify is None else set(util.make_list_of_op(can_modify))
    excluded = set(util.make_list_of_op(() if cannot_modify is None else cannot_modify))

    def is_allowed(user: tf.Operation, _: tf.Tensor) -> bool:
        return (allowed is None or user in allowed) and user not in excluded

    return _exchange(util.make_list_of_t(ts0), util.make_list_of_t(ts1), swap, is_allowed)


def reroute_ts(
    ts0: Tensors,
    ts1: Tensors,
    can_modify: Operations | None = None,
    cannot_modify: Operations | None = None,
) -> int:
    """Makes the operations that take tensors of `ts1` take those of `ts0`.

    Args:
      ts0: The tensors that the operations take afterwards.
      ts1: The tensors that they take before.
      can_modify: The only operations that change; by default all.
      cannot_modify: Operations that do not change.

    Returns:
      The number of changed inputs.

    Raises:
      TypeError: An argument contains an object of a wrong type.
      ValueError: The tensors cannot take each other's places.
    """
    return _exchange_tensors(ts0, ts1, False, can_modify, cannot_modify)


def swap_ts(
    ts0: Tensors,
    ts1: Tensors,
    can_modify: Operations | None = None,
    cannot_modify: Operations | None = None,
) -> int:
    """Makes operations take the tensors of `ts0` in the places of those of `ts1`, and vice versa.

    An operation that takes a tensor of both lists takes that of `ts1` twice, as in TensorFlow 1.

    Args:
      ts0: Tensors.
      ts1: As many tensors.
      can_modify: The only operations that change; by default all.
      cannot_modify: Operations that do not change.

    Returns:
      The number of changed inputs.

    Raises:
      TypeError: An argument contains an object of a wrong type.
      ValueError: The tensors cannot take each other's places.
    """
    return _exchange_tensors(ts0, ts1, True, can_modify, cannot_modify)


def _exchange_views(
    sgv0: Any, sgv1: Any, inputs: bool, outputs: bool, swap: bool
) -> tuple[SubGraphView, SubGraphView]:
    view0, view1 = make_view(sgv0), make_view(sgv1)
    util.check_graphs(view0, view1)
    if inputs:
        check_compatible(view0.inputs, view1.inputs)
    if outputs:
        check_compatible(view0.outputs, view1.outputs)
    inside0, inside1 = set(view0.ops), set(view1.ops)
    if inputs:

        def takes_inside(user: tf.Operation, tensor: tf.Tensor) -> bool:
            passes = view0.is_passthrough(tensor) or view1.is_passthrough(tensor)
            return passes or user in inside1 or (swap and user in inside0)

        _exchange(view0.inputs, view1.inputs, swap, takes_inside)
        before = view0.copy()
        if swap:
            view0.set_entrances(view1, with_outputs=True)
        view1.set_entrances(before, with_outputs=swap)
    if outputs:

        def takes_outside(user: tf.Operation, _: tf.Tensor) -> bool:
            return user not in inside0 and user not in inside1

        _exchange(view0.outputs, view1.outputs, swap, takes_outside)
    return view0, view1


def reroute_inputs(sgv0: Any, sgv1: Any) -> tuple[SubGraphView, SubGraphView]:
    """Gives the inputs of one view to another.

    Args:
      sgv0: The view, or its operations, that has the inputs.
      sgv1: The view, or its operations, that gets them.

    Returns:
      Both views.

    Raises:
      TypeError: An argument has a wrong type.
      ValueError: The graphs, numbers, dtypes or shapes of the inputs differ.
    """
    return _exchange_views(sgv0, sgv1, inputs=True, outputs=False, swap=False)


def reroute_outputs(sgv0: Any, sgv1: Any) -> tuple[SubGraphView, SubGraphView]:
    """Makes the operations that take outputs of `sgv1` take those of `sgv0`.

    The arguments, results and errors are those of `reroute_inputs`.
    """
    return _exchange_views(sgv0, sgv1, inputs=False, outputs=True, swap=False)


def reroute_ios(sgv0: Any, sgv1: Any) -> tuple[SubGraphView, SubGraphView]:
    """Does `reroute_inputs` and `reroute_outputs`."""
    return _exchange_views(sgv0, sgv1, inputs=True, outputs=True, swap=False)


def swap_inputs(sgv0: Any, sgv1: Any) -> tuple[SubGraphView, SubGraphView]:
    """Exchanges the inputs of two views; see `reroute_inputs`."""
    return _exchange_views(sgv0, sgv1, inputs=True, outputs=False, swap=True)


def swap_outputs(sgv0: Any, sgv1: Any) -> tuple[SubGraphView, SubGraphView]:
    """Exchanges the outputs of two views; see `reroute_outputs`."""
    return _exchange_views(sgv0, sgv1, inputs=False, outputs=True, swap=True)


def swap_ios(sgv0: Any, sgv1: Any) -> tuple[SubGraphView, SubGraphView]:
    """Does `swap_inputs` and `swap_outputs`."""
    return _exchange_views(sgv0, sgv1, inputs=True, outputs=True, swap=True)


def _check_operation(op: Any) -> None:
    if not isinstance(op, tf.Operation):
        raise TypeError(f"Expected a tf.Operation, got: {type(op)}")


def add_control_inputs(op: tf.Operation, cops: Operations) -> None:
    """Makes an operation wait for the end of others.

    Args:
      op: The operation.
      cops: The operations for which it waits.

    Raises:
      TypeError: An argument has a wrong type.
      ValueError: It waits for one of them already.
    """
    _check_operation(op)
    added = util.make_list_of_op(cops, allow_graph=False)
    for before in added:
        if before in op.control_inputs:
            raise ValueError(f"{before.name} is already a control_input of {op.name}")
    for before in added:
        run_after(op, before)


def remove_control_inputs(op: tf.Operation, cops: Operations) -> None:
    """Makes an operation no longer wait for the end of others.

    Args:
      op: The operation.
      cops: The operations for which it waits.

    Raises:
      TypeError: An argument has a wrong type.
      ValueError: It does not wait for one of them.
    """
    _check_operation(op)
    removed = util.make_list_of_op(cops, allow_graph=False)
    for before in removed:
        if before not in op.control_inputs:
            # TensorFlow 1 names the two in this order.
            raise ValueError(f"{op.name} is not a control_input of {before.name}")
    drop_control_inputs(op, removed)
