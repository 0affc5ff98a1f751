"""One training step with all its hooks, in a raw session."""

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_train.engine.hook_types import Hook, RunArgs, RunContext, RunValues
from estimator_train.engine.loops.prepared_calls import PreparedCalls
from estimator_train.engine.loops.step_fetches import StepFetches


class HookedStep:
    """A step that hooks see, as in `MonitoredSession.run`, but with less time on the host.

    Args:
      fetches: The training step.
      hooks: All hooks of the session.
    """

    def __init__(self, fetches: StepFetches, hooks: Sequence[Hook]) -> None:
        # Hooks find this list in `run_context.original_args`.
        self._arguments = RunArgs([fetches.train_op, fetches.loss, fetches.step_read])
        self._hooks = hooks
        self._calls = PreparedCalls()

    def run(self, session: tf.compat.v1.Session) -> tuple[list[Any], bool]:
        """Runs the step.

        Args:
          session: A raw session.

        Returns:
          The values of train_op, loss and step_read, and whether a hook asks to stop.

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
        all_fetches = {"step": self._arguments.fetches, **fetches}
        if feeds or options.ByteSize():
            values = session.run(all_fetches, feeds, options, metadata)
        else:
            values = self._calls.run(session, all_fetches)
        for hook in self._hooks:
            hook.after_run(context, RunValues(values.get(hook), options, metadata))
        return values["step"], context.stop_requested


def _merge_feeds(feed_dicts: Sequence[Mapping[Any, Any]]) -> dict[Any, Any]:
    feeds: dict[Any, Any] = {}
    for feed_dict in feed_dicts:
        if any(tensor is other for tensor in feed_dict for other in feeds):
            raise RuntimeError("Same tensor is fed by two hooks.")
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
