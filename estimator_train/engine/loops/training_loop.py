"""The loop that runs training steps: compiled over chunks, compiled by the step, or uncompiled.

A `WorkerCoordinator` decides when the loop runs. That of synchronous workers
(`engine.together.synchronous`) lets them vote with every step.
"""

import contextlib
import dataclasses
from collections.abc import Callable, Sequence

import tensorflow as tf

from estimator_train.engine.compiled.chunks import BatchChunks
from estimator_train.engine.compiled.step import NotCompilableError
from estimator_train.engine.loops import hook_schedule
from estimator_train.engine.loops.graph_loop import StepLoop, build_loop
from estimator_train.engine.loops.sub_graph import NotLoopableError
from estimator_train.engine.loops.xla_choice import LoopChoice, report_not_compilable
from estimator_train.engine.tf_internals import graphs
from estimator_train.engine.types import Hook, LoopVote, PassiveHook, SaverHook, StepFetches

_LOG = tf.get_logger()


@dataclasses.dataclass(frozen=True)
class LoopSettings:
    """Settings of a training loop.

    Attributes:
      steps_per_call: Maximum number of steps of a session call; 1 for no loop, 'auto' for no limit.
      xla: Whether XLA compiles the steps: True, False, or 'auto' to compile them if it can and if
        compiled steps are faster.
      device: Device of the loop itself, if variables are on parameter servers.
    """

    steps_per_call: int | str
    xla: bool | str = False
    device: str | None = None


class TrainingLoop:
    """Loop of a training step, or the choice between loops of compiled and uncompiled steps.

    The loop is built when it first runs, so that the first step does not wait for it. Loops with a
    vote or with XLA are built here: all workers must have the same graph when a session opens,
    and errors of XLA come before training.

    Args:
      fetches: The training step.
      hooks: All hooks of the session; there is no loop if one of them must see every step.
      settings: Settings of the loop.
      vote: Vote that ends the loop on all synchronous workers; None in a process that trains alone.
      chunks: Chunks of the input for a loop of compiled steps, or None.

    Attributes:
      fetches: The training step.
      settings: Settings of the loop.
      vote: The vote that ends the loop, or None.
      can_loop: Whether steps may run in a loop; the first attempt to build one may make it False.
      hooks: Hooks that the loop needs in its session.

    Raises:
      ValueError: `settings.xla` is True, and XLA cannot compile the step.
    """

    def __init__(
        self,
        fetches: StepFetches,
        hooks: Sequence[Hook],
        settings: LoopSettings,
        vote: LoopVote | None = None,
        chunks: BatchChunks | None = None,
    ) -> None:
        self.fetches, self.settings = fetches, settings
        self.vote = vote
        self._loop: StepLoop | None = None
        self._choice: LoopChoice | None = None
        self.hooks: list[Hook] = []
        self.can_loop = settings.steps_per_call != 1 and _can_miss_steps(hooks)
        if settings.xla or vote is not None:
            self._build()
        if settings.xla and not self.can_loop:
            _LOG.warning("XLA compiles nothing: training runs one step per session call.")
        elif settings.xla and self._loop is not None and self._loop.store is not None:
            _LOG.warning("XLA compiles nothing: the step has reference variables of TensorFlow 1.")
        elif settings.xla:
            self._build_compiled(chunks)

    @property
    def is_built(self) -> bool:
        """Whether there is a loop, so that it takes no time to build one."""
        return self._loop is not None or self._choice is not None

    @property
    def compiled(self) -> StepLoop | None:
        """The loop of compiled steps; None before it is chosen and without one."""
        return self._choice.chosen if self._choice is not None and self.can_loop else None

    def choose(
        self, session: tf.compat.v1.Session, batch_size: int | None
    ) -> StepLoop | LoopChoice | None:
        """Returns the loop to run.

        Args:
          session: A raw session.
          batch_size: Number of examples in a batch, if it is known.

        Returns:
          The loop; None if the step cannot run in a loop.

        Raises:
          ValueError: `settings.xla` is True, and XLA cannot compile the step.
        """
        if self._choice is not None:
            self._choice.start(session, batch_size)
            return self._choice
        if self._loop is None:
            with graphs.reopen_for_context(session.graph), session.graph.as_default():
                self._build()
        return self._loop

    def wait(self) -> None:
        """Waits until no thread uses the session, which may then be closed."""
        if self._choice is not None:
            self._choice.wait()

    def disable(self) -> None:
        """Makes every step a session call that hooks see."""
        self.can_loop = False

    def _build(self) -> None:
        """Builds the loop of uncompiled steps, unless the step cannot run in a loop."""
        if self.can_loop:
            try:
                self._loop = self._build_loop(False)
            except NotLoopableError as reason:
                _LOG.info("Training runs one step per session call: %s.", reason)
                self.can_loop = False

    def _build_loop(self, compiled: bool | str, chunks: BatchChunks | None = None) -> StepLoop:
        device = self.settings.device
        with tf.device(device) if device else contextlib.nullcontext():
            return build_loop(
                self.fetches.train_op,
                self.fetches.loss,
                compiled=compiled,
                chunks=chunks,
                excluded_operations=(self.fetches.step_read.op,),
                vote=self.vote,
            )

    def _build_compiled(self, chunks: BatchChunks | None) -> None:
        """Builds the same loop of compiled steps; whether they compile is tried later."""
        assert self._loop is not None
        is_required = self.settings.xla != "auto"
        try:
            candidates = [self._build_loop(self.settings.xla)]
        except NotCompilableError as reason:
            report_not_compilable(reason, is_required)
            return
        if chunks is not None:
            with contextlib.suppress(NotCompilableError):
                candidates.insert(0, self._build_loop(self.settings.xla, chunks))
                self.hooks = [StartChunksHook(chunks)]
        self._choice = LoopChoice(self._loop, candidates, is_required)


