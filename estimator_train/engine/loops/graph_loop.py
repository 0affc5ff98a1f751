"""Many training steps in one session call: the step's sub-graph inside a `tf.while_loop`.

model_fn is called once, as ever. The operations that its train_op and loss need are then imported
into the body of a loop, and what holds state (variables, iterators, tables) is captured from
outside, so that a step in the loop and a step outside it are the same step on the same state.
"""

import contextlib
import dataclasses
import functools
from collections.abc import Collection, Iterable, Iterator
from typing import Any

import tensorflow as tf

from estimator_train.engine.loops.chosen_executor import ChosenExecutor
from estimator_train.engine.loops.xla import CompiledStep, NotCompilableError, Trial, compiled_step


class NotLoopableError(Exception):
    """The step's graph cannot stand in a loop; the message says why."""


@dataclasses.dataclass(frozen=True)
class LoopVote:
    """How workers that make each step together agree, step by step, when they leave a loop.

    Attributes:
      has_next: Whether this worker has input for one more step, a bool scalar of the step's graph.
      ballot: Two bool scalars that can be replaced: `has_next`, and whether this worker goes on.
      result: Whether all said yes, bool [2].
    """

    has_next: tf.Tensor
    ballot: tuple[tf.Tensor, tf.Tensor]
    result: tf.Tensor


class StepLoop:
    """A loop of training steps.

    Attributes:
      outcome: Tensors of the steps done and the loss of the last of them; where there is a vote,
        then whether all workers have input for one more.
      trial: Finds out whether a step compiles, for a loop of compiled steps.

    Args:
      most: Where it is set how many steps to run.
      done: Where the steps done stand, also after the end of the input broke the loop off.
      last_loss: Where the last one's loss stands.
      outcome: See above.
      trial: See above.
    """

    def __init__(
        self,
        most: "_Slot",
        done: "_Slot",
        last_loss: "_Slot",
        outcome: tuple[tf.Tensor, ...],
        trial: Trial | None = None,
    ) -> None:
        self.outcome = outcome
        self.trial = trial
        self._most, self._done, self._last_loss = most, done, last_loss
        self._calls: ChosenExecutor | None = None
        self._set: tuple[tf.compat.v1.Session, int] | None = None

    def set_steps(self, session: tf.compat.v1.Session, steps: int) -> None:
        """Sets how many steps `outcome` runs: in the session, so that no call needs to be fed.

        Args:
          session: A raw session.
          steps: 1 or more.
        """
        if self._set != (session, steps):
            self._most.set(session, steps)
            self._set = (session, steps)

    def run(self, session: tf.compat.v1.Session, steps: int) -> tuple[int, Any, bool]:
        """Runs steps until there are `steps` of them, the loss is not finite, or a vote ends them.

        Args:
          session: A raw session.
          steps: How many steps to run; 1 or more.

        Returns:
          The steps done, the last one's loss, and False if a worker has no more input.
        """
        self.set_steps(session, steps)
        self._calls = self._calls or ChosenExecutor(self.outcome)
        done, loss, *has_more = self._calls.run(session, steps)
        return int(done), loss, all(has_more)

    def read_broken_off(self, session: tf.compat.v1.Session) -> tuple[int, Any]:
        """The steps done and the last one's loss after `run` raised for the end of the input."""
        count = int(session.run(self._done.read))
        return count, session.run(self._last_loss.read) if count else None


