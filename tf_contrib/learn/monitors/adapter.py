"""Hook that runs monitors."""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_train.compat.v1 import Estimator
from tf_contrib._types import RunArgs, RunContext, RunValues, Session
from tf_contrib.learn.monitors.base import get_name

_v1 = tf.compat.v1


class RunHookAdapterForMonitors(tf.compat.v1.train.SessionRunHook):
    """Hook that calls monitors at each step of a session."""

    def __init__(self, monitors: Sequence[Any]) -> None:
        self._monitors = list(monitors)
        self._step: int | None = None

    def begin(self) -> None:
        """Starts the monitors."""
        self._step = None
        self._global_step = _v1.train.get_global_step()
        for monitor in self._monitors:
            monitor.begin(max_steps=None)

    def before_run(self, run_context: RunContext) -> RunArgs:
        """Requests the tensors that the monitors ask for."""
        if self._step is None:
            self._step = int(run_context.session.run(self._global_step))
        self._step += 1
        graph = run_context.session.graph
        requests = [request for m in self._monitors for request in m.step_begin(self._step) or ()]
        fetched = {get_name(request): _get_graph_element(graph, request) for request in requests}
        return _v1.train.SessionRunArgs(fetched)

    def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
        """Passes the values to the monitors, and stops if one of them asks to."""
        stops = [monitor.step_end(self._step, run_values.results) for monitor in self._monitors]
        if any(stops):
            run_context.request_stop()
        for monitor in self._monitors:
            monitor.post_step(self._step, run_context.session)

    def end(self, session: Session) -> None:
        """Ends the monitors."""
        self._step = None
        for monitor in self._monitors:
            monitor.end(session)


def _get_graph_element(graph: tf.Graph, request: tf.Tensor | str) -> tf.Tensor | tf.Operation:
    if isinstance(request, str) and ":" not in request:
        request += ":0"
    return graph.as_graph_element(request)


def replace_monitors_with_hooks(
    monitors_or_hooks: Sequence[Any] | None, estimator: Estimator
) -> list[Any]:
    """Replaces the monitors in a list by one hook that calls them.

    Args:
      monitors_or_hooks: Monitors and hooks, or None.
      estimator: Estimator that is trained.

    Returns:
      Hooks only.
    """
    all_items = list(monitors_or_hooks or ())
    hooks = [item for item in all_items if isinstance(item, _v1.train.SessionRunHook)]
    monitors = [item for item in all_items if not isinstance(item, _v1.train.SessionRunHook)]
    if not estimator.config.is_chief:
        monitors = [monitor for monitor in monitors if monitor.run_on_all_workers]
    for monitor in monitors:
        monitor.set_estimator(estimator)
    return [*hooks, RunHookAdapterForMonitors(monitors)] if monitors else hooks
