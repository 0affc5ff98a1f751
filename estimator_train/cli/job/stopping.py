"""Hooks that stop training early, and the reason why training ended."""

from typing import Protocol

from absl import flags as absl_flags

from estimator_train import Estimator
from estimator_train.training.early_stopping import hooks
from estimator_train.training.early_stopping.max_time import StopAfterSeconds

_MAX_CHECK_SECS = 60  # Seconds between checks for new evaluations, as in tf.estimator 2.15.


class _StopHook(Protocol):
    """Hook that may stop training."""

    stopped: bool


class Stopping:
    """Hooks of --stop_metric and --max_time. The time limit starts with the constructor.

    Args:
      estimator: The Estimator to train.
      flag_values: The parsed flags.
      every_steps: Training steps between evaluations; None if evaluations do not depend on steps.

    Attributes:
      hooks: The hooks, for training.
    """

    def __init__(
        self, estimator: Estimator, flag_values: absl_flags.FlagValues, every_steps: int | None
    ) -> None:
        self._max_steps = flag_values.max_train_steps
        self._hooks_by_reason: dict[str, _StopHook] = {}
        if flag_values.stop_metric:
            rule = _describe_rule(flag_values)
            self._hooks_by_reason[f"early stopping, {rule}"] = _make_early_stopping_hook(
                estimator, flag_values, every_steps
            )
        if flag_values.max_time:
            reason = f"--max_time={flag_values.max_time:g} s reached"
            self._hooks_by_reason[reason] = StopAfterSeconds(flag_values.max_time)
        self.hooks = list(self._hooks_by_reason.values())

    def get_reason(self, step: int) -> str:
        """Returns the reason why training ended.

        Args:
          step: The global step at which it ended.
        """
        if self._max_steps is not None and step >= self._max_steps:
            return f"--max_train_steps={self._max_steps} reached"
        reasons = (reason for reason, hook in self._hooks_by_reason.items() if hook.stopped)
        return next(reasons, "end of input")


def _make_early_stopping_hook(
    estimator: Estimator, flag_values: absl_flags.FlagValues, every_steps: int | None
) -> _StopHook:
    rule = flag_values.stop_if
    make_hook = getattr(hooks, f"stop_if_{rule}_hook")
    limit = (
        flag_values.stop_patience_steps if rule.startswith("no_") else flag_values.stop_threshold
    )
    # Checks by steps make equal runs stop at equal steps.
    steps = every_steps or estimator.config.save_checkpoints_steps
    secs = None
    if not steps:
        secs = min(_MAX_CHECK_SECS, estimator.config.save_checkpoints_secs or _MAX_CHECK_SECS)
    return make_hook(
        estimator, flag_values.stop_metric, limit, run_every_secs=secs, run_every_steps=steps
    )


def _describe_rule(flag_values: absl_flags.FlagValues) -> str:
    metric, rule = flag_values.stop_metric, flag_values.stop_if
    if rule.startswith("no_"):
        change = rule.removeprefix("no_")
        return f"no {change} of {metric} for {flag_values.stop_patience_steps} steps"
    return f"{metric} {rule} than {flag_values.stop_threshold:g}"
