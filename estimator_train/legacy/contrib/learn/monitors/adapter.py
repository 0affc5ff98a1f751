"""Monitors as hooks."""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_train.legacy.contrib.learn.monitors.base import name_of

_v1 = tf.compat.v1


class RunHookAdapterForMonitors(tf.compat.v1.train.SessionRunHook):
    """Calls monitors at each step of a session."""

    def __init__(self, monitors: Sequence[Any]) -> None:
        self._monitors = list(monitors)
        self._step: int | None = None

    def begin(self) -> None:
        """The graph is built."""
        self._step = None
        self._global_step = _v1.train.get_global_step()
        for monitor in self._monitors:
            monitor.begin(max_steps=None)

    def before_run(self, run_context: Any) -> Any:
        """Asks the monitors what they want to see."""
        if self._step is None:
            self._step = int(run_context.session.run(self._global_step))
        self._step += 1
        graph = run_context.session.graph
        asked = [one for m in self._monitors for one in m.step_begin(self._step) or ()]
        fetched = {name_of(one): _element(graph, one) for one in asked}
        return _v1.train.SessionRunArgs(fetched)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Tells the monitors what was computed, and stops if one of them wants it."""
        stops = [one.step_end(self._step, run_values.results) for one in self._monitors]
        if any(stops):
            run_context.request_stop()
        for monitor in self._monitors:
            monitor.post_step(self._step, run_context.session)

    def end(self, session: Any) -> None:
        """Training ends."""
        self._step = None
        for monitor in self._monitors:
            monitor.end(session)


def _element(graph: Any, asked: Any) -> Any:
    if isinstance(asked, str) and ":" not in asked:
        asked += ":0"
    return graph.as_graph_element(asked)


def replace_monitors_with_hooks(monitors_or_hooks: Any, estimator: Any) -> list[Any]:
    """Hooks, and one more that calls the monitors among them.

    Args:
      monitors_or_hooks: Monitors and hooks; None for none.
      estimator: Whose training they look at.

    Returns:
      The hooks.
    """
    given = list(monitors_or_hooks or ())
    hooks = [one for one in given if isinstance(one, _v1.train.SessionRunHook)]
    monitors = [one for one in given if not isinstance(one, _v1.train.SessionRunHook)]
    if not estimator.config.is_chief:
        monitors = [one for one in monitors if one.run_on_all_workers]
    for monitor in monitors:
        monitor.set_estimator(estimator)
    return [*hooks, RunHookAdapterForMonitors(monitors)] if monitors else hooks
