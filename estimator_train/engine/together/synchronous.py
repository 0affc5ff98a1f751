"""Training in step with other workers, each with a copy of the variables.

All run the same loops and stop after the same step: a worker that stopped alone would leave the
others waiting in a collective. So the workers vote with each step whether there is another one:
not if a worker has no more input, if the step is the last one, or if a hook of a worker asked to
stop. A worker that a hook stops makes one more step to tell the others. In the same vote the chief
announces that it writes a checkpoint after the step, so that each worker saves its input position
at that step, and the workers decide whether they run a loop of steps next. In a loop they vote
with each step whether the loop continues.
"""

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import tensorflow as tf

from estimator_train.engine.checkpoints.integrity import latest_checkpoint
from estimator_train.engine.checkpoints.reading import read_global_step
from estimator_train.engine.loops.training_loop import TrainingLoop, WorkerCoordinator
from estimator_train.engine.tf_internals import (
    graphs,
    saver_entries,
    strategies,
    tf_hooks,
)
from estimator_train.engine.together.alone import Alone
from estimator_train.engine.together.server import Deadline, list_other_trainers, start_server
from estimator_train.engine.together.strategies import make_collective_settings, merge_sums
from estimator_train.engine.together.sync_watchdog import WaitForPeersCreator, end_watch
from estimator_train.engine.types import (
    Hook,
    LoopVote,
    Loss,
    PassiveHook,
    RunArgs,
    RunContext,
    RunValues,
    SaverHook,
    Strategy,
)
from estimator_train.lifecycle.limits import limit_wait
from estimator_train.lifecycle.step_timeout import StepTimeout
from estimator_train.run_config import RunConfig

_LOG = tf.get_logger()
_CHECKPOINT_SECS = 60.0
_POLL_SECS = 0.1
_NO_LIMIT = tf.int64.max


class Synchronous(Alone):
    """One of several workers that make each step together, under MultiWorkerMirroredStrategy.

    Each worker has its variables, and initializes or restores them itself.
    """

    initializes_variables = True

    @property
    def steps_per_call(self) -> int | str:
        """Maximum number of training steps in a session call; "auto" for no limit."""
        return self._config.steps_per_loop

    @property
    def receives_initial_values(self) -> bool:
        """Whether this worker is not the chief, which broadcasts the first values."""
        return not self._config.is_chief

    @contextlib.contextmanager
    def join(self, max_steps: int | None) -> Iterator[list[Hook]]:
        """Starts this worker's server.

        Raises:
          ValueError: The port of this task is taken.
        """
        del max_steps
        start_server(self._config, make_collective_settings(self._config))
        try:
            yield []
        finally:
            end_watch()

    def runs_here(self, master: str) -> bool:
        """Returns True: the strategy may have started the server in this process."""
        return True

    def find_shard_of_replica(self, strategy: Strategy) -> tf.distribute.InputContext | None:
        """Returns the shard of a worker of one replica; see `Alone`."""
        if len(strategy.extended.worker_devices) != 1:
            return None
        return tf.distribute.InputContext(
            num_input_pipelines=self._config.num_worker_replicas,
            input_pipeline_id=self._config.global_id_in_cluster,
            num_replicas_in_sync=strategy.num_replicas_in_sync,
        )

    def make_coordinator(
        self, strategy: Strategy | None, has_next: tf.Tensor | None
    ) -> WorkerCoordinator:
        """Returns the coordinator by which workers of one replica each vote."""
        if has_next is None:
            return super().make_coordinator(strategy, has_next)
        return SyncCoordinator(self._config, strategy, has_next)

    def make_step_timeout(self) -> StepTimeout:
        """Returns the clock of steps, which names the workers that a step waits for."""
        others = " and ".join(list_other_trainers(self._config))
        return StepTimeout(self._config.step_timeout_secs, others)

    def build_local_secs(self, train_op: tf.Operation | tf.Tensor) -> tf.Tensor | None:
        """Builds the seconds from the start of a step until this worker begins to wait for others.

        All workers need the same time for a step, since its collectives wait for the slowest. A
        worker that is slow has its gradients later than the others.

        Args:
          train_op: The operation or tensor of the step.

        Returns:
          A float64 scalar that hooks fetch with a step; None if the step has no collectives.
        """
        of_step = graphs.walk([getattr(train_op, "op", train_op)])
        collectives = [operation for operation in of_step if _is_reduction(operation)]
        # Their results are there only after a wait, and so is all that needs them.
        after_waits = set(graphs.walk(collectives, _find_operations_after))
        inputs = {tensor.op for collective in collectives for tensor in collective.inputs}
        own = sorted(inputs - after_waits, key=lambda operation: operation.name)
        if not own:
            return None
        start = tf.timestamp(name="step_start")
        with tf.control_dependencies(own):
            return tf.subtract(tf.timestamp(), start, name="own_part_secs")

    def keep_broadcasts(self, global_step: tf.Variable, fed: Any) -> None:
        """Makes the chief send fed initial values; see `tf_internals.strategies`."""
        strategies.keep_broadcasts(global_step, fed)

    def list_saved_values(self, strategy: Strategy | None) -> list[Any] | None:
        """Returns the variables of this worker, which has a copy of each."""
        assert strategy is not None
        with strategy.scope():
            return saver_entries.list_entries_of_own_values()

    def wrap_creator(
        self, creator: tf.compat.v1.train.SessionCreator
    ) -> tf.compat.v1.train.SessionCreator:
        """Returns a session creator that waits for all workers, and then watches them."""
        return WaitForPeersCreator(self._config, creator)


