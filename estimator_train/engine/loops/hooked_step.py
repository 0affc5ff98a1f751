"""One training step with all its hooks, in a raw session."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from estimator_train.engine.hook_types import Hook, RunArgs, RunContext, RunValues
from estimator_train.engine.loops.graph_loop import StepLoop
from estimator_train.engine.loops.prepared_calls import DerivedCalls, PreparedCalls
from estimator_train.engine.loops.step_fetches import StepFetches
from estimator_train.engine.tf_internals import sessions


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
