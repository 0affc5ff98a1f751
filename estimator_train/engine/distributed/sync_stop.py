"""Ending a synchronous training on all workers after the same step.

If a worker stopped alone, the others would wait in a collective without end. So with each step
they vote whether there is to be another: not if one of them has no more input, if it is the last
step, or if a hook of one asked to stop. Who stops for a hook makes one more step to say so. In the
same vote the chief says whether it writes a checkpoint after the step, and then it does, by a clock
of its own too: each worker has something of its own to save at that step. And all say whether they
could run a loop of steps next: if so, all do, and vote after each of its steps whether it goes on.
"""

import dataclasses
import time
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_train.engine import tf_internals
from estimator_train.engine.checkpoints.integrity import latest_checkpoint
from estimator_train.engine.checkpoints.reading import global_step_in
from estimator_train.engine.checkpoints.save_schedule import SaveSchedule
from estimator_train.engine.context import EstimatorContext
from estimator_train.engine.distributed.server import Patience
from estimator_train.engine.distributed.sync_watchdog import end_watch
from estimator_train.engine.hook_types import PassiveHook, RunArgs, RunContext, RunValues
from estimator_train.engine.inputs.input_fn import Inputs, split
from estimator_train.engine.loops.agreement import LoopAgreement
from estimator_train.engine.loops.graph_loop import LoopVote
from estimator_train.lifecycle.long_wait import long_wait

_LOG = tf.get_logger()
_CHECKPOINT_SECS = 60.0
_LOOK_EVERY_SECS = 0.1
_NO_LIMIT = tf.int64.max


@dataclasses.dataclass(frozen=True)
class VotingInputs(Inputs):
    """The tensors that one step reads, with the vote of the workers on whether there is a next.

    Attributes:
      stop: Ends the training on all workers.
    """

    stop: Any = None

    def attend(self, hooks: Sequence[Any], schedule: SaveSchedule | None) -> None:
        """Tells the vote of the hooks that stop at a step, and of those that save."""
        train = tf.compat.v1.train
        self.stop.stops = [
            hook
            for hook in hooks
            if isinstance(hook, train.StopAtStepHook) or hasattr(hook, "last_step")
        ]
        self.stop.schedule = schedule
        if schedule is not None:
            schedule.wait_for(lambda: self.stop.saves)

    @property
    def has_more(self) -> bool:
        """Whether all workers had input for another step as they voted last."""
        return bool(self.stop.has_more)

    @property
    def chief_saves(self) -> bool:
        """Whether the chief writes a checkpoint after the step of the last vote."""
        return bool(self.stop.saves)

    def placed(self, has_more: bool | None) -> None:
        """Tells the vote: past the input's start there is no empty element to be read for it."""
        self.stop.known_next = has_more


def voting_inputs(
    context: EstimatorContext,
    dataset: tf.data.Dataset,
    strategy: Any,
    input_context: tf.distribute.InputContext,
) -> VotingInputs:
    """The inputs of a step on the only replica of this process.

    Args:
      context: The estimator that is run.
      dataset: Of one replica's batches.
      strategy: The strategy whose workers stop at the same step.
      input_context: The place of the worker's input among the others.
    """
    with tf.device("/cpu:0"):
        iterator = tf.compat.v1.data.make_initializable_iterator(_with_has_next(dataset))
        packed, has_next = iterator.get_next()
        specs = tf.nest.flatten(dataset.element_spec, expand_composites=True)
        tensors = tf.raw_ops.OptionalGetValue(
            optional=packed,
            output_types=[spec.dtype for spec in specs],
            output_shapes=[spec.shape for spec in specs],
        )
    element = tf.nest.pack_sequence_as(dataset.element_spec, tensors, expand_composites=True)
    features, labels = split(element)
    stop = SyncStop(context, strategy, has_next)
    return VotingInputs(
        features,
        labels,
        iterator,
        iterator.initializer,
        input_context,
        voting_hooks=(stop,),
        agreement=stop.loops,
        stop=stop,
    )


def _with_has_next(dataset: tf.data.Dataset) -> tf.data.Dataset:
    """Elements as optionals, each with whether another follows; before the first, an empty one."""

    def pack(*element: Any) -> tf.Tensor:
        tensors = tf.nest.flatten(element, expand_composites=True)
        return tf.raw_ops.OptionalFromValue(components=tensors)

    def shift(before: tf.Tensor, current: tf.Tensor) -> tuple[tf.Tensor, Any]:
        return current, (before, tf.raw_ops.OptionalHasValue(optional=current))

    nothing = tf.raw_ops.OptionalNone()
    end = tf.data.Dataset.from_tensors(0).map(lambda _: tf.raw_ops.OptionalNone())
    return dataset.map(pack).concatenate(end).scan(nothing, shift)


