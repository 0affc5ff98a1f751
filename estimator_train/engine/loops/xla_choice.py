"""The choice between loops of uncompiled and of compiled steps."""

import concurrent.futures
from collections.abc import Iterator, Sequence
from typing import Any

import tensorflow as tf

from estimator_train.engine.compiled.step import NotCompilableError
from estimator_train.engine.loops.graph_loop import StepLoop
from estimator_train.engine.loops.prepared_calls import TimedCall

_LOG = tf.get_logger()
# A measured call of compiled steps runs as many as uncompiled ones take this time.
_TRIAL_SECS = 0.1
# A loop whose first measured call is slower by this factor is not measured again.
_HOPELESS_FACTOR = 1.5
# The executor of uncompiled steps, which is chosen later, makes them faster by less than this.
_CLEAR_FACTOR = 2


class LoopChoice:
    """Loop of uncompiled steps, replaced by one of compiled steps if that is faster or required.

    A thread compiles while uncompiled steps run. Then both loops run for some tenths of a second
    each. All these steps train.

    Args:
      uncompiled: The loop of uncompiled steps.
      candidates: Loops of compiled steps; the first that is faster than the other is chosen.
      is_required: Whether the first that compiles is chosen, before a loop runs.

    Attributes:
      chosen: The chosen loop of compiled steps; None before the choice, and if none is faster.
      is_decided: Whether the choice was made.
    """

    def __init__(
        self, uncompiled: StepLoop, candidates: Sequence[StepLoop], is_required: bool = False
    ) -> None:
        self.chosen: StepLoop | None = None
        self.is_decided = False
        self._uncompiled, self._candidates = uncompiled, candidates
        self._is_required = is_required
        self._current = uncompiled
        self._session: tf.compat.v1.Session | None = None
        self._calls: dict[StepLoop, TimedCall] = {}
        self._trials: Iterator[tuple[StepLoop, int | None]] = iter(())
        self._threads = concurrent.futures.ThreadPoolExecutor(1, "xla")
        self._compilation: concurrent.futures.Future[None] | None = None

    def start(self, session: tf.compat.v1.Session, batch_size: int | None) -> None:
        """Starts to compile for a session, unless that was done or the loop was chosen.

        Args:
          session: A raw session.
          batch_size: Number of examples in a batch, if it is known.

        Raises:
          ValueError: A loop of compiled steps is required, and XLA cannot compile the step.
        """
        if session is self._session:
            return
        self._session = session
        self._calls = {loop: TimedCall(loop.run) for loop in [self._uncompiled, *self._candidates]}
        if self.is_decided:
            return
        if self._is_required:
            self._choose_first(session, batch_size)
        else:
            self._trials = self._try_loops(session, batch_size)

    def run(self, session: tf.compat.v1.Session, steps: int) -> tuple[int, Any, bool]:
        """Runs steps, maybe fewer, in the loop that is chosen or measured; see `StepLoop`."""
        self._current, limit = next(self._trials, (self.chosen or self._uncompiled, None))
        steps = min(steps, limit or steps)
        return self._calls[self._current].run(steps, session, steps)

    def read_interrupted(self, session: tf.compat.v1.Session) -> tuple[int, Any]:
        """Returns the steps done and the last loss after `run` raised; see `StepLoop`."""
        return self._current.read_interrupted(session)

    def wait(self) -> None:
        """Waits until the thread no longer uses the session."""
        if self._compilation is not None:
            concurrent.futures.wait([self._compilation])

    def _choose_first(self, session: tf.compat.v1.Session, batch_size: int | None) -> None:
        """Chooses the first loop that XLA compiles."""
        failure: NotCompilableError | None = None
        for candidate in self._candidates:
            try:
                candidate.compile(session, batch_size)
            except NotCompilableError as reason:
                failure = reason
            else:
                self.chosen, self.is_decided = candidate, True
                return
        assert failure is not None
        report_not_compilable(failure, is_required=True)

    def _try_loops(
        self, session: tf.compat.v1.Session, batch_size: int | None
    ) -> Iterator[tuple[StepLoop, int | None]]:
        """Yields the loop of each call and its maximum number of steps, until one is chosen."""
        failure: NotCompilableError | None = None
        times = ""
        for candidate in self._candidates:
            self._compilation = self._threads.submit(candidate.compile, session, batch_size)
            while not self._compilation.done():
                yield self._uncompiled, None
            try:
                self._compilation.result()
            except NotCompilableError as reason:
                failure = reason
                continue
            yield from self._measure(candidate)
            found, plain = (min(self._calls[x].secs) for x in (candidate, self._uncompiled))
            times = f"a step takes {1e3 * found:.3g} ms with it, {1e3 * plain:.3g} without it"
            if found < plain:
                self.chosen = candidate
                break
        self.is_decided = True
        self._threads.shutdown(wait=False)
        if times:
            _LOG.info("Training runs %s XLA: %s.", "with" if self.chosen else "without", times)
        elif failure:
            report_not_compilable(failure, is_required=False)

    def _measure(self, candidate: StepLoop) -> Iterator[tuple[StepLoop, int | None]]:
        """Yields the calls that measure both loops."""
        plain, compiled = self._calls[self._uncompiled], self._calls[candidate]
        plain.secs.clear()  # The calls so far shared the cores with the thread that compiled.
        while plain.best is None:
            yield self._uncompiled, None
        yield candidate, 1  # Not measured: it compiles again if batches are of another size.
        while compiled.best is None:
            yield candidate, max(1, int(_TRIAL_SECS / plain.best))
            if min(compiled.secs) > _HOPELESS_FACTOR * plain.best:
                return
        if min(compiled.secs) * _CLEAR_FACTOR > plain.best:
            while not self._uncompiled.is_settled:
                yield self._uncompiled, None
            plain.secs.clear()
            while plain.best is None:
                yield self._uncompiled, None


def report_not_compilable(reason: NotCompilableError, is_required: bool) -> None:
    """Logs that training runs without XLA, if it may.

    Args:
      reason: The reason why XLA cannot compile the step.
      is_required: Whether the step must be compiled.

    Raises:
      ValueError: The step must be compiled.
    """
    if is_required:
        raise ValueError(
            f"RunConfig(xla=True): XLA cannot compile the training step: {reason}. Use xla='auto' "
            "to train without XLA where it cannot."
        ) from reason
    _LOG.info("Training runs without XLA, which cannot compile its step: %s.", reason)
