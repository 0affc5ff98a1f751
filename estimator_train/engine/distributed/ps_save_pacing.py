"""Asynchronous training that is never more than one interval ahead of its last checkpoint.

The other workers make steps while the chief writes a checkpoint, and until it looks. So the chief
begins to write before the interval is over, by as much as it needed last; and where that is not
enough, the others wait. They wait for a chief that writes, however long, and for one that is about
to: but not for one that does neither, as in a long step of its own. With SyncReplicasOptimizer
workers wait for the chief anyway.
"""

import math
import time
from collections.abc import Callable

import tensorflow as tf

from estimator_train.engine import tf_internals
from estimator_train.engine.checkpoints.save_schedule import SaveSchedule
from estimator_train.engine.context import EstimatorContext
from estimator_train.engine.distributed.ps_table import ToldNumber
from estimator_train.engine.distributed.server import Patience
from estimator_train.engine.hook_types import (
    GlobalStepHook,
    Listener,
    RunArgs,
    RunContext,
    RunValues,
    SaverHook,
)
from estimator_train.engine.loops.training_loop import needs_other_workers
from estimator_train.lifecycle import preemption

_LOG = tf.get_logger()
_TABLE = "estimator_train/save_pacing"
_NO_LIMIT = tf.int64.max
# A worker makes at most two before it knows, and one more where it leaves the last steps.
_STEPS_EACH = 3
_LOOK_EVERY_SECS = 0.02
_LONGEST_WAIT_SECS = 60.0


def pace_saves(saver: SaverHook, schedule: SaveSchedule, context: EstimatorContext) -> None:
    """Has a chief write checkpoints in time, with other workers that train beside it.

    Args:
      saver: Its saver hook, before there is a session, when all of the default graph is there.
      schedule: When the hook saves.
      context: The estimator that is trained.
    """
    if needs_other_workers(tf.compat.v1.get_default_graph()):
        return
    config, unseen = context.config, context.topology.steps_unseen
    steps, secs = config.save_checkpoints_steps, config.save_checkpoints_secs
    listener = SavePacing(schedule, steps, secs, config.num_worker_replicas, unseen)
    tf_internals.add_listeners(saver, [listener], first=True)


class SavePacing(Listener):
    """Has a chief save early, and says how far others may go before the next checkpoint.

    It is the first listener of the saver hook.

    Args:
      schedule: When the chief's saver hook saves.
      steps: Steps between two checkpoints, if that is how they are counted.
      secs: Seconds between two checkpoints, if not.
      trainers: How many processes train.
      unseen: Steps that each of them makes in a loop before it looks.
    """

    def __init__(
        self,
        schedule: SaveSchedule,
        steps: int | None,
        secs: float | None,
        trainers: int,
        unseen: int,
    ) -> None:
        self._schedule, self._steps, self._secs = schedule, steps, secs
        self._under_way = (trainers - 1) * (_STEPS_EACH + unseen) + 1
        self._last: tuple[float, int] | None = None

    def begin(self) -> None:
        """Adds to the graph what is told."""
        self._limit, self._writing = _told()

    def before_save(self, session: tf.compat.v1.Session, global_step_value: int) -> None:
        """Says that a checkpoint is being written."""
        self._began = time.monotonic()
        self._writing.tell(session, 1)

    def after_save(self, session: tf.compat.v1.Session, global_step_value: int) -> None:
        """Says how far the others may go now; sets when the next checkpoint is due."""
        took = time.monotonic() - self._began
        if self._steps is None:
            assert self._secs is not None
            self._schedule.set_interval(secs=self._secs - min(took, self._secs / 2))
        else:
            needed = self._under_way + math.ceil(took * self._pace(global_step_value))
            interval = self._steps - min(needed, self._steps // 2)
            self._schedule.set_interval(steps=interval)
            # Where the interval is short, who comes later than the chief must not keep it waiting.
            more = max(interval, self._steps - self._under_way)
            self._limit.tell(session, global_step_value + more)
        self._writing.tell(session, 0)

    def end(self, session: tf.compat.v1.Session, global_step_value: int) -> None:
        """Removes the limit: no chief trains any more."""
        self._limit.tell(session, _NO_LIMIT)

    def _pace(self, global_step: int) -> float:
        """All trainers' steps per second since the last checkpoint."""
        last, self._last = self._last, (self._began, global_step)
        if last is None or global_step < last[1]:
            return 0.0
        return (global_step - last[1]) / (self._began - last[0])


class WaitForSave(GlobalStepHook):
    """Holds a worker where more steps could be lost than one interval has.

    Args:
      is_over: Whether the chief has ended the training; waits as long as the chief is gone.
      until: A global step from which on this worker pauses anyway, if there is one.
    """

    def __init__(self, is_over: Callable[[], bool], until: int | None) -> None:
        self._is_over = is_over
        self._until = _NO_LIMIT if until is None else until
        self._not_heeded: int | None = None
        self._said = False

    def begin(self) -> None:
        """Finds the global step, and what the chief tells."""
        super().begin()
        self._global_step = tf.compat.v1.train.get_global_step()
        self._limit, self._writing = _told()

    def steps_until_due(self, global_step: int) -> None:
        """It need see no step: the chief allows for the loops of others."""

    def before_run(self, run_context: RunContext) -> RunArgs:
        """Asks for the global step and the limit."""
        del run_context
        return RunArgs([self._step_read, self._limit.number])

    def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
        """Waits at the limit."""
        before, limit = run_values.results
        if before + 1 >= limit and limit != self._not_heeded:
            self._wait(run_context.session)

    def _wait(self, session: tf.compat.v1.Session) -> None:
        heard, patience = time.monotonic(), Patience(float("inf"))
        while not (self._is_over() or preemption.requested()):
            step, limit, writing = session.run(
                [self._global_step, self._limit.number, self._writing.number]
            )
            if step < limit or step >= self._until:
                return
            if not self._said:
                self._said = True
                _LOG.info(
                    "Global step %d is one checkpoint interval after the last checkpoint: waiting "
                    "for the chief to write the next. Later waits of this kind are not logged.",
                    step,
                )
            if writing:
                heard = time.monotonic()
            elif time.monotonic() - heard > _LONGEST_WAIT_SECS:
                _LOG.warning(
                    "The chief has written no checkpoint for %d seconds; training continues beyond "
                    "step %d, so that a failure may cost more than one checkpoint interval.",
                    _LONGEST_WAIT_SECS,
                    step,
                )
                self._not_heeded = int(limit)
                return
            patience.wait(_LOOK_EVERY_SECS, "for the chief to write the next checkpoint")


def _told() -> tuple[ToldNumber, ToldNumber]:
    """The global step from which on others wait; 1 while the chief writes a checkpoint, else 0."""
    return ToldNumber(_TABLE, "limit", _NO_LIMIT), ToldNumber(_TABLE, "writing", 0)
