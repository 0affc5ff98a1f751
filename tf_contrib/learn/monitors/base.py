"""Base classes of monitors."""

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_train.compat.v1 import Estimator
from tf_contrib._types import Session


class BaseMonitor:
    """Monitor that does nothing; subclasses override its methods."""

    _estimator: Any = None
    _max_steps: int | None = None

    @property
    def run_on_all_workers(self) -> bool:
        """Whether every worker runs the monitor, not only the chief."""
        return False

    def set_estimator(self, estimator: Estimator) -> None:
        """Sets the estimator that is trained."""
        self._estimator = estimator

    def begin(self, max_steps: int | None = None) -> None:
        """Prepares for a training.

        Args:
          max_steps: Global step at which training ends, if known.
        """
        self._max_steps = max_steps

    def end(self, session: Session | None = None) -> None:
        """Finishes a training."""

    def step_begin(self, step: int) -> Sequence[Any]:
        """Returns tensors, or their names, to compute in a step; steps are counted from 1."""
        del step
        return []

    def step_end(self, step: int, output: Mapping[str, Any]) -> bool:
        """Observes a step and returns whether to stop.

        Args:
          step: Number of the step.
          output: Values of the tensors that `step_begin` returned, by name.
        """
        del step, output
        return False

    def post_step(self, step: int, session: Session) -> None:
        """Acts after a step, with a session that may be run."""


class EveryN(BaseMonitor):
    """Monitor that observes the first steps and then every n-th.

    Args:
      every_n_steps: Steps between observations.
      first_n_steps: Number of first steps to observe.
    """

    def __init__(self, every_n_steps: int = 100, first_n_steps: int = 1) -> None:
        self._every, self._first = every_n_steps, first_n_steps
        self._active = 0
        self._is_active = False

    def every_n_step_begin(self, step: int) -> Sequence[Any]:
        """Returns tensors to compute, as `step_begin`, for an observed step."""
        del step
        return []

    def every_n_step_end(self, step: int, outputs: Mapping[str, Any]) -> bool:
        """Observes a step, as `step_end`, and returns whether to stop."""
        del step, outputs
        return False

    def every_n_post_step(self, step: int, session: Session) -> None:
        """Acts after an observed step, as `post_step`."""

    def step_begin(self, step: int) -> Sequence[Any]:
        """See BaseMonitor."""
        due = step <= self._first or step >= self._every + self._active
        self._is_active = due or step == self._max_steps
        if not self._is_active:
            return []
        self._active = step
        return self.every_n_step_begin(step) or []

    def step_end(self, step: int, output: Mapping[str, Any]) -> bool:
        """See BaseMonitor."""
        return self._is_active and bool(self.every_n_step_end(step, output))

    def post_step(self, step: int, session: Session) -> None:
        """See BaseMonitor."""
        if self._is_active:
            self.every_n_post_step(step, session)


def get_name(request: tf.Tensor | str) -> str:
    """Returns the name of a requested tensor."""
    return request if isinstance(request, str) else request.name
