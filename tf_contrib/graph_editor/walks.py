"""Walks along the inputs and results of operations."""

from collections.abc import Callable, Iterable
from typing import Any

import tensorflow as tf

from tf_contrib.graph_editor import util
from tf_contrib.graph_editor._types import (
    OperationFilter,
    Operations,
    Seeds,
    Tensors,
)
from tf_contrib.graph_editor.util import ControlOutputs


def check_cios(
    control_inputs: bool = False,
    control_outputs: ControlOutputs | None = None,
    control_ios: ControlOutputs | None = None,
) -> tuple[bool, ControlOutputs | None]:
    """Returns the settings of a walk: whether it follows control inputs, and the control outputs.

    Args:
      control_inputs: Whether it follows control inputs.
      control_outputs: The control outputs that it follows; None: it follows none.
      control_ios: The control outputs; the walk follows them and the control inputs.

    Raises:
      TypeError: Control outputs have another type.
      ValueError: `control_ios` is given with one of the others.
    """
    followed = control_outputs if control_ios is None else control_ios
    if followed is not None and not isinstance(followed, ControlOutputs):
        raise TypeError(f"Expected a util.ControlOutputs, got: {type(followed)}")
    if control_ios is None:
        return control_inputs, control_outputs
    if control_outputs is not None:
        raise ValueError("control_outputs should be None when using control_ios.")
    return True, control_ios


def _list_before(
    operation: tf.Operation, stop_at: Iterable[tf.Tensor], control_inputs: bool
) -> list[tf.Operation]:
    """Returns the operations whose results an operation takes, or for whose end it waits."""
    before = [tensor.op for tensor in operation.inputs if tensor not in stop_at]
    return [*before, *operation.control_inputs] if control_inputs else before


def _list_after(
    operation: tf.Operation,
    stop_at: Iterable[tf.Tensor],
    control_outputs: ControlOutputs | None,
) -> list[tf.Operation]:
    """Returns the operations that take the results of an operation, or wait for its end."""
    results = [tensor for tensor in operation.outputs if tensor not in stop_at]
    after = [user for tensor in results for user in tensor.consumers()]
    return after if control_outputs is None else [*after, *control_outputs.get(operation)]


def _walk(
    seeds: list[tf.Operation],
    find_next: Callable[[tf.Operation], Iterable[tf.Operation]],
    within_ops: Operations | None = None,
    within_ops_fn: OperationFilter | None = None,
    inclusive: bool = True,
) -> list[tf.Operation]:
    """Returns the reached operations, the nearest first.

    Args:
      seeds: The operations to begin with; `within_ops_fn` is not asked about them.
      find_next: Returns the operations to continue with after one.
      within_ops: The only operations that the walk reaches; by default all.
      within_ops_fn: Returns whether the walk reaches an operation.
      inclusive: Whether the seeds are among the result.
    """
    allowed = None
    if within_ops is not None:
        allowed = set(util.make_list_of_op(within_ops, allow_graph=False))
    found: dict[tf.Operation, None] = {}
    wave = [one for one in seeds if allowed is None or one in allowed]
    while wave:
        found.update(dict.fromkeys(wave))
        reached = dict.fromkeys(after for one in wave for after in find_next(one))
        wave = [
            one
            for one in reached
            if one not in found
            and (allowed is None or one in allowed)
            and (within_ops_fn is None or within_ops_fn(one))
        ]
    excluded = set() if inclusive else set(seeds)
    return [one for one in found if one not in excluded]


def get_forward_walk_ops(
    seed_ops: Seeds,
    inclusive: bool = True,
    within_ops: Operations | None = None,
    within_ops_fn: OperationFilter | None = None,
    stop_at_ts: Tensors = (),
    control_outputs: ControlOutputs | None = None,
) -> list[tf.Operation]:
    """Returns the operations that need the results of others.

    Args:
      seed_ops: The operations to begin with; tensors: the operations that take them.
      inclusive: Whether the operations of the beginning are among the result.
      within_ops: The only operations that the walk reaches; by default all.
      within_ops_fn: Returns whether the walk reaches an operation.
      stop_at_ts: Tensors that the walk does not follow.
      control_outputs: Control outputs that the walk follows too.

    Raises:
      TypeError: An argument contains an object of a wrong type.
      ValueError: Operations belong to different graphs.
    """
    _, control_outputs = check_cios(False, control_outputs)
    seeds = util.find_seed_operations(seed_ops, forward=True)
    stop_at = set(util.make_list_of_t(stop_at_ts))

    def find_next(one: tf.Operation) -> list[tf.Operation]:
        return _list_after(one, stop_at, control_outputs)

    return _walk(seeds, find_next, within_ops, within_ops_fn, inclusive)


def get_backward_walk_ops(
    seed_ops: Seeds,
    inclusive: bool = True,
    within_ops: Operations | None = None,
    within_ops_fn: OperationFilter | None = None,
    stop_at_ts: Tensors = (),
    control_inputs: bool = False,
) -> list[tf.Operation]:
    """Returns the operations whose results others need.

    The arguments and errors are those of `get_forward_walk_ops`. Tensors among `seed_ops` are the
    operations that compute them, and `control_inputs` is whether to follow control inputs too.
    """
    seeds = util.find_seed_operations(seed_ops, forward=False)
    stop_at = set(util.make_list_of_t(stop_at_ts))

    def find_next(one: tf.Operation) -> list[tf.Operation]:
        return _list_before(one, stop_at, control_inputs)

    return _walk(seeds, find_next, within_ops, within_ops_fn, inclusive)


