"""Many training steps in one session call: the step's sub-graph inside a `tf.while_loop`.

model_fn is called once. The operations that its train_op and loss need are imported into the body
of a loop. The handles of variables, iterators and tables are captured from outside, so that a step
in the loop and a step outside the loop read and write the same state. Reference variables have no
handles: see `reference_variables.py`.
"""

import contextlib
import dataclasses
import textwrap
from collections.abc import Collection, Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_train.engine.compiled.chunks import BatchChunks, ChunkedStep, compile_chunks
from estimator_train.engine.compiled.step import (
    CompiledStep,
    NotCompilableError,
    Trial,
    compile_step,
)
from estimator_train.engine.loops.prepared_calls import ChosenExecutor
from estimator_train.engine.loops.sub_graph import SubGraph, find_sub_graph
from estimator_train.engine.tf_internals import graphs, sessions
from estimator_train.engine.types import LoopVote, TrainOp

_errors = tf.errors
# Types of errors that the runtime also raises in an operation of a step.
_RUNTIME_TYPES = (
    _errors.AbortedError,
    _errors.InternalError,
    _errors.ResourceExhaustedError,
    _errors.UnimplementedError,
)
# Types of errors that closed sessions and time limits cause.
_STOP_TYPES = (_errors.CancelledError, _errors.DeadlineExceededError)
# Types of errors that other tasks cause.
_CLUSTER_TYPES = (_errors.AbortedError, _errors.UnavailableError)
# An error of the model or its data names the operation that raised it.
_OPERATION = "{{node "
_PREFIX = "Graph execution error:"
_NEXT_STEP = (
    "TensorFlow could not run a loop of steps. RunConfig(steps_per_loop=1) trains with one step "
    "per session call."
)
# A loop in a large graph takes 0.3 ms for each operation of the graph before its first step, and
# saves a millisecond or two in each step.
_OPERATIONS_PER_STEP = 200


class LoopFailedError(Exception):
    """Error for a loop that the runtime could not run; the message names the reason.

    Attributes:
      first_step: The global step at the start of the training; None in an evaluation.
    """

    first_step: int | None = None


def convert_failure(error: tf.errors.OpError, is_remote: bool) -> Exception | None:
    """Returns the error to raise for one of the first call of a loop; None for that error itself.

    An operation of the model or the input raises an error that names it. Any other error is a
    failure of the loop. So are the types of errors that operations and the runtime raise: an error
    of the input appears again in single steps.

    Args:
      error: The error.
      is_remote: Whether the session uses other tasks, which may wait for this one: then the error
        keeps its type, and names the next step.
    """
    if isinstance(error, _STOP_TYPES) or (is_remote and isinstance(error, _CLUSTER_TYPES)):
        return None
    if not isinstance(error, _RUNTIME_TYPES) and _OPERATION in error.message:
        return None
    if is_remote:
        return type(error)(error.node_def, error.op, f"{error.message}\n\n{_NEXT_STEP}")
    reason = textwrap.shorten(error.message.removeprefix(_PREFIX), 200)
    return LoopFailedError(f"{type(error).__name__}: {reason}")


class _LoopVariable:
    """A variable that is in no collection, so that nothing saves, initializes or reports it."""

    def __init__(self, name: str, dtype: tf.DType) -> None:
        with tf.name_scope("steps_per_loop"):
            name = tf.compat.v1.get_default_graph().unique_name(name, mark_as_used=False)
            self._handle = tf.raw_ops.VarHandleOp(dtype=dtype, shape=[], shared_name=name)
            self.read = tf.raw_ops.ReadVariableOp(resource=self._handle, dtype=dtype)
            self._value = tf.compat.v1.placeholder(dtype, [])
            with tf.control_dependencies([self.assign(self._value)]):
                self._assigned = tf.identity(self._value)
            self._session: tf.compat.v1.Session | None = None
            self._set_to: int | None = None

    def assign(self, value: tf.Tensor) -> tf.Operation:
        return tf.raw_ops.AssignVariableOp(resource=self._handle, value=value)

    def set(self, session: tf.compat.v1.Session, value: int) -> None:
        if session is not self._session:
            self._call = sessions.prepare_session_call(
                session, [self._value], [self._assigned], in_this_thread=not session.sess_str
            )
            self._session, self._set_to = session, None
        if value != self._set_to:
            self._call(np.asarray(value, self._value.dtype.as_numpy_dtype))
            self._set_to = value