def _can_miss_steps(hooks: Sequence[Hook]) -> bool:
    """Returns whether no hook must see every step; logs the first one that must."""
    for hook in hooks:
        if hook_schedule.sees_every_step(hook):
            _LOG.info(
                "Training runs one step per session call: %s must see every step.",
                type(hook).__name__,
            )
            return False
    return True


class StartChunksHook(PassiveHook):
    """Hook that starts chunks of the input in each new session.

    Args:
      chunks: The chunks.
    """

    def __init__(self, chunks: BatchChunks) -> None:
        self._chunks = chunks

    def after_create_session(
        self, session: tf.compat.v1.Session, coord: tf.train.Coordinator
    ) -> None:
        """Starts the chunks, from which all steps take their batches."""
        del coord
        session.run(self._chunks.start)


class WorkerCoordinator:
    """Coordinator of a process that does not vote: it follows this process's own wishes.

    Attributes:
      hooks: Hooks that the session must call for the coordinator.
      has_more: Whether all workers have input for another step, by their last vote; None without
        votes: such a process ends with an OutOfRangeError.
      chief_saves: Whether the chief writes a checkpoint after the step of the last vote; None
        without votes: each process then saves at its own interval.
    """

    hooks: Sequence[Hook] = ()
    has_more: bool | None = None
    chief_saves: bool | None = None

    @property
    def input_ended(self) -> bool:
        """Whether the workers agreed to stop because the input of one has ended."""
        return self.has_more is False

    def set_restored_input(self, has_next: bool | None) -> None:
        """Receives what a new session restored of the input.

        Args:
          has_next: Whether another element follows at the restored position; None if the input is
            at its start.
        """

    def control_saves(
        self, savers: Sequence[SaverHook], is_due_after_next: Callable[[int], bool]
    ) -> None:
        """Makes the chief's saver hooks write only checkpoints that the workers know of.

        Args:
          savers: The saver hooks of the chief.
          is_due_after_next: Returns whether a checkpoint is due after the step that follows a
            global step.
        """

    def build_loop_vote(self) -> LoopVote | None:
        """Builds the vote after each step of a loop; returns None without votes."""
        return None

    def prepare(self, loops: TrainingLoop, hooks: Sequence[Hook]) -> None:
        """Receives the complete training, before its session opens.

        Args:
          loops: The training step, and the loop with its vote.
          hooks: All other hooks of the session.
        """

    def count_loop_steps(self, wanted: int) -> int:
        """Returns how many steps the loop that comes next may run; 0 for no loop.

        Args:
          wanted: Steps that this process would run in a loop; 0 if a hook must see the next step.
        """
        return wanted

    def propose_loop(self, can_loop_next: Callable[[], bool]) -> None:
        """Receives this worker's wish before each step that hooks see.

        Args:
          can_loop_next: Returns whether this worker could run a loop after that step.
        """

    def finish_loop(self, has_more: bool) -> bool:
        """Returns whether training ends after a loop.

        Args:
          has_more: Whether all workers have input for another step.
        """
        return not has_more
