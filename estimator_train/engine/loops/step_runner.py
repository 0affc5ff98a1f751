"""Training in a session: single steps with all their hooks, and loops of the steps between them."""

import contextlib
import operator
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from estimator_train.engine.loops import hook_schedule
from estimator_train.engine.loops.graph_loop import LoopFailedError, StepLoop, is_worth_loop
from estimator_train.engine.loops.hook_schedule import StepBudget
from estimator_train.engine.loops.prepared_calls import DerivedCalls, PreparedCalls
from estimator_train.engine.loops.training_loop import TrainingLoop, WorkerCoordinator
from estimator_train.engine.tf_internals import sessions, tf_hooks
from estimator_train.engine.types import Hook, Loss, RunArgs, RunContext, RunValues, StepFetches
from estimator_train.lifecycle.step_timeout import StepTimeout

_LOG = tf.get_logger()


class StepResult(NamedTuple):
    """Result of a step with its hooks.

    Attributes:
      loss: The loss, a scalar.
      step_before: The global step before the step.
      step_after: The global step after the step.
      stop_requested: Whether a hook asks to stop.
      batch_size: Number of examples in the step, or None.
    """

    loss: np.generic
    step_before: int
    step_after: int
    stop_requested: bool
    batch_size: int | None


class HookedStep:
    """A step that hooks see, as in `MonitoredSession.run`, but with less time on the host.

    Args:
      fetches: The training step.
      hooks: All hooks of the session.
    """

    def __init__(self, fetches: StepFetches, hooks: Sequence[Hook]) -> None:
        self._fetches = fetches
        # Hooks find this list in `run_context.original_args`.
        self._arguments = RunArgs([fetches.train_op, fetches.loss])
        self._sizes = [] if fetches.batch_size is None else [fetches.batch_size]
        self._hooks = hooks
        self._calls = PreparedCalls()
        self._compiled: _CompiledStep | None = None

    def run(self, session: tf.compat.v1.Session, compiled: StepLoop | None = None) -> StepResult:
        """Runs the step.

        Args:
          session: A raw session.
          compiled: Loop of the step compiled by XLA. It runs the step if all fetches of hooks can
            be computed from the loss and the global step, as the summary of the loss can.

        Raises:
          RuntimeError: Two hooks feed the same tensor.
        """
        context = RunContext(self._arguments, session)
        answers = {hook: hook.before_run(context) for hook in self._hooks}
        requests = {hook: args for hook, args in answers.items() if args is not None}
        fetches = {
            hook: args.fetches for hook, args in requests.items() if args.fetches is not None
        }
        feeds = _merge_feeds([args.feed_dict for args in requests.values() if args.feed_dict])
        options = _merge_options([args.options for args in requests.values() if args.options])
        metadata = tf.compat.v1.RunMetadata()
        reads = [self._fetches.step_read, self._fetches.step_after]
        own = {"step": self._arguments.fetches, "reads": reads, "sizes": self._sizes}
        all_fetches = {**own, **fetches}
        if feeds or options.ByteSize():
            values = session.run(all_fetches, feeds, options, metadata)
        else:
            values = self._run_compiled(session, compiled, fetches) if compiled else None
            values = values or self._calls.run(session, all_fetches)
        for hook in self._hooks:
            hook.after_run(context, RunValues(values.get(hook), options, metadata))
        _, loss = values["step"]
        before, after = map(int, values["reads"])
        sizes = values.get("sizes")
        return StepResult(loss, before, after, context.stop_requested, sizes[0] if sizes else None)

    def _run_compiled(
        self, session: tf.compat.v1.Session, loop: StepLoop, fetches: dict[Any, Any]
    ) -> dict[Any, Any] | None:
        """Runs the compiled step; returns None, without a step, if hooks fetch other tensors."""
        if self._compiled is None or self._compiled.place != (session, loop):
            self._compiled = _CompiledStep(session, loop, self._fetches)
        return self._compiled.run(fetches)