def build_loop(
    train_op: Any,
    loss: tf.Tensor,
    *,
    stop_at_nan: bool = True,
    compiled: bool = False,
    unseen: Collection[tf.Operation] = (),
    vote: LoopVote | None = None,
) -> StepLoop:
    """Builds a loop of the step that computes `loss` and runs `train_op`.

    Args:
      train_op: Operation or tensor that runs one training step.
      loss: Scalar tensor of the same graph.
      stop_at_nan: Whether the loop ends after a step whose loss is not finite.
      compiled: Whether XLA compiles the step.
      unseen: Operations that only the order of a hooked step needs, as reads for its hooks.
      vote: How workers agree when the loop ends; None for one that is this process's alone.

    Raises:
      NotLoopableError: The step uses what cannot be captured: reference variables, queues, or
        placeholders that a hook feeds.
      NotCompilableError: The step cannot be compiled as it is.
    """
    graph = loss.graph
    operation = train_op if isinstance(train_op, tf.Operation) else train_op.op
    shown = [loss] if vote is None else [loss, vote.has_next]
    needed, captured = _sub_graph([operation, *(tensor.op for tensor in shown)], unseen)
    whole = functools.partial(_definition, graph)
    step: CompiledStep | _Copy
    if compiled:
        if vote is not None:
            raise NotCompilableError("its workers vote after each step")
        step = compiled_step(operation, loss, needed, captured, whole)
    else:
        step = _Copy(whole(needed, captured), operation.name, shown)
    can_be_nan = stop_at_nan and loss.dtype.is_floating
    most_slot = _Slot("steps", tf.int64)
    done_slot = _Slot("done", tf.int64)
    loss_slot = _Slot("loss", loss.dtype)
    most = most_slot.read
    with tf.control_dependencies([done_slot.assign(tf.constant(0, tf.int64))]):
        start = [tf.constant(0, tf.int64), tf.zeros([], loss.dtype)]

    def is_wanted(done: tf.Tensor, step_loss: tf.Tensor) -> tf.Tensor:
        more = done < most
        return tf.logical_and(more, tf.math.is_finite(step_loss)) if can_be_nan else more

    def body(done: tf.Tensor, _: tf.Tensor, *agreed: tf.Tensor) -> list[tf.Tensor]:
        body_graph = tf.compat.v1.get_default_graph()
        handles = {handle.name: body_graph.capture(handle) for handle in captured}
        step_loss, *has_next = step.run(handles)
        with tf.control_dependencies([step_loss]):
            done = done + 1
            with tf.control_dependencies([done_slot.assign(done), loss_slot.assign(step_loss)]):
                after = [tf.identity(done), step_loss]
        if vote is not None:
            after += _voted(vote, has_next[0], is_wanted(done, step_loss))
        return after

    def go_on(done: tf.Tensor, step_loss: tf.Tensor, *agreed: tf.Tensor) -> tf.Tensor:
        return agreed[1] if agreed else is_wanted(done, step_loss)

    if vote is not None:
        start += [tf.constant(True), tf.constant(True)]
    with _control_flow_v2():
        outcome = tf.while_loop(go_on, body, start, parallel_iterations=1)
    trial = Trial(step, graph) if isinstance(step, CompiledStep) else None
    return StepLoop(most_slot, done_slot, loss_slot, tuple(outcome[:3]), trial)


@contextlib.contextmanager
def _control_flow_v2() -> Iterator[None]:
    """Within it `tf.while_loop` makes a functional loop, also after `disable_v2_behavior()`.

    A model_fn that was written for control flow v1 keeps that everywhere else.
    """
    was_on = tf.compat.v1.control_flow_v2_enabled()
    tf.compat.v1.enable_control_flow_v2()
    try:
        yield
    finally:
        if not was_on:
            tf.compat.v1.disable_control_flow_v2()


def _voted(vote: LoopVote, has_next: tf.Tensor, is_willing: tf.Tensor) -> list[tf.Tensor]:
    """Adds a vote to the default graph: whether all have input, and whether all go on."""
    needed, captured = _sub_graph([vote.result.op], ())
    body_graph = tf.compat.v1.get_default_graph()
    given = {handle.name: body_graph.capture(handle) for handle in captured}
    said = (has_next, tf.logical_and(has_next, is_willing))
    given |= {place.name: tensor for place, tensor in zip(vote.ballot, said, strict=True)}
    definition = _definition(vote.result.graph, needed, captured)
    (result,) = tf.import_graph_def(definition, given, [vote.result.name], name="vote")
    return tf.unstack(tf.ensure_shape(result, [2]))


@dataclasses.dataclass(frozen=True)
class _Copy:
    """The step's operations as they are.

    Attributes:
      definition: Their GraphDef, with placeholders for handles.
      operation: The name of the one that runs the step.
      shown: The loss, and other tensors of the step.
    """

    definition: tf.compat.v1.GraphDef
    operation: str
    shown: list[tf.Tensor]

    def run(self, handles: dict[str, tf.Tensor]) -> list[tf.Tensor]:
        """Adds a step to the default graph; returns what it shows, which is there when it is done.

        Args:
          handles: The captured handles by their names.
        """
        names = [self.operation, *(tensor.name for tensor in self.shown)]
        ran, *found = tf.import_graph_def(self.definition, handles, names, name="step")
        with tf.control_dependencies([ran]):
            # An import forgets the shape of what a tf.cond gives.
            return [
                tf.ensure_shape(tensor, whole.shape)
                for tensor, whole in zip(found, self.shown, strict=True)
            ]


