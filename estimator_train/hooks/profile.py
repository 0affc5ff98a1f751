"""Hook that writes a TensorBoard profile of a range of training steps."""

import re

import tensorflow as tf

from estimator_train.engine.hook_types import GlobalStepHook, RunArgs, RunContext, RunValues

_LOG = tf.get_logger()


class ProfileHook(GlobalStepHook):
    """Hook that writes a profile of a range of global steps.

    The profile covers the complete process: operations with their threads and devices, and the
    number of each step. TensorBoard's profile plugin reads it from `plugins/profile` in
    `output_dir`. The profiled steps run one by one; other steps may run in loops.

    Args:
      steps: (start, stop), or "start:stop". The range begins after global step `start` and
        includes global step `stop`, so 100:110 has ten steps.
      output_dir: Directory with event files for TensorBoard, such as the model_dir.

    Raises:
      ValueError: `steps` is not a range of steps, or is empty.
    """

    def __init__(self, steps: tuple[int, int] | str, output_dir: str) -> None:
        self._start, self._stop = profile_range(steps)
        self._output_dir = output_dir
        self._is_running = False
        self._is_done = False

    def begin(self) -> None:
        """Finds the global step in the graph."""
        super().begin()
        self._step_trace: tf.profiler.experimental.Trace | None = None

    def after_create_session(
        self, session: tf.compat.v1.Session, coord: tf.train.Coordinator
    ) -> None:
        """Reads the global step at the start of training."""
        self._step = int(session.run(tf.compat.v1.train.get_global_step()))
        if self._step >= self._stop and not self._is_done:
            self._is_done = True
            self._warn("training begins at global step %d", self._step)

    def steps_until_due(self, global_step: int) -> int | None:
        """Returns the number of steps to the end of the next profiled step, or None if done."""
        return None if self._is_done else max(1, self._start + 1 - global_step)

    def after_loop(self, steps: int, loss: float) -> None:
        """Counts the steps of a loop."""
        self._step += steps

    def before_run(self, run_context: RunContext) -> RunArgs | None:
        """Starts the profile before the first step of the range, and traces each step."""
        if self._is_done:
            return None
        if not self._is_running and self._step >= self._start:
            self._start_profile()
        if self._is_running:
            step = self._step + 1
            self._step_trace = tf.profiler.experimental.Trace("train", step_num=step, _r=1)
            self._step_trace.__enter__()
        return super().before_run(run_context)

    def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
        """Writes the profile after the last step of the range."""
        self._end_step_trace()
        if self._is_done:
            return
        self._step = int(run_values.results) + 1
        if self._is_running and self._step >= self._stop:
            self.close()

    def end(self, session: tf.compat.v1.Session) -> None:
        """Writes a shorter profile if training ends within the range."""
        if not self._is_done and not self._is_running:
            self._warn("training ended at global step %d", self._step)
        self.close()

    def close(self) -> None:
        """Writes a profile that was started. Call this after an error in training."""
        if self._is_running:
            self._end_step_trace()
            self._is_running, self._is_done = False, True
            tf.profiler.experimental.stop()
            _LOG.info(
                "Wrote the profile of steps %d:%d to %s.", self._start, self._stop, self._output_dir
            )

    def _start_profile(self) -> None:
        try:
            tf.profiler.experimental.start(self._output_dir)
            self._is_running = True
        except tf.errors.AlreadyExistsError:
            self._is_done = True
            self._warn("another profile is running")

    def _end_step_trace(self) -> None:
        if self._step_trace is not None:
            self._step_trace.__exit__(None, None, None)
            self._step_trace = None

    def _warn(self, reason: str, *arguments: int) -> None:
        text = f"Did not profile steps %d:%d: {reason}."
        _LOG.warning(text, self._start, self._stop, *arguments)


def profile_range(steps: tuple[int, int] | str) -> tuple[int, int]:
    """Parses a range of steps.

    Args:
      steps: (start, stop), or "start:stop".

    Returns:
      (start, stop), with 0 <= start < stop.

    Raises:
      ValueError: `steps` is not such a range.
    """
    if isinstance(steps, str):
        match = re.fullmatch(r"(\d+):(\d+)", steps)
        numbers = tuple(int(part) for part in match.groups()) if match else ()
    else:
        numbers = tuple(steps)
    is_pair = len(numbers) == 2 and all(
        isinstance(step, int) and not isinstance(step, bool) for step in numbers
    )
    if not is_pair or not 0 <= numbers[0] < numbers[1]:
        raise ValueError(
            f"The steps to profile must be START:STOP with START < STOP, such as 100:110, "
            f"got {steps!r}."
        )
    return numbers[0], numbers[1]