def get_walks_intersection_ops(
    forward_seed_ops: Seeds,
    backward_seed_ops: Seeds,
    forward_inclusive: bool = True,
    backward_inclusive: bool = True,
    within_ops: Operations | None = None,
    within_ops_fn: OperationFilter | None = None,
    control_inputs: bool = False,
    control_outputs: ControlOutputs | None = None,
    control_ios: ControlOutputs | None = None,
) -> list[tf.Operation]:
    """Returns the operations that a forward and a backward walk both reach.

    Args:
      forward_seed_ops: The beginning of `get_forward_walk_ops`.
      backward_seed_ops: The beginning of `get_backward_walk_ops`.
      forward_inclusive: Whether the forward walk contains its beginning.
      backward_inclusive: Whether the backward walk contains its beginning.
      within_ops: The only operations that the walks reach; by default all.
      within_ops_fn: Returns whether the walks reach an operation.
      control_inputs: Whether the backward walk follows control inputs.
      control_outputs: Control outputs that the forward walk follows.
      control_ios: Both.
    """
    inputs, outputs = check_cios(control_inputs, control_outputs, control_ios)
    ahead = get_forward_walk_ops(
        forward_seed_ops, forward_inclusive, within_ops, within_ops_fn, (), outputs
    )
    back = get_backward_walk_ops(
        backward_seed_ops, backward_inclusive, within_ops, within_ops_fn, (), inputs
    )
    common = set(back)
    return [one for one in ahead if one in common]


def get_walks_union_ops(
    forward_seed_ops: Seeds,
    backward_seed_ops: Seeds,
    forward_inclusive: bool = True,
    backward_inclusive: bool = True,
    within_ops: Operations | None = None,
    within_ops_fn: OperationFilter | None = None,
    control_inputs: bool = False,
    control_outputs: ControlOutputs | None = None,
    control_ios: ControlOutputs | None = None,
) -> list[tf.Operation]:
    """Returns the operations that a forward or a backward walk reaches.

    The arguments are those of `get_walks_intersection_ops`.
    """
    inputs, outputs = check_cios(control_inputs, control_outputs, control_ios)
    ahead = get_forward_walk_ops(
        forward_seed_ops, forward_inclusive, within_ops, within_ops_fn, (), outputs
    )
    back = get_backward_walk_ops(
        backward_seed_ops, backward_inclusive, within_ops, within_ops_fn, (), inputs
    )
    return util.concatenate_unique(ahead, back)


def get_ops_ios(
    ops: Operations,
    control_inputs: bool = False,
    control_outputs: ControlOutputs | None = None,
    control_ios: ControlOutputs | None = None,
) -> list[tf.Operation]:
    """Returns the operations next to others: those before them, then those after them.

    Args:
      ops: The operations.
      control_inputs: Whether control inputs count.
      control_outputs: Control outputs that count.
      control_ios: Both.
    """
    inputs, outputs = check_cios(control_inputs, control_outputs, control_ios)
    operations = util.make_list_of_op(ops)
    before = [near for one in operations for near in _list_before(one, (), inputs)]
    after = [near for one in operations for near in _list_after(one, (), outputs)]
    return list(dict.fromkeys([*before, *after]))


def get_within_boundary_ops(
    ops: Operations,
    seed_ops: Operations,
    boundary_ops: Operations = (),
    inclusive: bool = True,
    control_inputs: bool = False,
    control_outputs: ControlOutputs | None = None,
    control_ios: ControlOutputs | None = None,
) -> list[tf.Operation]:
    """Returns the operations that are connected with others without crossing a boundary.

    Args:
      ops: The operations to choose from; the walk itself may pass others.
      seed_ops: The operations to begin with.
      boundary_ops: The operations behind which the walk ends.
      inclusive: Whether the result contains the reached operations of the boundary.
      control_inputs: Whether the walk follows control inputs too.
      control_outputs: Control outputs that the walk follows too.
      control_ios: Both.

    Raises:
      TypeError: An argument contains an object of a wrong type.
      ValueError: The walk would begin in the boundary.
    """
    allowed = util.make_list_of_op(ops)
    inputs, outputs = check_cios(control_inputs, control_outputs, control_ios)
    seeds = util.make_list_of_op(seed_ops, allow_graph=False)
    boundary = set(util.make_list_of_op(boundary_ops))
    if boundary.intersection(seeds):
        raise ValueError("Boundary is intersecting with the seeds.")

    def find_next(one: tf.Operation) -> list[tf.Operation]:
        return [] if one in boundary else get_ops_ios(one, inputs, outputs)

    found = set(_walk(seeds, find_next))
    return [one for one in allowed if one in found and (inclusive or one not in boundary)]


def compute_boundary_ts(
    ops: Operations,
) -> tuple[list[tf.Tensor], list[tf.Tensor], list[tf.Tensor]]:
    """Returns the tensors at the border of some operations, each once.

    Args:
      ops: The operations.

    Returns:
      The tensors that they take from other operations; those that other operations take or that
      no operation takes; and those that they take from each other.
    """
    operations = util.make_list_of_op(ops)
    inside = set(operations)
    taken = dict.fromkeys(tensor for one in operations for tensor in one.inputs)
    made = dict.fromkeys(tensor for one in operations for tensor in one.outputs)
    users: dict[Any, list[tf.Operation]] = {tensor: tensor.consumers() for tensor in made}
    outputs = [
        tensor
        for tensor, consumers in users.items()
        if not consumers or any(user not in inside for user in consumers)
    ]
    inner = [tensor for tensor in made if tensor in taken]
    return [tensor for tensor in taken if tensor not in made], outputs, inner
