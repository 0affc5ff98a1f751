"""`estimator-train train --profile=START:STOP`."""

from typing import Any

from estimator_train.hooks import ProfileHook, StepBreakdown


class Profiling:
    """A profile of some steps, and what holds training back; nothing where there is no range.

    Args:
      steps: "START:STOP", or None.
      model_dir: Where the profile goes.

    Raises:
      ValueError: `steps` is not a range.
    """

    def __init__(self, steps: str | None, model_dir: str) -> None:
        self._profile = ProfileHook(steps, model_dir) if steps else None
        self._breakdown = StepBreakdown()

    @property
    def hooks(self) -> list[Any]:
        """The hooks for training."""
        return [self._profile, self._breakdown] if self._profile else []

    @property
    def rows(self) -> dict[str, str]:
        """What the summary says of it."""
        return {"step_time": self._breakdown.report()} if self._profile else {}

    def close(self) -> None:
        """Ends a profile that is being taken."""
        if self._profile:
            self._profile.close()
