"""Driving a training session: loops of steps between those that hooks must see."""

import time
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_train.engine import tf_internals
from estimator_train.engine.loops import hook_schedule
from estimator_train.engine.loops.graph_loop import NotLoopableError, StepLoop, build_loop
from estimator_train.engine.loops.hooked_step import HookedStep
from estimator_train.engine.loops.xla import NotCompilableError
from estimator_train.lifecycle.step_timeout import StepTimeout

_LOG = tf.get_logger()
# A session call cannot be interrupted and no hook with a clock sees it, so it is kept this short.
_LONGEST_CALL_SECS = 1.0
_FIRST_LOOP_STEPS = 10


class StepRunner:
    """Runs the steps of one training session.

    Each round runs as many steps in a loop as no hook must see, then one step with all hooks.

    Args:
      train_op: Operation or tensor that runs one training step.
      loss: The loss of that step.
      step_read: Tensor of the global step before that step.
      hooks: All hooks of the session.
      steps_per_loop: The most steps between two that hooks see, one of which they do; 'auto' for no
        limit; 1 for no loops.
      timeout: The clock of steps.
      xla: Whether XLA compiles the steps of loops: True, False, or 'auto' for where it can.
    """

    def __init__(
        self,
        train_op: Any,
        loss: tf.Tensor,
        step_read: tf.Tensor,
        hooks: Sequence[Any],
        steps_per_loop: int | str,
        timeout: StepTimeout,
        xla: bool | str = False,
    ) -> None:
        self._train_op, self._loss_tensor = train_op, loss
        # A list, as hooks find it in the arguments of the run.
        self._hooked_step = HookedStep([train_op, loss, step_read], hooks)
        self._hooks = hooks
        self._timeout = timeout
        self._limit = None if steps_per_loop == "auto" else int(steps_per_loop)
        self._global_step: int | None = None
        self._counts_steps = False
        self._secs_per_step: float | None = None
        self._said = self._said_remainder = False
        self._due_before: int | None = None
        self._xla = xla
        self._loop = self._build_loop()
        self._compiled = self._build_compiled() if xla else None

    def run(self, session: tf.compat.v1.train.MonitoredSession) -> Any:
        """Runs steps until the session stops or the input ends.

        Returns:
          The last step's loss, or None if there was no step.
        """
        self._loss: Any = None
        self._monitored = session
        with session:
            while not session.should_stop():
                session.run_step_fn(self._round)
        return self._loss

    def _round(self, step_context: Any) -> None:
        """Some steps in a loop, if hooks allow any, then one with all hooks."""
        # Not that of the context: after a failure of another task it is a session of before.
        session = tf_internals.current_session(self._monitored)
        free = self._free_steps()
        stop = bool(free) and self._run_loop(session, free)
        if not stop:
            (_, self._loss, before), stop = self._hooked_step.run(session)
            self._follow_global_step(int(before))
        if stop:
            step_context.request_stop()

    def _build_loop(self) -> StepLoop | None:
        if self._limit == 1:
            return None
        for hook in self._hooks:
            if hook_schedule.sees_every_step(hook):
                _LOG.info(
                    "Training runs one step per session call: %s must see every step.",
                    type(hook).__name__,
                )
                return None
        try:
            return build_loop(self._train_op, self._loss_tensor)
        except NotLoopableError as reason:
            _LOG.info("Training runs one step per session call: %s.", reason)
            return None

    def _build_compiled(self) -> StepLoop | None:
        """The same loop of compiled steps, which may be found not to compile."""
        if self._loop is None:
            _LOG.warning("XLA compiles nothing: training runs one step per session call.")
            return None
        try:
            return build_loop(self._train_op, self._loss_tensor, compiled=True)
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

    def _take_compiled(self, session: tf.compat.v1.Session) -> None:
        """Goes over to compiled steps if they compile."""
        compiled, self._compiled = self._compiled, None
        if compiled is None or compiled.trial is None:
            return
        try:
            compiled.trial.run(session)
            self._loop = compiled
        except NotCompilableError as reason:
            self._cannot_compile(reason)

    def _free_steps(self) -> int:
        """How many steps may run now before the next that a hook must see."""
        if self._loop is None or not self._counts_steps:
            return 0
        assert self._global_step is not None
        due = [
            (hook_schedule.steps_until_due(hook, self._global_step), hook) for hook in self._hooks
        ]
        steps, holder = min(
            ((steps, hook) for steps, hook in due if steps is not None),
            key=lambda pair: pair[0],
            default=(None, None),
        )
        if not self._said:
            self._said = True
            _say_loop_size(steps, holder, self._limit)
        self._say_remainder(steps, holder)
        bounds = [steps, self._limit]
        free = min((bound for bound in bounds if bound is not None), default=None)
        return self._within_time(None if free is None else free - 1)

    def _say_remainder(self, steps: int | None, holder: Any) -> None:
        """Says once that steps_per_loop does not divide the steps between two that a hook sees."""
        before, self._due_before = self._due_before, steps
        limit = self._limit
        if self._said_remainder or limit is None or steps is None or steps <= limit:
            return
        if before is not None and before <= limit:  # A step was seen just now.
            self._said_remainder = True
            if steps % limit:
                _LOG.info(
                    "steps_per_loop=%d does not divide the %d steps from one that %s must see to "
                    "the next; the last session call before it runs %d.",
                    limit,
                    steps,
                    type(holder).__name__,
                    steps % limit,
                )

    def _within_time(self, steps: int | None) -> int:
        if self._secs_per_step is None:
            most = _FIRST_LOOP_STEPS
        else:
            most = max(1, int(_LONGEST_CALL_SECS / self._secs_per_step))
        return most if steps is None else min(steps, most)

    def _run_loop(self, session: tf.compat.v1.Session, steps: int) -> bool:
        """Runs up to `steps` steps that no hook sees; returns whether a hook ends training."""
        self._take_compiled(session)
        loop = self._loop
        assert loop is not None
        start = time.monotonic()
        try:
            with self._timeout.running():
                done, loss = loop.run(session, steps)
        except tf.errors.OutOfRangeError:
            self._after_loop(*loop.read_broken_off(session))
            raise
        self._secs_per_step = (time.monotonic() - start) / max(1, done)
        return self._after_loop(done, loss)

    def _after_loop(self, done: int, loss: Any) -> bool:
        """Tells hooks of steps that they did not see; returns whether one asks to stop."""
        if not done:
            return False
        assert self._global_step is not None
        self._loss = loss
        self._global_step += done
        asks = [
            hook_schedule.after_loop(hook, self._global_step, done, loss) for hook in self._hooks
        ]
        return any(asks)

    def _follow_global_step(self, before: int) -> None:
        """Notes the global step; without one increment a step, hooks must see every step."""
        expected = self._global_step
        self._global_step = before + 1
        self._counts_steps = expected == before
        if self._loop is not None and expected not in (None, before):
            _LOG.info(
                "Training runs one step per session call: without one increment a step, the global "
                "step is %d where %d was expected.",
                before,
                expected,
            )
            self._loop = None


def _say_loop_size(steps: int | None, holder: Any, limit: int | None) -> None:
    if steps is not None and (limit is None or steps <= limit):
        _LOG.info(
            "Training runs up to %d steps per session call; %s must see the next.",
            steps,
            type(holder).__name__,
        )
    else:
        _LOG.info("Training runs up to %s steps per session call.", limit or "any number of")