def _find_operations_after(operation: tf.Operation) -> list[tf.Operation]:
    """Returns the operations that need the results of an operation."""
    return [consumer for tensor in operation.outputs for consumer in tensor.consumers()]


def _is_reduction(operation: tf.Operation) -> bool:
    return operation.type.startswith(("CollectiveReduce", "CollectiveGather"))


class SyncCoordinator(PassiveHook, WorkerCoordinator):
    """Coordinator of one of several synchronous workers; also the hook that casts its votes.

    The session calls it before the hooks that save: in a new session it waits until all workers
    have restored their variables from the checkpoint that the chief then replaces.

    Args:
      config: The configuration of the training, its cluster resolved.
      strategy: The strategy of the workers.
      has_next: Whether this worker has input for another step, a bool scalar.
    """

    _loops: TrainingLoop

    def __init__(
        self, config: RunConfig, strategy: tf.distribute.Strategy, has_next: tf.Tensor
    ) -> None:
        self.hooks = (self,)
        self.has_more, self.chief_saves = True, False
        self._config, self._strategy, self._has_next = config, strategy, has_next
        self._restored_has_next: bool | None = None
        self._is_save_due: Callable[[int], bool] = lambda step: False
        self._stopping_hooks: list[Hook] = []
        self._limit = config.session_creation_timeout_secs, "session_creation_timeout_secs"
        self._is_loop_agreed = self._can_loop = False

    def set_restored_input(self, has_next: bool | None) -> None:
        """Stores what a new session restored, for the first vote."""
        self._restored_has_next = has_next

    def control_saves(
        self, savers: Sequence[SaverHook], is_due_after_next: Callable[[int], bool]
    ) -> None:
        """Makes the chief announce its checkpoints: each worker saves its position with them."""
        self._is_save_due = is_due_after_next
        for saver in savers:
            tf_hooks.save_only_when(saver, lambda: bool(self.chief_saves))

    def build_loop_vote(self) -> LoopVote:
        """Builds the vote after each step of a loop.

        All workers build it, whether they run loops or not: a collective is identified by the order
        in which a graph creates it.
        """
        with self._strategy.scope():
            yes = tf.constant(True)
            wants_step = tf.compat.v1.placeholder_with_default(yes, [], "wants_step_in_loop")
            votes = [self._has_next, self._has_next & wants_step]
            result = _reduce_all(self._strategy, tf.stack(votes))
        return LoopVote(wants_step, result, merge_sums)

    def prepare(self, loops: TrainingLoop, hooks: Sequence[Hook]) -> None:
        """Finds the hooks that end the training at a known step."""
        self._loops = loops
        self._stopping_hooks = [hook for hook in hooks if _stops_at_step(hook)]

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
        self._step_read = tf_hooks.find_global_step_read()
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
        known = self._restored_has_next
        feeds = {} if known is None else {self._has_next: known}
        with limit_wait("for all workers to say whether they have input", *self._limit):
            self.has_more = bool(session.run(self._start, feeds))
        self._is_over = not self.has_more
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
        continues, self.has_more, saves_not, loops_next = map(bool, vote)
        self.chief_saves = not saves_not
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
            self.has_more = False
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
        if not self._config.is_chief:
            self._wait_for_checkpoint(int(session.run(self._step_read)))

    def _make_last_step(self, session: tf.compat.v1.Session) -> None:
        """Makes a step in which this worker votes against another one."""
        if steps := self.count_loop_steps(1):
            loop = self._loops.choose(session, batch_size=None)
            assert loop is not None
            _, _, has_more = loop.run(session, steps)
            if not has_more:  # The others stop for the end of the input.
                self.has_more = False
                return
        votes = {**self._cast_votes(), self._wants_step: False}
        _, (_, has_more, *_) = session.run([self._fetches, self._vote], votes)
        self.has_more = bool(has_more)

    def _end_voting(self) -> None:
        """Notes that all workers stop after the last step."""
        self._is_over = True
        end_watch()

    def _wait_for_checkpoint(self, step: int) -> None:
        """Waits for the chief's last checkpoint, which the program may read after training."""
        end, deadline = time.monotonic() + _CHECKPOINT_SECS, Deadline()
        while time.monotonic() < end:
            path = latest_checkpoint(self._config.model_dir)
            if path is not None and read_global_step(path) >= step:
                return
            deadline.wait(_POLL_SECS, f"for the chief to write the checkpoint of step {step}")
        _LOG.warning("The chief wrote no checkpoint of step %d that can be read here.", step)

    def _cast_votes(self) -> dict[tf.Tensor, bool | int]:
        """Returns this worker's votes as feeds."""
        steps = [_find_last_step(hook) for hook in self._stopping_hooks]
        known = [step for step in steps if step is not None]
        return {
            self._last_step: min(known, default=_NO_LIMIT),
            self._saves_not: not self._is_save_due(self._step),
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
