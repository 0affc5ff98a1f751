"""What every monitor has, and those that look at one of several steps."""

from collections.abc import Mapping, Sequence
from typing import Any


class BaseMonitor:
    """Is called at each step, and does nothing."""

    _estimator: Any = None
    _max_steps: int | None = None

    @property
    def run_on_all_workers(self) -> bool:
        """Whether it looks at all workers' training, not the chief's alone."""
        return False

    def set_estimator(self, estimator: Any) -> None:
        """Tells whose training it is."""
        self._estimator = estimator

    def begin(self, max_steps: int | None = None) -> None:
        """Training begins.

        Args:
          max_steps: The step that it trains to, if it is known.
        """
        self._max_steps = max_steps

    def end(self, session: Any = None) -> None:
        """Training ends."""

    def step_begin(self, step: int) -> Sequence[Any]:
        """A step begins, counted from 1; returns tensors, or their names, to be computed."""
        del step
        return []

    def step_end(self, step: int, output: Mapping[str, Any]) -> bool:
        """A step ends; returns whether to stop.

        Args:
          step: The step.
          output: The values of what `step_begin` asked for, by their names.
        """
        del step, output
        return False

    def post_step(self, step: int, session: Any) -> None:
        """A step has ended, and the session may be run."""


class EveryN(BaseMonitor):
    """Looks at the first steps, and then at one of several.

    Args:
      every_n_steps: One of so many steps.
      first_n_steps: How many of the first are looked at.
    """

    def __init__(self, every_n_steps: int = 100, first_n_steps: int = 1) -> None:
        self._every, self._first = every_n_steps, first_n_steps
        self._active = 0
        self._is_active = False

    def every_n_step_begin(self, step: int) -> Sequence[Any]:
        """As `step_begin`, of the steps that are looked at."""
        del step
        return []

    def every_n_step_end(self, step: int, outputs: Mapping[str, Any]) -> bool:
        """As `step_end`, of the steps that are looked at."""
        del step, outputs
        return False

    def every_n_post_step(self, step: int, session: Any) -> None:
        """As `post_step`, of the steps that are looked at."""

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

    def post_step(self, step: int, session: Any) -> None:
        """See BaseMonitor."""
        if self._is_active:
            self.every_n_post_step(step, session)


def name_of(asked: Any) -> str:
    """The name of a tensor that a monitor asks for, or the name by which it asks."""
    return asked if isinstance(asked, str) else asked.name
