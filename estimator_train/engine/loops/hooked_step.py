"""One training step with all its hooks, in a raw session."""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_train.engine.hook_types import RunArgs, RunContext, RunValues
from estimator_train.engine.loops.prepared_calls import PreparedCalls


class HookedStep:
    """What `MonitoredSession.run` does with hooks, at less cost of the host.

    Args:
      fetches: What the caller wants of a step, as hooks find it in the run's arguments.
      hooks: SessionRunHooks.
    """

    def __init__(self, fetches: list[Any], hooks: Sequence[Any]) -> None:
        self._arguments = RunArgs(fetches)
        self._hooks = hooks
        self._calls = PreparedCalls()

    def run(self, session: tf.compat.v1.Session) -> tuple[Any, bool]:
        """Runs the step.

        Args:
          session: A raw session.

        Returns:
          The values of the fetches, and whether a hook asks for training to stop.

        Raises:
          RuntimeError: Two hooks feed the same tensor.
        """
        context = RunContext(self._arguments, session)
        asked = {hook: hook.before_run(context) for hook in self._hooks}
        wanted = {hook: args for hook, args in asked.items() if args is not None}
        fetches = {hook: args.fetches for hook, args in wanted.items() if args.fetches is not None}
        feeds = _merged_feeds([args.feed_dict for args in wanted.values() if args.feed_dict])
        options = _merged_options([args.options for args in wanted.values() if args.options])
        metadata = tf.compat.v1.RunMetadata()
        everything = {"step": self._arguments.fetches, **fetches}
        if feeds or options.ByteSize():
            values = session.run(everything, feeds, options, metadata)
        else:
            values = self._calls.run(session, everything)
        for hook in self._hooks:
            hook.after_run(context, RunValues(values.get(hook), options, metadata))
        return values["step"], context.stop_requested


def _merged_feeds(feed_dicts: Sequence[dict[Any, Any]]) -> dict[Any, Any]:
    feeds: dict[Any, Any] = {}
    for feed_dict in feed_dicts:
        if any(tensor is other for tensor in feed_dict for other in feeds):
            raise RuntimeError("Same tensor is fed by two hooks.")
        feeds.update(feed_dict)
    return feeds


def _merged_options(asked: Sequence[tf.compat.v1.RunOptions]) -> tf.compat.v1.RunOptions:
    """Options that give every hook at least what it asked for."""
    merged = tf.compat.v1.RunOptions()
    for options in asked:
        trace_level = max(merged.trace_level, options.trace_level)
        timeout = max(merged.timeout_in_ms, options.timeout_in_ms)
        merged.MergeFrom(options)
        merged.trace_level, merged.timeout_in_ms = trace_level, timeout
    return merged
