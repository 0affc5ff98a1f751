"""Driving a training session: loops of steps between those that hooks must see."""

import contextlib
import time
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_train.engine import tf_internals
from estimator_train.engine.loops import hook_schedule
from estimator_train.engine.loops.agreement import LoopAgreement
from estimator_train.engine.loops.hooked_step import HookedStep
from estimator_train.engine.loops.step_budget import StepBudget
from estimator_train.engine.loops.training_loop import TrainingLoop
from estimator_train.lifecycle.step_timeout import StepTimeout

_LOG = tf.get_logger()


class StepRunner:
    """Runs the steps of one training session.

    Each round runs as many steps in a loop as no hook must see, then one step with all hooks.

    Args:
      step: What a step runs, its loss, and the global step before it.
      hooks: All hooks of the session.
      loops: The loop that steps run in, if there is one.
      steps_per_call: The most steps between two that hooks see, one of which they do; 'auto' for no
        limit.
      timeout: The clock of steps, or None.
      agreement: By which workers that make each step together run the same loops; None where no
        step waits for another process.
      others_count: Whether the global step counts steps of other processes too.
    """

    def __init__(
        self,
        step: tuple[Any, tf.Tensor, tf.Tensor],
        hooks: Sequence[Any],
        loops: TrainingLoop,
        steps_per_call: int | str,
        timeout: StepTimeout | None = None,
        agreement: LoopAgreement | None = None,
        others_count: bool = False,
    ) -> None:
        # A list, as hooks find it in the arguments of the run.
        self._hooked_step = HookedStep(list(step), hooks)
        self._hooks = hooks
        self._timeout = timeout
        self._budget = StepBudget(hooks, None if steps_per_call == "auto" else int(steps_per_call))
        self._loops = loops
        self._others_count = others_count
        self._agreement = agreement
        if agreement is not None:
            agreement.wants, agreement.run_one = self._could_loop, self._run_one
        self._session: Any = None
        self._global_step: int | None = None
        self._counts_steps = False

    def run(self, session: tf.compat.v1.train.MonitoredSession, settle: Callable[[], None]) -> Any:
        """Runs steps until the session stops or the input ends.

        Args:
          session: Runs them.
          settle: Waits for what still uses the session; called before an error closes it, also
            where MonitoredSession replaces it by another.

        Returns:
          The last step's loss, or None if there was no step.
        """
        self._loss: Any = None
        self._monitored = session

        def settled_round(step_context: Any) -> None:
            try:
                self._round(step_context)
            except BaseException:
                settle()
                raise

        with session:
            while not session.should_stop():
                session.run_step_fn(settled_round)
        return self._loss

    def _round(self, step_context: Any) -> None:
        """Some steps in a loop, if hooks allow any, then one with all hooks."""
        # Not that of the context: after a failure of another task it is a session of before.
        session = tf_internals.current_session(self._monitored)
        if session is not self._session:
            # It may have gone back to a checkpoint.
            self._session, self._global_step, self._counts_steps = session, None, False
        stop = self._run_loop(session)
        if not stop:
            (_, self._loss, before), stop = self._hooked_step.run(session)
            self._follow_global_step(int(before))
        if stop:
            step_context.request_stop()

    def _run_loop(self, session: tf.compat.v1.Session) -> bool:
        """Runs the steps that no hook must see; returns whether training ends."""
        if self._loops.loop is None:
            return False
        steps = self._steps_of_loop()
        if not steps:
            return False
        loop = self._loops.compiled_or_not(session)
        start = time.monotonic()
        try:
            with self._timeout.running() if self._timeout else contextlib.nullcontext():
                done, loss, has_more = loop.run(session, steps)
        except tf.errors.OutOfRangeError:
            self._after_loop(*loop.read_broken_off(session))
            raise
        self._budget.took(time.monotonic() - start, done)
        if not has_more:
            assert self._agreement is not None
            self._agreement.end_of_input()
        return self._after_loop(done, loss) or not has_more

    def _steps_of_loop(self) -> int:
        """How many steps the loop that comes now may run at most; 0 for no loop."""
        if self._agreement is not None:
            # Who agreed takes part, if only with one step.
            if not self._agreement.taken_up():
                return 0
            assert self._global_step is not None
            return max(1, self._budget.steps(self._global_step))
        if not self._counts_steps:
            return 0
        assert self._global_step is not None
        return self._budget.steps(self._global_step)

    def _could_loop(self) -> bool:
        """Whether a loop could come after the next step."""
        if self._loops.loop is None or not self._counts_steps:
            return False
        assert self._global_step is not None
        return self._budget.is_free_after_next(self._global_step)

    def _run_one(self, session: tf.compat.v1.Session) -> bool:
        assert self._loops.loop is not None
        return self._loops.loop.run(session, 1)[2]

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
        self._counts_steps = expected is not None and (
            before >= expected if self._others_count else before == expected
        )
        if self._loops.loop is not None and not self._counts_steps and expected is not None:
            _LOG.info(
                "Training runs one step per session call: the train_op does not increment the "
                "global step by one; it is %d where %d was expected.",
                before,
                expected,
            )
            self._loops.loop = None