class _CompiledStep:
    """A step that a compiled loop runs, and the fetches that follow from its results.

    Args:
      session: A raw session.
      loop: The loop.
      step: The tensors of the step.

    Attributes:
      place: The session and the loop.
    """

    def __init__(self, session: tf.compat.v1.Session, loop: StepLoop, step: StepFetches) -> None:
        self.place = session, loop
        self._size = []
        self._read_step = sessions.prepare_session_call(
            session, [], [step.step_read], in_this_thread=True
        )
        known = [step.loss, step.step_read, step.step_after]
        if loop.batch_size is not None and step.batch_size is not None:
            known.append(step.batch_size)
            self._size = [step.batch_size.dtype.as_numpy_dtype(loop.batch_size)]
        self._derived = DerivedCalls(session, known)

    def run(self, fetches: dict[Any, Any]) -> dict[Any, Any] | None:
        """Runs the step; returns None, without a step, if the fetches need other tensors.

        Args:
          fetches: The fetches of each hook.

        Returns:
          Their values, and under "step" and "reads" those of the HookedStep, without that of the
          train_op.
        """
        derive = self._derived.prepare(fetches)
        if derive is None:
            return None
        session, loop = self.place
        [before] = self._read_step()
        _, loss, _ = loop.run(session, 1)
        [after] = self._read_step()
        derived = derive([loss, before, after, *self._size])
        return {"step": [None, loss], "reads": [before, after], **derived}


def _merge_feeds(feed_dicts: Sequence[Mapping[Any, Any]]) -> dict[Any, Any]:
    feeds: dict[Any, Any] = {}
    for feed_dict in feed_dicts:
        conflicts = [tensor for tensor in feed_dict if any(tensor is other for other in feeds)]
        if conflicts:
            raise RuntimeError(f"Same tensor is fed by two hooks. Conflict(s): {conflicts}")
        feeds.update(feed_dict)
    return feeds


def _merge_options(requested: Sequence[tf.compat.v1.RunOptions]) -> tf.compat.v1.RunOptions:
    """Returns options that satisfy every hook: the highest trace level, the longest timeout."""
    merged = tf.compat.v1.RunOptions()
    for options in requested:
        trace_level = max(merged.trace_level, options.trace_level)
        timeout = max(merged.timeout_in_ms, options.timeout_in_ms)
        merged.MergeFrom(options)
        merged.trace_level, merged.timeout_in_ms = trace_level, timeout
    return merged


