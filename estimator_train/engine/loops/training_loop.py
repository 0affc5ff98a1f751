"""The loop that a training's steps run in, compiled or not, or the reason why there is none."""

import contextlib
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_train.engine.loops import hook_schedule
from estimator_train.engine.loops.graph_loop import (
    LoopVote,
    NotLoopableError,
    StepLoop,
    build_loop,
)
from estimator_train.engine.loops.xla import NotCompilableError

_LOG = tf.get_logger()
# How the operations end that take the sums of what workers bring, whatever the optimizer.
_TAKES_GRADIENTS = "AccumulatorTakeGradient"


def needs_other_workers(graph: tf.Graph) -> bool:
    """Whether a step takes gradients that several workers bring, as SyncReplicasOptimizer has it.

    Args:
      graph: The graph of a training.
    """
    return any(op.type.endswith(_TAKES_GRADIENTS) for op in graph.get_operations())


class TrainingLoop:
    """Builds the loop of a training step, and goes over to one that XLA compiles if that works.

    Args:
      train_op: Operation or tensor that runs one training step.
      loss: The loss of that step.
      step_read: The read of the global step for hooks, which no loop needs.
      hooks: All hooks of the session; there is no loop where one must see every step.
      steps_per_call: The most steps of a session call; 1 for no loop.
      xla: Whether XLA compiles the steps: True, False, or 'auto' for where it can.
      vote: How workers agree when a loop ends; None where this process trains alone.
      device: Where the loop itself runs, if variables are on parameter servers.

    Attributes:
      loop: The loop that is run, or None.

    Raises:
      ValueError: xla is True, and XLA cannot compile the step.
    """

    def __init__(
        self,
        train_op: Any,
        loss: tf.Tensor,
        step_read: tf.Tensor,
        hooks: Sequence[Any],
        steps_per_call: int | str,
        xla: bool | str,
        *,
        vote: LoopVote | None = None,
        device: str | None = None,
    ) -> None:
        self._step = (train_op, loss)
        self._unseen, self._vote = (step_read.op,), vote
        self._xla = xla
        with tf.device(device) if device else contextlib.nullcontext():
            self.loop = None if steps_per_call == 1 else self._build(hooks)
        self._compiled = self._build_compiled() if xla else None

    def compiled_or_not(self, session: tf.compat.v1.Session) -> StepLoop:
        """The loop, which is that of compiled steps from here on if they compile.

        Args:
          session: A raw session.
        """
        compiled, self._compiled = self._compiled, None
        if compiled is not None and compiled.trial is not None:
            try:
                compiled.trial.run(session)
                self.loop = compiled
            except NotCompilableError as reason:
                self._cannot_compile(reason)
        assert self.loop is not None
        return self.loop

    def _build(self, hooks: Sequence[Any]) -> StepLoop | None:
        for hook in hooks:
            if hook_schedule.sees_every_step(hook):
                _LOG.info(
                    "Training runs one step per session call: %s must see every step.",
                    type(hook).__name__,
                )
                return None
        try:
            return build_loop(*self._step, unseen=self._unseen, vote=self._vote)
        except NotLoopableError as reason:
            _LOG.info("Training runs one step per session call: %s.", reason)
            return None

    def _build_compiled(self) -> StepLoop | None:
        """The same loop of compiled steps, which may be found not to compile."""
        if self.loop is None:
            _LOG.warning("XLA compiles nothing: training runs one step per session call.")
            return None
        try:
            return build_loop(*self._step, compiled=True, unseen=self._unseen, vote=self._vote)
        except NotCompilableError as reason:
            self._cannot_compile(reason)
            return None

    def _cannot_compile(self, reason: NotCompilableError) -> None:
        if self._xla != "auto":
            raise ValueError(
                f"RunConfig(xla=True): XLA cannot compile the training step: {reason}. Use "
                "xla='auto' to train without XLA where it cannot."
            ) from reason
        _LOG.info("Training runs without XLA, which cannot compile its step: %s.", reason)