class _Slot:
    """A variable that is in no collection, so that nothing saves, initializes or reports it."""

    def __init__(self, name: str, dtype: tf.DType) -> None:
        with tf.name_scope("steps_per_loop"):
            name = tf.compat.v1.get_default_graph().unique_name(name, mark_as_used=False)
            self._handle = tf.raw_ops.VarHandleOp(dtype=dtype, shape=[], shared_name=name)
            self.read = tf.raw_ops.ReadVariableOp(resource=self._handle, dtype=dtype)
            self._value = tf.compat.v1.placeholder(dtype, [])
            self._assign = self.assign(self._value)

    def assign(self, value: tf.Tensor) -> tf.Operation:
        return tf.raw_ops.AssignVariableOp(resource=self._handle, value=value)

    def set(self, session: tf.compat.v1.Session, value: Any) -> None:
        session.run(self._assign, {self._value: value})


def _sub_graph(
    targets: Iterable[tf.Operation], unseen: Collection[tf.Operation]
) -> tuple[set[tf.Operation], list[tf.Tensor]]:
    """The operations that `targets` need, and the handles of state at which they end."""
    needed: set[tf.Operation] = set()
    captured: dict[str, tf.Tensor] = {}
    stack = list(targets)
    while stack:
        operation = stack.pop()
        if operation in needed or operation.name in captured:
            continue
        if _is_handle(operation):
            captured[operation.name] = operation.outputs[0]
            continue
        _check_loopable(operation)
        needed.add(operation)
        stack.extend(tensor.op for tensor in operation.inputs)
        stack.extend(
            before
            for before in operation.control_inputs
            if before not in unseen and not _is_gradient_of_nothing(before, operation)
        )
    return needed, list(captured.values())


def _is_gradient_of_nothing(operation: tf.Operation, gate: tf.Operation) -> bool:
    """Whether nothing but a gate, which waits for all gradients of a layer, needs an operation.

    The gradient by the first layer's input is such a one: as much work as the layer itself.
    """
    if not gate.name.endswith("_grad/tuple/group_deps") or operation.op_def.is_stateful:
        return False
    behind = [user for tensor in operation.outputs for user in tensor.consumers()]
    return bool(behind) and all(
        user.type == "Identity" and gate in user.control_inputs and not _is_used(user)
        for user in behind
    )


def _is_used(operation: tf.Operation) -> bool:
    return bool(operation.outputs[0].consumers() or operation._control_outputs)


def _is_handle(operation: tf.Operation) -> bool:
    """Whether an operation only names state: a variable's, an iterator's or a table's handle."""
    outputs = operation.outputs
    if len(outputs) != 1 or outputs[0].dtype != tf.resource:
        return False
    # A dense table has inputs: the keys that stand for no key.
    return not operation.inputs or operation.type == "MutableDenseHashTableV2"


def _check_loopable(operation: tf.Operation) -> None:
    if any(tensor.dtype._is_ref_dtype for tensor in operation.outputs):
        raise NotLoopableError(f"'{operation.name}' is a reference variable")
    if operation.type == "Placeholder":
        raise NotLoopableError(f"the placeholder '{operation.name}' must be fed at every step")
    if "Queue" in operation.type:
        raise NotLoopableError(f"'{operation.name}' reads a queue")


def _drop_other_controls(node: Any, names: Collection[str]) -> None:
    kept = [name for name in node.input if not name.startswith("^") or name[1:] in names]
    if len(kept) < len(node.input):
        del node.input[:]
        node.input.extend(kept)


def _definition(
    graph: tf.Graph, needed: set[tf.Operation], captured: list[tf.Tensor]
) -> tf.compat.v1.GraphDef:
    """The GraphDef of the needed operations, with a placeholder for each captured handle."""
    whole = graph.as_graph_def()
    definition = tf.compat.v1.GraphDef(versions=whole.versions, library=whole.library)
    names = {operation.name for operation in needed}
    definition.node.extend(node for node in whole.node if node.name in names)
    for node in definition.node:
        _drop_other_controls(node, names)
        # A colocation may name an operation that stays outside; devices are in the nodes already.
        node.attr.pop("_class", None)
    for handle in captured:
        node = definition.node.add(name=handle.op.name, op="Placeholder")
        node.attr["dtype"].type = tf.resource.as_datatype_enum
    return definition