@dataclasses.dataclass(eq=False)
class StepLoop:
    """Loop of training steps.

    Attributes:
      max_steps: Variable with the number of steps to run.
      done: Variable with the number of steps that ran, valid also after the end of the input
        stopped the loop.
      last_loss: Variable with the loss of the last step.
      outcome: Tensors of the steps done and the last loss; with a vote, then whether all workers
        have input for one more step.
      trial: Test whether a step compiles, for a loop of compiled steps.
      batch_size: Number of examples in each step, if chunks of the input have it; or None.
      store: Operation that stores the copies of reference variables, for an interrupted loop; None
        without such variables.
    """

    max_steps: _LoopVariable
    done: _LoopVariable
    last_loss: _LoopVariable
    outcome: tuple[tf.Tensor, ...]
    trial: Trial | None = None
    batch_size: int | None = None
    store: tf.Operation | None = None
    _calls: ChosenExecutor | None = dataclasses.field(default=None, init=False)
    _has_run: bool = dataclasses.field(default=False, init=False)

    def compile(self, session: tf.compat.v1.Session, batch_size: int | None = None) -> None:
        """Compiles the steps and prepares the call of `run`, in any thread, without a step.

        Args:
          session: A raw session.
          batch_size: Number of examples in a batch, if it is known.

        Raises:
          NotCompilableError: XLA cannot compile the step.
        """
        assert self.trial is not None
        self.trial.run(session, batch_size)
        try:
            self.run(session, 0)
        except LoopFailedError as failure:  # No step ran.
            raise NotCompilableError(str(failure)) from failure

    @property
    def is_settled(self) -> bool:
        """Whether the executor of the loop is chosen, so that its steps get no faster."""
        return self._calls is not None and self._calls.is_settled

    def set_steps(self, session: tf.compat.v1.Session, steps: int) -> None:
        """Sets how many steps `outcome` runs, in a variable, so that calls need no feeds.

        Args:
          session: A raw session.
          steps: 0 or more.
        """
        self.max_steps.set(session, steps)

    def run(self, session: tf.compat.v1.Session, steps: int) -> tuple[int, Any, bool]:
        """Runs steps until the number is reached, the loss is not finite, or a vote ends the loop.

        Args:
          session: A raw session.
          steps: Maximum number of steps; 0 or more.

        Returns:
          The number of steps done, the loss of the last one, and False if a worker has no more
          input.

        Raises:
          LoopFailedError: The runtime could not run the first call. Some variables may have the
            values of an incomplete step, whose batch is lost.
        """
        self.set_steps(session, steps)
        self._calls = self._calls or ChosenExecutor(self.outcome, compiled=self.trial is not None)
        try:
            done, loss, *has_more = self._calls.run(session, steps)
        except tf.errors.OutOfRangeError:
            if self.store is not None:
                session.run(self.store)
            raise
        except tf.errors.OpError as error:
            failure = None if self._has_run else convert_failure(error, bool(session.sess_str))
            if failure is None:
                raise
            raise failure from error
        self._has_run = True
        return int(done), loss, all(has_more)

    def read_interrupted(self, session: tf.compat.v1.Session) -> tuple[int, Any]:
        """Returns the steps done and the last loss after `run` raised at the end of the input."""
        count = int(session.run(self.done.read))
        return count, session.run(self.last_loss.read) if count else None


def is_worth_loop(graph: tf.Graph, steps: int | None) -> bool:
    """Returns whether a loop saves as much time as it takes to build, optimize and place it.

    Args:
      graph: The graph of the step.
      steps: Number of steps until the end; None if it is not known.
    """
    if steps is None or not graphs.is_large(graph):
        return True
    return steps > graph.version // _OPERATIONS_PER_STEP


