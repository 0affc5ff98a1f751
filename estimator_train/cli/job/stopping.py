"""What ends a training early, and the line that reports it."""

from typing import Any

from absl import flags as absl_flags

from estimator_train import Estimator
from estimator_train.training.early_stopping import hooks
from estimator_train.training.early_stopping.max_time import StopAfterSeconds

_LONGEST_WAIT_SECS = 60  # Until early stopping looks at an evaluation, as in tf.estimator 2.15.


class Stopping:
    """The hooks by which --stop_metric and --max_time end a training; time runs from here on.

    Args:
      estimator: The Estimator that is trained.
      flag_values: The parsed flags.
      every_steps: Training steps from one evaluation to the next, if that is how they come.

    Attributes:
      hooks: The hooks, for training.
    """

    def __init__(
        self, estimator: Estimator, flag_values: absl_flags.FlagValues, every_steps: int | None
    ) -> None:
        self._max_steps = flag_values.max_train_steps
        self._reasons: dict[str, Any] = {}
        if flag_values.stop_metric:
            rule = _words(flag_values)
            self._reasons[f"early stopping, {rule}"] = _early_stopping_hook(
                estimator, flag_values, every_steps
            )
        if flag_values.max_time:
            words = f"--max_time={flag_values.max_time:g} s reached"
            self._reasons[words] = StopAfterSeconds(flag_values.max_time)
        self.hooks = list(self._reasons.values())

    def reason(self, step: int) -> str:
        """Returns why training ended.

        Args:
          step: The global step at which it ended.
        """
        if self._max_steps is not None and step >= self._max_steps:
            return f"--max_train_steps={self._max_steps} reached"
        stopped = (reason for reason, hook in self._reasons.items() if hook.stopped)
        return next(stopped, "end of input")


def _early_stopping_hook(
    estimator: Estimator, flag_values: absl_flags.FlagValues, every_steps: int | None
) -> Any:
    rule = flag_values.stop_if
    make_hook = getattr(hooks, f"stop_if_{rule}_hook")
    limit = (
        flag_values.stop_patience_steps if rule.startswith("no_") else flag_values.stop_threshold
    )
    # Where evaluations come with steps it looks at each at once, so that equal runs stop at equal
    # steps.
    steps = every_steps or estimator.config.save_checkpoints_steps
    secs = None
    if not steps:
        secs = min(_LONGEST_WAIT_SECS, estimator.config.save_checkpoints_secs)
    return make_hook(
        estimator, flag_values.stop_metric, limit, run_every_secs=secs, run_every_steps=steps
    )


def _words(flag_values: absl_flags.FlagValues) -> str:
    metric, rule = flag_values.stop_metric, flag_values.stop_if
    if rule.startswith("no_"):
        change = rule.removeprefix("no_")
        return f"no {change} of {metric} for {flag_values.stop_patience_steps} steps"
    return f"{metric} {rule} than {flag_values.stop_threshold:g}"
