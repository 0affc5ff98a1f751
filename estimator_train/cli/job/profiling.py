"""The profile of `estimator-train train --profile=START:STOP`."""

from estimator_train.engine.hook_types import Hook
from estimator_train.hooks import ProfileHook, StepBreakdown


class Profiling:
    """Hooks that profile some steps and find the slowest part of a step.

    Args:
      steps: "START:STOP"; None profiles nothing.
      model_dir: Directory for the profile.

    Raises:
      ValueError: `steps` is not a range.
    """

    def __init__(self, steps: str | None, model_dir: str) -> None:
        self._profile = ProfileHook(steps, model_dir) if steps else None
        self._breakdown = StepBreakdown()

    @property
    def hooks(self) -> list[Hook]:
        """The hooks for training."""
        return [self._profile, self._breakdown] if self._profile else []

    @property
    def rows(self) -> dict[str, str]:
        """The rows of the summary."""
        return {"step_time": self._breakdown.report()} if self._profile else {}

    def close(self) -> None:
        """Writes a profile that was started."""
        if self._profile:
            self._profile.close()
