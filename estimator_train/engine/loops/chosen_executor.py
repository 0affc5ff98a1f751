"""Which threads run the operations of a loop: those that are found to take less time."""

import dataclasses
import time
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_train.engine import tf_internals

# Handing operations to other threads takes microseconds each, which longer steps do not notice.
_SHORT_STEP_SECS = 2e-3
# To prepare a second executor takes some tenths of a second, which a short training does not repay.
_SECS_BEFORE_TRIAL = 1.0
_TRIALS = 3
_CHANGED = 1.5


@dataclasses.dataclass
class _Executor:
    """One way to run the loop.

    Attributes:
      call: Runs it.
      secs: Seconds of a step at each of the last calls; the first, which prepares it, is left out.
      is_prepared: Whether it has been called.
    """

    call: Callable[[], list[Any]]
    secs: list[float] = dataclasses.field(default_factory=list)
    is_prepared: bool = False

    def run(self, steps: int) -> list[Any]:
        start = time.perf_counter()
        found = self.call()
        if self.is_prepared:
            self.secs = [*self.secs[1 - _TRIALS :], (time.perf_counter() - start) / steps]
        self.is_prepared = True
        return found

    @property
    def best(self) -> float | None:
        """The least of its times; None before there are enough."""
        return min(self.secs) if len(self.secs) >= _TRIALS else None


class ChosenExecutor:
    """Computes the same tensors again and again, by a pool of threads or in the caller's.

    Short steps take less time where one thread runs their operations one after the other. Both are
    tried once a loop has run for some seconds, and again when its steps take another time than
    they did at the choice.

    Args:
      tensors: What is computed.
    """

    def __init__(self, tensors: Sequence[tf.Tensor]) -> None:
        self._tensors = list(tensors)
        self._session: tf.compat.v1.Session | None = None

    def run(self, session: tf.compat.v1.Session, steps: int) -> list[Any]:
        """The tensors' values.

        Args:
          session: A raw session.
          steps: The steps that are made meanwhile.
        """
        if session is not self._session:
            self._begin(session)
        start = time.perf_counter()
        found = self._current.run(steps)
        self._total += time.perf_counter() - start
        self._choose()
        return found

    def _begin(self, session: tf.compat.v1.Session) -> None:
        self._session = session
        # A server runs the operations in threads of its own.
        self._is_remote = bool(session.sess_str)
        self._total = 0.0
        self._pool = self._current = _Executor(session.make_callable(self._tensors))
        self._here: _Executor | None = None
        self._chosen_at: float | None = None

    def _choose(self) -> None:
        best = self._current.best
        if best is None or self._total < _SECS_BEFORE_TRIAL or self._is_remote:
            return
        if self._chosen_at is not None:
            if max(best / self._chosen_at, self._chosen_at / best) > _CHANGED:
                self._chosen_at = None
                self._pool.secs, self._current = [], self._pool
                if self._here is not None:
                    self._here.secs = []
            return
        if self._current is self._pool and best < _SHORT_STEP_SECS:
            self._current = self._here = self._here or self._in_this_thread()
            return
        if self._here is not None and self._here.best is not None and self._pool.best is not None:
            self._current = min(self._here, self._pool, key=lambda executor: executor.best or 0.0)
        self._chosen_at = self._current.best

    def _in_this_thread(self) -> _Executor:
        assert self._session is not None
        return _Executor(
            tf_internals.session_call(self._session, [], self._tensors, in_this_thread=True)
        )
