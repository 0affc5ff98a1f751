"""Coordination of synchronous workers: all run the same loops and stop after the same step.

A worker that stopped alone would leave the others waiting in a collective. So the workers vote
with each step whether there is another one: not if a worker has no more input, if the step is the
last one, or if a hook of a worker asked to stop. A worker that a hook stops makes one more step to
tell the others. In the same vote the chief announces that it writes a checkpoint after the step,
so that each worker saves its input position at that step, and the workers decide whether they run
a loop of steps next. In a loop they vote after each step whether the loop continues.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_train.engine.checkpoints.integrity import latest_checkpoint
from estimator_train.engine.checkpoints.reading import read_global_step
from estimator_train.engine.checkpoints.save_schedule import SaveSchedule
from estimator_train.engine.context import EstimatorContext
from estimator_train.engine.distributed.server import Deadline
from estimator_train.engine.distributed.sync_watchdog import end_watch
from estimator_train.engine.hook_types import (
    Hook,
    Loss,
    PassiveHook,
    RunArgs,
    RunContext,
    RunValues,
)
from estimator_train.engine.loops.coordination import LoopVote, WorkerAgreement, WorkerCoordinator
from estimator_train.engine.loops.training_loop import TrainingLoop
from estimator_train.engine.tf_internals import step_reads, tf_hooks
from estimator_train.lifecycle.long_wait import limit_wait

_LOG = tf.get_logger()
_CHECKPOINT_SECS = 60.0
_POLL_SECS = 0.1
_NO_LIMIT = tf.int64.max


def build_loop_vote(strategy: tf.distribute.Strategy, has_next: tf.Tensor) -> LoopVote:
    """Builds the vote after each step of a loop.

    All workers build it, whether they run loops or not: a collective is identified by the order in
    which a graph creates it.

    Args:
      strategy: The strategy of the workers.
      has_next: Whether this worker has input for another step, a bool scalar.
    """
    with strategy.scope():
        yes = tf.constant(True)
        has_next_in_loop = tf.compat.v1.placeholder_with_default(yes, [], "has_next_in_loop")
        wants_step = tf.compat.v1.placeholder_with_default(yes, [], "wants_step_in_loop")
        result = _reduce_all(strategy, tf.stack([has_next_in_loop, wants_step]))
    return LoopVote(has_next, (has_next_in_loop, wants_step), result)


class SyncCoordinator(PassiveHook, WorkerCoordinator):
    """Coordinator of one of several synchronous workers; also the hook that casts its votes.

    The session calls it before the hooks that save: in a new session it waits until all workers
    have restored their variables from the checkpoint that the chief then replaces.

    Args:
      context: The estimator that is trained.
      strategy: The strategy of the workers.
      loops: The training step, and the loop with its vote.
      agreement: Where the results of the votes are stored.
      schedule: Schedule of the checkpoints, on the chief; None on other workers.
      hooks: All other hooks of the session.
    """

    def __init__(
        self,
        context: EstimatorContext,
        strategy: tf.distribute.Strategy,
        loops: TrainingLoop,
        agreement: WorkerAgreement,
        schedule: SaveSchedule | None,
        hooks: Sequence[Hook],
    ) -> None:
        self.hooks = (self,)
        self._context, self._strategy, self._loops = context, strategy, loops
        assert loops.vote is not None
        self._has_next = loops.vote.has_next
        self._agreement, self._schedule = agreement, schedule
        self._stopping_hooks = [hook for hook in hooks if _stops_at_step(hook)]
        limit = context.config.session_creation_timeout_secs
        self._limit = limit, "session_creation_timeout_secs"
        self._is_loop_agreed = self._can_loop = False

    def begin(self) -> None:
        """Builds the votes."""
        self._is_over = False
        self._fetches: list[Any] | None = None
        self._step = 0
        self._saves_not = tf.compat.v1.placeholder_with_default(True, [])
        self._loops_next = tf.compat.v1.placeholder_with_default(False, [])
        self._wants_step = tf.compat.v1.placeholder_with_default(True, [])
        self._last_step = tf.compat.v1.placeholder_with_default(
            tf.constant(_NO_LIMIT, tf.int64), []
        )
        self._step_read = step_reads.find_global_step_read()
        not_last = self._step_read + 1 < self._last_step
        with self._strategy.scope():
            continues = self._has_next & self._wants_step & not_last
            votes = [continues, self._has_next, self._saves_not, self._loops_next]
            self._vote = _reduce_all(self._strategy, tf.stack(votes))
            self._start = _reduce_all(self._strategy, self._has_next)

    def after_create_session(
        self, session: tf.compat.v1.Session, coord: tf.train.Coordinator
    ) -> None:
        """Waits for all workers; stops if a worker has no input at all."""
        # A restored input starts behind the empty element that tells whether another follows.
        known = self._agreement.restored_has_next
        feeds = {} if known is None else {self._has_next: known}
        with limit_wait("for all workers to say whether they have input", *self._limit):
            self._agreement.has_more = bool(session.run(self._start, feeds))
        self._is_over = not self._agreement.has_more
        if self._is_over:
            end_watch()
            _LOG.warning("Stopping: the input of a worker is empty or has ended.")
            coord.request_stop()
        self._step = int(session.run(self._step_read))

    def propose_loop(self, can_loop_next: Callable[[], bool]) -> None:
        """Stores this worker's wish for the vote of the next step."""
        self._can_loop = can_loop_next()

    def before_run(self, run_context: RunContext) -> RunArgs:
        """Votes."""
        self._fetches = run_context.original_args.fetches
        return RunArgs([self._vote, self._step_read], self._cast_votes())

    def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
        """Stores the results; stops if a worker voted against another step."""
        vote, before = run_values.results
        continues, self._agreement.has_more, saves_not, loops_next = map(bool, vote)
        self._agreement.chief_saves = not saves_not
        self._is_loop_agreed = continues and loops_next
        self._step = int(before) + 1
        if not continues:
            self._end_voting()
            run_context.request_stop()

    def count_loop_steps(self, wanted: int) -> int:
        """Returns the steps of an agreed loop: at least one, since all workers must run it."""
        is_agreed, self._is_loop_agreed = self._is_loop_agreed, False
        return max(1, wanted) if is_agreed else 0

    def finish_loop(self, has_more: bool) -> bool:
        """Ends the training if a worker has no more input."""
        if not has_more:
            self._agreement.has_more = False
            self._end_voting()
        return not has_more

    def after_loop(self, steps: int, loss: Loss) -> None:
        """Counts the steps of a loop."""
        self._step += steps

    def end(self, session: tf.compat.v1.Session) -> None:
        """Stops the other workers if only this one was asked to; waits for the checkpoint."""
        if not self._is_over and self._fetches is not None:
            _LOG.info("Stopping: this worker makes one more step, which tells all others to stop.")
            with limit_wait("for all workers to make the last step", *self._limit):
                self._make_last_step(session)
            self._end_voting()
        if not self._context.config.is_chief:
            self._wait_for_checkpoint(int(session.run(self._step_read)))

    def _make_last_step(self, session: tf.compat.v1.Session) -> None:
        """Makes a step in which this worker votes against another one."""
        if steps := self.count_loop_steps(1):
            loop = self._loops.choose(session, batch_size=None)
            assert loop is not None
            _, _, has_more = loop.run(session, steps)
            if not has_more:  # The others stop for the end of the input.
                self._agreement.has_more = False
                return
        votes = {**self._cast_votes(), self._wants_step: False}
        _, (_, has_more, *_) = session.run([self._fetches, self._vote], votes)
        self._agreement.has_more = bool(has_more)

    def _end_voting(self) -> None:
        """Notes that all workers stop after the last step."""
        self._is_over = True
        end_watch()

    def _wait_for_checkpoint(self, step: int) -> None:
        """Waits for the chief's last checkpoint, which the program may read after training."""
        end, deadline = time.monotonic() + _CHECKPOINT_SECS, Deadline()
        while time.monotonic() < end:
            path = latest_checkpoint(self._context.model_dir)
            if path is not None and read_global_step(path) >= step:
                return
            deadline.wait(_POLL_SECS, f"for the chief to write the checkpoint of step {step}")
        _LOG.warning("The chief wrote no checkpoint of step %d that can be read here.", step)

    def _cast_votes(self) -> dict[tf.Tensor, bool | int]:
        """Returns this worker's votes as feeds."""
        steps = [_find_last_step(hook) for hook in self._stopping_hooks]
        known = [step for step in steps if step is not None]
        saves = self._schedule is not None and self._schedule.is_due_after_next(self._step)
        return {
            self._last_step: min(known, default=_NO_LIMIT),
            self._saves_not: not saves,
            self._loops_next: self._can_loop,
        }


def _stops_at_step(hook: Hook) -> bool:
    return isinstance(hook, tf.compat.v1.train.StopAtStepHook) or hasattr(hook, "last_step")


def _find_last_step(hook: Any) -> int | None:
    """Returns the step at which a hook stops: its `last_step`, or that of a StopAtStepHook."""
    return hook.last_step if hasattr(hook, "last_step") else tf_hooks.find_last_step(hook)


def _reduce_all(strategy: tf.distribute.Strategy, flags: tf.Tensor) -> tf.Tensor:
    """Returns whether a bool is True on all workers; for a vector, each of its elements."""
    votes = strategy.extended.call_for_each_replica(lambda: tf.cast(flags, tf.float32))
    total = strategy.reduce(tf.distribute.ReduceOp.SUM, votes, axis=None)
    return total > strategy.num_replicas_in_sync - 0.5