def build_loop(
    train_op: TrainOp,
    loss: tf.Tensor,
    *,
    stop_at_nan: bool = True,
    compiled: bool | str = False,
    chunks: BatchChunks | None = None,
    excluded_operations: Collection[tf.Operation] = (),
    vote: LoopVote | None = None,
) -> StepLoop:
    """Builds a loop of the step that computes `loss` and runs `train_op`.

    Args:
      train_op: Operation or tensor that runs one training step.
      loss: Scalar tensor of the same graph.
      stop_at_nan: Whether the loop ends after a step whose loss is not finite.
      compiled: Whether XLA compiles the step; 'auto' if the loop may be replaced by another.
      chunks: Chunks of the input over which XLA compiles the loop of a compiled step; None for a
        call for each step.
      excluded_operations: Operations that the loop leaves out although the step depends on them,
        such as reads that only hooks need.
      vote: Vote that ends the loop on all workers; None in a process that trains alone.

    Raises:
      NotLoopableError: The loop cannot capture the step's state: queues, some uses of reference
        variables, or placeholders that a hook feeds.
      NotCompilableError: XLA cannot compile the step.
    """
    can_be_nan = stop_at_nan and loss.dtype.is_floating
    operation = train_op if isinstance(train_op, tf.Operation) else train_op.op
    outputs = [loss] if vote is None else [loss, vote.result]
    sub_graph = find_sub_graph(operation, outputs, excluded_operations)
    copies = sub_graph.copies
    if compiled and vote is not None:
        raise NotCompilableError("its workers vote after each step")
    step = _compile(sub_graph, loss, compiled == "auto", chunks, can_be_nan) if compiled else None
    max_steps = _LoopVariable("steps", tf.int64)
    steps_done = _LoopVariable("done", tf.int64)
    last_loss = _LoopVariable("loss", loss.dtype)
    before = [steps_done.assign(tf.constant(0, tf.int64)), *(copies.load() if copies else [])]
    with tf.control_dependencies(before):
        start = [tf.constant(0, tf.int64), tf.zeros([], loss.dtype)]

    def wants_step(done: tf.Tensor, step_loss: tf.Tensor) -> tf.Tensor:
        has_steps = done < max_steps.read
        return tf.logical_and(has_steps, tf.math.is_finite(step_loss)) if can_be_nan else has_steps

    def run_step(done: tf.Tensor, _: tf.Tensor, *votes: tf.Tensor) -> list[tf.Tensor]:
        steps, step_loss, results = _add_step(sub_graph, step, done, max_steps.read, vote)
        with tf.control_dependencies([step_loss]):
            done = done + steps
            with tf.control_dependencies([steps_done.assign(done), last_loss.assign(step_loss)]):
                state = [tf.identity(done), step_loss]
        if vote is None:
            return state
        have_next, want_step = tf.unstack(tf.ensure_shape(results[0], [2]))
        # The loss is the same on all workers, so that it needs no vote.
        return [*state, have_next, tf.logical_and(want_step, wants_step(done, step_loss))]

    def is_step_next(done: tf.Tensor, step_loss: tf.Tensor, *votes: tf.Tensor) -> tf.Tensor:
        return votes[1] if votes else wants_step(done, step_loss)

    if vote is not None:
        start += [tf.constant(True), tf.constant(True)]
    with _enable_control_flow_v2():
        outcome = tf.while_loop(is_step_next, run_step, start, parallel_iterations=1)
    results, store = tuple(outcome[:3]), None
    if copies:
        results, store = copies.store_after(results), copies.store()
    trial = step.make_trial(loss.graph) if step else None
    batch_size = chunks.batch_size if chunks else None
    return StepLoop(max_steps, steps_done, last_loss, results, trial, batch_size, store)


def _compile(
    sub_graph: SubGraph,
    loss: tf.Tensor,
    is_choice: bool,
    chunks: BatchChunks | None,
    can_be_nan: bool,
) -> CompiledStep | ChunkedStep:
    """Returns the compiled step, or a compiled loop of it over chunks; see `build_loop`."""
    if sub_graph.copies:
        raise NotCompilableError("it has reference variables of TensorFlow 1")
    step = compile_step(
        sub_graph.operation, loss, sub_graph.needed, sub_graph.captured, sub_graph.define
    )
    if is_choice:
        step.check_choice(loss.graph)
    elif chunks is None:
        step.warn_of_unchecked()
    return step if chunks is None else compile_chunks(step, chunks, loss, can_be_nan)


def _add_step(
    sub_graph: SubGraph,
    step: CompiledStep | ChunkedStep | None,
    done: tf.Tensor,
    limit: tf.Tensor,
    vote: LoopVote | None,
) -> tuple[tf.Tensor, tf.Tensor, list[tf.Tensor]]:
    """Adds a step, or several on a chunk, to the loop body.

    Returns:
      The number of steps, the loss of the last one, and its other outputs.
    """
    inputs = sub_graph.capture()
    steps, others = tf.constant(1, tf.int64), []
    if step is None:
        if vote is not None:
            inputs[vote.wants_step.name] = done + 1 < limit
        loss, *others = sub_graph.copy(inputs, "step", vote.rewrite if vote else None)
    elif isinstance(step, CompiledStep):
        loss = step.run(inputs)
    else:
        steps, loss = step.run(inputs, limit - done)
    loss.set_shape([])  # Some losses have no static shape.
    return steps, loss, others


@contextlib.contextmanager
def _enable_control_flow_v2() -> Iterator[None]:
    """Makes `tf.while_loop` functional, also after `disable_v2_behavior()`.

    A model_fn that was written for control flow v1 keeps that everywhere else.
    """
    was_on = tf.compat.v1.control_flow_v2_enabled()
    tf.compat.v1.enable_control_flow_v2()
    try:
        yield
    finally:
        if not was_on:
            tf.compat.v1.disable_control_flow_v2()