class StepRunner:
    """Runs the steps of one training session.

    Each round runs a loop of the steps that no hook must see, then one step with all hooks.

    Args:
      loops: The training step, and its loop, if there is one.
      hooks: All hooks of the session.
      coordinator: Decides with the other synchronous workers when loops run.
      timeout: The time limit of steps, or None.
      shares_global_step: Whether other processes increment the global step too.
    """

    def __init__(
        self,
        loops: TrainingLoop,
        hooks: Sequence[Hook],
        coordinator: WorkerCoordinator,
        timeout: StepTimeout | None = None,
        shares_global_step: bool = False,
    ) -> None:
        self._loops, self._hooks, self._coordinator = loops, hooks, coordinator
        self._timeout = timeout
        self._shares_global_step = shares_global_step
        self._hooked_step = HookedStep(loops.fetches, hooks)
        self._budget = StepBudget(hooks, loops.settings.steps_per_call)
        self._session: tf.compat.v1.Session | None = None
        self._global_step: int | None = None
        self._first_step: int | None = None
        self._counts_steps = self._input_ended = False
        self._loss: np.generic | None = None
        self._batch_size: int | None = None

    def run(
        self, session: tf.compat.v1.train.MonitoredSession, join_writer: Callable[[], None]
    ) -> np.generic | None:
        """Runs steps until the session stops or the input ends.

        Args:
          session: The session to train in.
          join_writer: Waits for threads that use the session; called before an error closes the
            session, also when MonitoredSession then replaces it by another.

        Returns:
          The loss of the last step, or None if there was no step.
        """

        def run_round(step_context: Any) -> None:
            try:
                # The context's session is outdated after another task failed.
                if self._run_round(sessions.find_current_session(session)):
                    step_context.request_stop()
            except BaseException as error:
                self._input_ended = isinstance(error, tf.errors.OutOfRangeError)
                if self._timeout is not None:
                    # Hooks see no end of a failed step, and the program may go on after it.
                    self._timeout.stop()
                self._loops.wait()
                join_writer()
                raise

        try:
            with session:
                while not session.should_stop():
                    session.run_step_fn(run_round)
                self._loops.wait()
        finally:
            if self._timeout is not None:
                self._timeout.close()
        if self._input_ended or self._coordinator.input_ended:
            self._log_input_end()
        return self._loss

    def _log_input_end(self) -> None:
        """Logs the step at which the input ended, unless that is the last step of the training."""
        last_step, step = self._find_last_step(), self._global_step
        if step is None:
            return  # There was no step, which a warning says.
        before = step - 1
        if not self._counts_steps:
            # The train_op does not increment the global step by one.
            _LOG.info("The input ended after the step that began at global step %d.", before)
        elif last_step is None:
            _LOG.info("The input ended at global step %d.", step)
        elif step < last_step:
            _LOG.info("The input ended at global step %d, before step %d.", step, last_step)

    def _find_last_step(self) -> int | None:
        """Returns the global step at which a hook stops the training; None if none does."""
        stops = [h for h in self._hooks if isinstance(h, tf.compat.v1.train.StopAtStepHook)]
        last_steps = filter(None, map(tf_hooks.find_last_step, stops))
        return min(last_steps, default=None)

    def _run_round(self, session: tf.compat.v1.Session) -> bool:
        """Runs a loop, if hooks allow one, then a step with all hooks; returns whether to stop."""
        if session is not self._session:
            # A new session may have restored an older checkpoint.
            self._session, self._global_step, self._counts_steps = session, None, False
        if self._run_loop(session):
            return True
        self._coordinator.propose_loop(self._can_loop_next)
        compiled = self._loops.compiled if self._counts_steps else None
        result = self._hooked_step.run(session, compiled)
        self._loss, self._batch_size = result.loss, result.batch_size
        self._follow_global_step(result.step_before, result.step_after)
        return result.stop_requested

    def _run_loop(self, session: tf.compat.v1.Session) -> bool:
        """Runs the steps that no hook must see; returns whether training ends."""
        if not self._loops.can_loop:
            return False
        steps = self._coordinator.count_loop_steps(self._count_wanted_steps())
        loop = self._loops.choose(session, self._batch_size) if steps else None
        if loop is None:
            return False
        self._budget.log_size()  # Only now it is known that the step can run in a loop.
        start = time.monotonic()
        try:
            with self._timeout.running() if self._timeout else contextlib.nullcontext():
                done, loss, has_more = loop.run(session, steps)
        except tf.errors.OutOfRangeError:
            self._notify_hooks(*loop.read_interrupted(session))
            raise
        except LoopFailedError as failure:
            failure.first_step = self._first_step
            raise
        self._budget.record(time.monotonic() - start, done)
        is_over = self._coordinator.finish_loop(has_more)
        return self._notify_hooks(done, loss) or is_over

    def _count_wanted_steps(self) -> int:
        """Returns how many steps this process would run in a loop now; 0 for none."""
        if not self._counts_steps or not self._is_worth_loop():
            return 0
        assert self._global_step is not None
        return self._budget.count_steps(self._global_step)

    def _is_worth_loop(self) -> bool:
        """Returns whether enough steps are left for a loop, if there is none yet."""
        if self._loops.is_built:
            return True
        assert self._global_step is not None
        assert self._session is not None
        last = self._find_last_step()
        return is_worth_loop(self._session.graph, last and last - self._global_step)

    def _can_loop_next(self) -> bool:
        """Returns whether this worker could run a loop after the next step."""
        if not self._loops.can_loop or not self._counts_steps:
            return False
        assert self._global_step is not None
        return self._budget.is_free_after_next(self._global_step)

    def _notify_hooks(self, done: int, loss: Loss) -> bool:
        """Reports the steps of a loop to all hooks; returns whether one asks to stop."""
        if not done:
            return False
        assert self._global_step is not None
        self._loss = loss
        self._global_step += done
        requests = [
            hook_schedule.after_loop(hook, self._global_step, done, loss) for hook in self._hooks
        ]
        return any(requests)

    def _follow_global_step(self, before: int, after: int) -> None:
        """Stores the global step; disables loops if a step does not increment it by one."""
        if self._global_step is None:
            self._global_step = self._first_step = before
        pairs = (before, self._global_step), (after, before + 1)
        # Other processes may have incremented it too.
        matches = operator.ge if self._shares_global_step else operator.eq
        wrong = [(actual, expected) for actual, expected in pairs if not matches(actual, expected)]
        self._global_step, self._counts_steps = before + 1, not wrong
        if self._loops.can_loop and wrong:
            _LOG.info(
                "Training runs one step per session call: the train_op does not increment the "
                "global step by one; it is %d where %d was expected.",
                *wrong[0],
            )
            self._loops.disable()