class SyncStop(PassiveHook):
    """Votes with each step whether there is another, and stops all workers after the same.

    It stands first among the hooks: what it waits for in a new session is that all workers have
    theirs, with their variables read from the checkpoint that the chief will then replace.

    Args:
      context: The estimator that is run.
      strategy: The strategy.
      has_next: Whether this worker has input for another step, a bool scalar. The first element
        of the input is an empty one: it is read before the first step, for this alone.

    Attributes:
      stops: Hooks that stop at a step.
      schedule: When checkpoints are written, on the chief; None on other workers.
      has_more: Whether all workers had input for another step as they voted last.
      saves: Whether the chief writes a checkpoint after the step of the last vote.
      known_next: What is fed for `has_next` in a new session; None if the input is at its start.
      loops: How the workers come to run the same loops.
    """

    def __init__(self, context: EstimatorContext, strategy: Any, has_next: tf.Tensor) -> None:
        self._context, self._strategy, self._has_next = context, strategy, has_next
        limit = context.config.session_creation_timeout_secs
        self._limit = limit, "session_creation_timeout_secs"
        self.stops: list[Any] = []
        self.schedule: SaveSchedule | None = None
        self.has_more = True
        self.saves = False
        self.known_next: bool | None = None
        # On all workers, loops or not: they number their collectives in the order they are made.
        yes = tf.constant(True)
        has_next = tf.compat.v1.placeholder_with_default(yes, [], "has_next_in_loop")
        goes_on = tf.compat.v1.placeholder_with_default(yes, [], "goes_on_in_loop")
        result = _all(strategy, tf.stack([has_next, goes_on]))
        self.loops = LoopAgreement(
            LoopVote(self._has_next, (has_next, goes_on), result), self._end_of_input
        )

    def begin(self) -> None:
        """Builds the votes."""
        self._is_over = False
        self._fetches: Any = None
        self._step = 0
        self._saves_not = tf.compat.v1.placeholder_with_default(True, [])
        self._loops_next = tf.compat.v1.placeholder_with_default(False, [])
        self._willing = tf.compat.v1.placeholder_with_default(True, [])
        self._last_step = tf.compat.v1.placeholder_with_default(
            tf.constant(_NO_LIMIT, tf.int64), []
        )
        self._step_read = tf_internals.global_step_read()
        not_last = self._step_read + 1 < self._last_step
        with self._strategy.scope():
            goes_on = self._has_next & self._willing & not_last
            votes = [goes_on, self._has_next, self._saves_not, self._loops_next]
            self._vote = _all(self._strategy, tf.stack(votes))
            self._start = _all(self._strategy, self._has_next)

    def after_create_session(self, session: tf.compat.v1.Session, coord: Any) -> None:
        """Waits for all workers; stops if one has no input at all."""
        known = {} if self.known_next is None else {self._has_next: self.known_next}
        with long_wait("for all workers to say whether they have input", *self._limit):
            self.has_more = bool(session.run(self._start, known))
        self._is_over = not self.has_more
        if self._is_over:
            end_watch()
            _LOG.warning("Stopping: the input of a worker is empty or has ended.")
            coord.request_stop()
        self._step = int(session.run(self._step_read))

    def after_loop(self, steps: int, loss: Any) -> None:
        """Counts the steps of a loop."""
        self._step += steps

    def before_run(self, run_context: RunContext) -> RunArgs:
        """Votes."""
        self._fetches = run_context.original_args.fetches
        return RunArgs([self._vote, self._step_read], self._votes())

    def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
        """Stops if one voted against another step."""
        vote, before = run_values.results
        goes_on, self.has_more, saves_not, loops_next = map(bool, vote)
        self.saves = not saves_not
        self.loops.agreed = goes_on and loops_next
        self._step = int(before) + 1
        if not goes_on:
            self._stop()
            run_context.request_stop()

    def end(self, session: tf.compat.v1.Session) -> None:
        """Has all workers stop where this one alone was asked to; waits for the checkpoint."""
        if not self._is_over and self._fetches is not None:
            _LOG.info("Stopping: this worker makes one more step, which tells all others to stop.")
            with long_wait("for all workers to make the last step", *self._limit):
                self._make_last_step(session)
            self._stop()
        if not self._context.config.is_chief:
            self._wait_for_checkpoint(int(session.run(self._step_read)))

    def _make_last_step(self, session: tf.compat.v1.Session) -> None:
        if self.loops.taken_up() and not self.loops.run_one(session):
            self.has_more = False  # All others stop for that.
            return
        votes = {**self._votes(), self._willing: False}
        _, (_, more, *_) = session.run([self._fetches, self._vote], votes)
        self.has_more = bool(more)

    def _stop(self) -> None:
        """Notes that all workers stop after the step that was just made."""
        self._is_over = True
        end_watch()

    def _end_of_input(self) -> None:
        self.has_more = False
        self._stop()

    def _wait_for_checkpoint(self, step: int) -> None:
        """Lets the chief write the last checkpoint, for whoever reads it after the training."""
        end, patience = time.monotonic() + _CHECKPOINT_SECS, Patience(float("inf"))
        while time.monotonic() < end:
            path = latest_checkpoint(self._context.model_dir)
            if path is not None and global_step_in(path) >= step:
                return
            patience.wait(_LOOK_EVERY_SECS, f"for the chief to write the checkpoint of step {step}")
        _LOG.warning("The chief wrote no checkpoint of step %d that can be read here.", step)

    def _votes(self) -> dict[tf.Tensor, Any]:
        steps = [_last_step(hook) for hook in self.stops]
        known = [step for step in steps if step is not None]
        saves = self.schedule is not None and self.schedule.is_due_after_next(self._step)
        return {
            self._last_step: min(known, default=_NO_LIMIT),
            self._saves_not: not saves,
            self._loops_next: self.loops.wants(),
        }


def _last_step(hook: Any) -> int | None:
    """The step at which a hook stops: its own `last_step`, or that of a StopAtStepHook."""
    return hook.last_step if hasattr(hook, "last_step") else hook._last_step


def _all(strategy: Any, flag: tf.Tensor) -> tf.Tensor:
    """Whether a bool is true on all workers; of a vector, for each of its elements."""
    votes = strategy.extended.call_for_each_replica(lambda: tf.cast(flag, tf.float32))
    total = strategy.reduce(tf.distribute.ReduceOp.SUM, votes, axis=None)
    return total > strategy.num_replicas_in_sync - 0.5
