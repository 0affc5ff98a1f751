"""A TensorBoard profile of some steps of a training."""

import re
from typing import Any

import tensorflow as tf

from estimator_train.engine.hook_types import GlobalStepHook, RunArgs, RunContext, RunValues

_LOG = tf.get_logger()


class ProfileHook(GlobalStepHook):
    """Writes a profile of the steps from one global step to another.

    The profile is of the whole process: operations, their threads and devices, and each step by its
    number. TensorBoard's profile plugin reads it from `plugins/profile` below `output_dir`. Steps
    that are profiled run one by one; those before and after them may run in loops.

    Args:
      steps: (start, stop), or "start:stop": the steps after global step `start` up to and with
        global step `stop`, so that 100:110 are ten steps.
      output_dir: Where TensorBoard looks for event files, such as the model_dir.

    Raises:
      ValueError: `steps` is not such a range, or is empty.
    """

    def __init__(self, steps: tuple[int, int] | str, output_dir: str) -> None:
        self._start, self._stop = profile_range(steps)
        self._output_dir = output_dir
        self._running = False
        self._done = False

    def begin(self) -> None:
        """Finds the global step in the graph."""
        super().begin()
        self._mark: Any = None

    def after_create_session(self, session: tf.compat.v1.Session, coord: Any) -> None:
        """Takes the global step that training begins at."""
        del coord
        self._step = int(session.run(tf.compat.v1.train.get_global_step()))
        if self._step >= self._stop and not self._done:
            self._done = True
            self._warn("training begins at global step %d", self._step)

    def steps_until_due(self, global_step: int) -> int | None:
        """Steps up to and with the next that is profiled; None after the last."""
        return None if self._done else max(1, self._start + 1 - global_step)

    def after_loop(self, steps: int, loss: Any) -> None:
        """Counts the steps of a loop."""
        del loss
        self._step += steps

    def before_run(self, run_context: RunContext) -> RunArgs | None:
        """Starts the profile at its first step, and marks each of its steps."""
        if self._done:
            return None
        if not self._running and self._step >= self._start:
            self._begin_profile()
        if self._running:
            self._mark = tf.profiler.experimental.Trace("train", step_num=self._step + 1, _r=1)
            self._mark.__enter__()
        return super().before_run(run_context)

    def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
        """Writes the profile after its last step."""
        del run_context
        self._end_mark()
        if self._done:
            return
        self._step = int(run_values.results) + 1
        if self._running and self._step >= self._stop:
            self.close()

    def end(self, session: tf.compat.v1.Session) -> None:
        """Writes a profile of fewer steps if training ends before the last of them."""
        del session
        if not self._done and not self._running:
            self._warn("training ended at global step %d", self._step)
        self.close()

    def close(self) -> None:
        """Writes a profile that has begun; call it when an error has ended training."""
        if self._running:
            self._end_mark()
            self._running, self._done = False, True
            tf.profiler.experimental.stop()
            _LOG.info(
                "The profile of steps %d:%d is in %s.", self._start, self._stop, self._output_dir
            )

    def _begin_profile(self) -> None:
        try:
            tf.profiler.experimental.start(self._output_dir)
            self._running = True
        except tf.errors.AlreadyExistsError:
            self._done = True
            self._warn("another profile is being taken")

    def _end_mark(self) -> None:
        if self._mark is not None:
            self._mark.__exit__(None, None, None)
            self._mark = None

    def _warn(self, reason: str, *arguments: Any) -> None:
        text = f"No profile of steps %d:%d was taken: {reason}."
        _LOG.warning(text, self._start, self._stop, *arguments)


def profile_range(steps: tuple[int, int] | str) -> tuple[int, int]:
    """Reads a range of steps.

    Args:
      steps: (start, stop), or "start:stop".

    Returns:
      (start, stop), with 0 <= start < stop.

    Raises:
      ValueError: It is something else.
    """
    if isinstance(steps, str):
        found = re.fullmatch(r"(\d+):(\d+)", steps)
        pair: Any = tuple(int(part) for part in found.groups()) if found else ()
    else:
        pair = tuple(steps)
    whole = len(pair) == 2 and all(
        isinstance(step, int) and not isinstance(step, bool) for step in pair
    )
    if not whole or not 0 <= pair[0] < pair[1]:
        raise ValueError(
            f"The steps to profile should be START:STOP with START < STOP, such as 100:110, "
            f"got {steps!r}."
        )
    return pair
