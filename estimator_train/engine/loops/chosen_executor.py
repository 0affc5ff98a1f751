"""The executor of a loop: a thread pool or the calling thread, whichever is faster."""

import dataclasses
import time
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_train.engine.tf_internals import sessions

# To hand an operation to another thread takes microseconds, which is little in longer steps.
_SHORT_STEP_SECS = 2e-3
# A second executor takes some tenths of a second to prepare, and hundreds of steps to measure: too
# long for a short training.
_SECS_BEFORE_TRIAL = 1.0
_STEPS_BEFORE_TRIAL = 5_000
# Number of calls that are measured.
TRIALS = 3
_CHANGE_FACTOR = 1.5


@dataclasses.dataclass
class TimedCall:
    """A way to run steps, with its times.

    Attributes:
      call: Runs steps.
      secs: Seconds per step of the last calls, without the first call, which prepares the graph.
      is_prepared: Whether the first call has run.
    """

    call: Callable[..., Any]
    secs: list[float] = dataclasses.field(default_factory=list)
    is_prepared: bool = False

    def run(self, steps: int, *arguments: Any) -> Any:
        """Returns the result of a call.

        Args:
          steps: Number of steps that the call runs.
          *arguments: Arguments of the call.
        """
        start = time.perf_counter()
        result = self.call(*arguments)
        if self.is_prepared:
            self.secs = [*self.secs[1 - TRIALS :], (time.perf_counter() - start) / steps]
        self.is_prepared = True
        return result

    @property
    def best(self) -> float | None:
        """The shortest time; None before there are enough calls."""
        return min(self.secs) if len(self.secs) >= TRIALS else None


class ChosenExecutor:
    """Executor that computes the same tensors repeatedly, in a thread pool or the calling thread.

    Short steps are faster if one thread runs their operations one after another. Both ways are
    measured after the loop has run for a second and 5,000 such steps, and again when the time of a
    step has changed.
    A loop of compiled steps has few operations, so that the calling thread always runs it.

    Args:
      tensors: The tensors to compute.
      compiled: Whether XLA compiles the steps.
    """

    def __init__(self, tensors: Sequence[tf.Tensor], compiled: bool = False) -> None:
        self._tensors = list(tensors)
        self._compiled = compiled
        self._session: tf.compat.v1.Session | None = None

    @property
    def is_settled(self) -> bool:
        """Whether the executor of the current session is chosen."""
        return self._session is not None and (self._is_fixed or self._chosen_at is not None)

    def run(self, session: tf.compat.v1.Session, steps: int) -> list[Any]:
        """Returns the values of the tensors.

        Args:
          session: A raw session.
          steps: Number of steps that the call runs.
        """
        if session is not self._session:
            self._begin(session)
        start = time.perf_counter()
        values = self._current.run(steps)
        self._total += time.perf_counter() - start
        self._choose()
        return values

    def _begin(self, session: tf.compat.v1.Session) -> None:
        self._session = session
        self._total = 0.0
        self._chosen_at: float | None = None
        self._pool = TimedCall(sessions.prepare_run(session, self._tensors))
        # A remote session runs the operations in the threads of its server.
        is_remote = bool(session.sess_str)
        self._here = self._in_this_thread() if self._compiled and not is_remote else None
        self._current = self._here or self._pool
        self._is_fixed = is_remote or self._compiled

    def _choose(self) -> None:
        best = self._current.best
        if self._is_fixed or best is None or self._total < _SECS_BEFORE_TRIAL:
            return
        if self._chosen_at is not None:
            if max(best / self._chosen_at, self._chosen_at / best) > _CHANGE_FACTOR:
                self._chosen_at = None
                self._pool.secs, self._current = [], self._pool
                if self._here is not None:
                    self._here.secs = []
            return
        if self._current is self._pool and best < _SHORT_STEP_SECS:
            if self._total >= _STEPS_BEFORE_TRIAL * best:
                self._current = self._here = self._here or self._in_this_thread()
            return
        if self._here is not None and self._here.best is not None and self._pool.best is not None:
            self._current = min(self._here, self._pool, key=lambda executor: executor.best or 0.0)
        self._chosen_at = self._current.best

    def _in_this_thread(self) -> TimedCall:
        assert self._session is not None
        return TimedCall(
            sessions.prepare_session_call(self._session, [], self._tensors, in_this_thread=True)
        )
