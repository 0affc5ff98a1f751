"""Hooks that stop training: by metrics of evaluations, at a time, at a checkpoint."""

import operator
import time
from collections.abc import Callable

import tensorflow as tf

from estimator_train.engine.checkpoints.reading import read_saved_global_step
from estimator_train.engine.tf_internals import tf_hooks
from estimator_train.engine.types import GlobalStepHook, Hook, RunArgs, RunContext, RunValues
from estimator_train.estimator import Estimator, check_estimator
from estimator_train.training.eval_metrics import (
    NoChange,
    Rule,
    Threshold,
    WatchedMetric,
    read_eval_metrics,
)

__all__ = [
    "make_early_stopping_hook",
    "read_eval_metrics",
    "stop_if_higher_hook",
    "stop_if_lower_hook",
    "stop_if_no_decrease_hook",
    "stop_if_no_increase_hook",
]

_LOG = tf.get_logger()
_STOP = "signal_early_stopping/STOP"


def make_early_stopping_hook(
    estimator: Estimator,
    should_stop_fn: Callable[[], bool],
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> Hook:
    """Makes a hook that stops training when a function returns True, under any strategy.

    In a cluster the chief asks the function and all workers stop.

    Args:
      estimator: The Estimator that is trained.
      should_stop_fn: Function without arguments that returns whether to stop.
      run_every_secs: Seconds from one call of should_stop_fn to the next. The first call comes with
        the first step.
      run_every_steps: Training steps from one call to the next, instead of seconds; give
        run_every_secs=None with it.

    Returns:
      The hook, for `Estimator.train` or `TrainSpec`.

    Raises:
      TypeError: estimator is not an Estimator, or should_stop_fn cannot be called.
      ValueError: Both or neither of run_every_secs and run_every_steps are given.
    """
    check_estimator(estimator)
    if not callable(should_stop_fn):
        raise TypeError("`should_stop_fn` must be callable.")
    if run_every_secs is not None and run_every_steps is not None:
        raise ValueError("Only one of `run_every_secs` and `run_every_steps` must be set.")
    return _EarlyStopping(estimator, should_stop_fn, run_every_secs, run_every_steps)


def stop_if_higher_hook(
    estimator: Estimator,
    metric_name: str,
    threshold: float,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> Hook:
    """Makes a hook that stops training when a metric is higher than a threshold.

    Args:
      estimator: The Estimator that is trained.
      metric_name: The metric, as `Estimator.evaluate` names it.
      threshold: The value that stops training when an evaluation passes it.
      eval_dir: Where the evaluations are; by default `estimator.eval_dir()`.
      min_steps: Evaluations before this global step do not count.
      run_every_secs: Seconds from one look at the evaluations to the next.
      run_every_steps: Training steps between looks, instead of seconds; give run_every_secs=None
        with it.

    Returns:
      The hook, for `Estimator.train` or `TrainSpec`. In training it raises a ValueError if there
      are evaluations, and no evaluation writes the metric.

    Raises:
      TypeError: estimator is not an Estimator.
      ValueError: Both or neither of run_every_secs and run_every_steps are given.
    """
    passed = Threshold(metric_name, min_steps, threshold, operator.gt, "greater than")
    return _stop_on_metric(estimator, eval_dir, passed, run_every_secs, run_every_steps)


def stop_if_lower_hook(
    estimator: Estimator,
    metric_name: str,
    threshold: float,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> Hook:
    """Makes a hook that stops training when a metric is lower than a threshold.

    Arguments, result and errors are those of `stop_if_higher_hook`.
    """
    passed = Threshold(metric_name, min_steps, threshold, operator.lt, "less than")
    return _stop_on_metric(estimator, eval_dir, passed, run_every_secs, run_every_steps)


def stop_if_no_increase_hook(
    estimator: Estimator,
    metric_name: str,
    max_steps_without_increase: int,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> Hook:
    """Makes a hook that stops training when a metric has not increased for some steps.

    `max_steps_without_increase` are the global steps from the evaluation with the highest value to
    one that is not higher, at which training stops. The other arguments, the result and the errors
    are those of `stop_if_higher_hook`.
    """
    stalled = NoChange(metric_name, min_steps, max_steps_without_increase, operator.gt, "increase")
    return _stop_on_metric(estimator, eval_dir, stalled, run_every_secs, run_every_steps)


def stop_if_no_decrease_hook(
    estimator: Estimator,
    metric_name: str,
    max_steps_without_decrease: int,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> Hook:
    """Makes a hook that stops training when a metric has not decreased for some steps.

    Arguments, result and errors are those of `stop_if_no_increase_hook`, lowest for highest.
    """
    stalled = NoChange(metric_name, min_steps, max_steps_without_decrease, operator.lt, "decrease")
    return _stop_on_metric(estimator, eval_dir, stalled, run_every_secs, run_every_steps)


def _stop_on_metric(
    estimator: Estimator,
    eval_dir: str | None,
    rule: Rule,
    run_every_secs: float | None,
    run_every_steps: int | None,
) -> Hook:
    check_estimator(estimator)
    metrics = WatchedMetric(rule, eval_dir or estimator.eval_dir())
    hook = make_early_stopping_hook(estimator, metrics.should_stop, run_every_secs, run_every_steps)
    hook.watched_metric = metrics
    return hook


class _EarlyStopping(Hook):
    """Asks a function now and then whether to stop, and stops all workers.

    The variable that tells the other workers is in every checkpoint of tf.estimator 2.15 that was
    written under early stopping, so it is in ours; but a model_dir that was begun without it goes
    on without it.

    Attributes:
      stopped: Whether it was this hook that stopped training.
      watched_metric: The metric that it waits for, if it waits for one.
    """

    stopped: bool = False
    watched_metric: WatchedMetric | None = None

    def __init__(
        self,
        estimator: Estimator,
        should_stop_fn: Callable[[], bool],
        run_every_secs: float | None,
        run_every_steps: int | None,
    ) -> None:
        self._estimator = estimator
        self._should_stop_fn = should_stop_fn
        self._timer = tf.compat.v1.train.SecondOrStepTimer(run_every_secs, run_every_steps)
        self._run_every_steps = run_every_steps
        self._decides = estimator.config.is_chief
        self._has_others = estimator.config.num_worker_replicas > 1

    def begin(self) -> None:
        """Creates the variable with which the chief stops the other tasks."""
        self._step_read = tf_hooks.find_global_step_read()
        saved = self._estimator.latest_checkpoint()
        is_saved = saved is None or _STOP in dict(tf.train.list_variables(saved))
        keys = tf.compat.v1.GraphKeys
        collection = keys.GLOBAL_VARIABLES if is_saved or self._has_others else keys.LOCAL_VARIABLES
        scope, name = _STOP.split("/")
        with tf.compat.v1.variable_scope(scope, reuse=tf.compat.v1.AUTO_REUSE):
            self._stop = tf.compat.v1.get_variable(
                name,
                shape=[],
                dtype=tf.bool,
                initializer=tf.compat.v1.constant_initializer(False),
                collections=[collection],
                trainable=False,
                use_resource=True,
            )
            self._set_stop, self._unset_stop = (self._stop.assign(v).op for v in (True, False))

    def after_create_session(
        self, session: tf.compat.v1.Session, coord: tf.train.Coordinator
    ) -> None:
        """Resets the variable, which an earlier training may have saved as True."""
        if self._decides:
            session.run(self._unset_stop)

    def steps_until_due(self, global_step: int) -> int | None:
        """Returns the steps up to the one after which the hook decides whether to stop."""
        if not self._decides:
            return 1
        last = self._timer.last_triggered_step()
        if self._run_every_steps is not None and last is not None:
            return last + self._run_every_steps - global_step + 1
        return 1 if self._timer.should_trigger_for_step(global_step) else None

    def before_run(self, run_context: RunContext) -> RunArgs:
        """Requests the global step and, in other tasks than the chief, the chief's variable."""
        fetches = {} if self._decides else {"stop": self._stop}
        return RunArgs({"step": self._step_read, **fetches})

    def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
        """Stops training if the function returned True on the chief."""
        step = run_values.results["step"]
        if self._decides:
            if not self._timer.should_trigger_for_step(step):
                return
            self._timer.update_last_triggered_step(step)
            if not self._should_stop_fn():
                return
            run_context.session.run(self._set_stop)
        elif not run_values.results["stop"]:
            return
        _LOG.info("Requesting early stopping at global step %d", step)
        self.stopped = True
        run_context.request_stop()


class StopAfterSeconds(Hook):
    """Hook that stops training some time after its construction.

    Args:
      seconds: The time; evaluations and checkpoints count.

    Attributes:
      stopped: Whether it was this hook that stopped training.
    """

    def __init__(self, seconds: float) -> None:
        self.stopped = False
        self._seconds = seconds
        self._end = time.monotonic() + seconds

    def steps_until_due(self, global_step: int) -> int | None:
        """Returns 1 when the time is over, otherwise None."""
        return 1 if self._is_over() else None

    def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
        """Stops training if the time is over."""
        if self._is_over():
            _LOG.info("Stopping training: max_time of %s seconds is over.", self._seconds)
            self.stopped = True
            run_context.request_stop()

    def _is_over(self) -> bool:
        return time.monotonic() >= self._end


def make_stop_at_checkpoint_step_hook(
    estimator: Estimator, last_step: int, wait_after_file_check_secs: float = 30
) -> Hook:
    """Makes a hook that stops training when a checkpoint of `last_step` is written.

    Parameter servers that restart go back to the last checkpoint. So workers train on beyond
    last_step, slowly, until the chief has written the checkpoint that ends the training.

    Args:
      estimator: The Estimator that is trained.
      last_step: The global step to stop at.
      wait_after_file_check_secs: Seconds that a worker beyond last_step waits after it looked for
        the checkpoint and did not find it, before it trains one more step.

    Returns:
      The hook: for the chief, who writes the checkpoint, a StopAtStepHook.

    Raises:
      ValueError: last_step is missing.
    """
    if last_step is None:
        raise ValueError("One of num_steps or last_step must be specified.")
    if estimator.config.is_chief:
        return tf.compat.v1.train.StopAtStepHook(last_step=last_step)
    return _StopAtCheckpointStep(estimator, last_step, wait_after_file_check_secs)


class _StopAtCheckpointStep(GlobalStepHook):
    """Stops a worker when another process has written a checkpoint of the last step."""

    def __init__(self, estimator: Estimator, last_step: int, wait_secs: float) -> None:
        self._estimator = estimator
        self._last_step = last_step
        self._wait_secs = wait_secs

    def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
        """Looks for the checkpoint of the last step, after that step."""
        if run_values.results + 1 < self._last_step:
            return
        if read_saved_global_step(self._estimator.model_dir) >= self._last_step:
            run_context.request_stop()
        else:
            time.sleep(self._wait_secs)
