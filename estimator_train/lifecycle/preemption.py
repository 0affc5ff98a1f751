"""Signals that end a job once it has saved a checkpoint.

A watch listens for them. Outside of training it is strict: a signal raises `Preempted` at once. In
training it is deferring: it remembers the signal, and the engine ends training after its next step.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any

from estimator_train.lifecycle.hard_exit import end_now

EXIT_CODE = 128 + signal.SIGTERM  # 143: schedulers start such a job again.


@dataclasses.dataclass(frozen=True)
class Preemption:
    """Which signals end a job, and how long it has to save a checkpoint.

    Attributes:
      signals: Names of the signals; by default SIGTERM, and SIGUSR1 in a job of Slurm's, which
        sends it before the job's time is over.
      grace_secs: The process ends this many seconds after the signal, even if the checkpoint is not
        written; None waits for the checkpoint however long it takes.

    Raises:
      ValueError: A signal does not exist on this system, or grace_secs is not positive.
    """

    signals: tuple[str, ...] = ()
    grace_secs: float | None = None

    def __post_init__(self) -> None:
        for name in self.signals:
            if not name.startswith("SIG") or name not in signal.Signals.__members__:
                raise ValueError(
                    f"'{name}' is not a signal: give names such as SIGTERM or SIGUSR1."
                )
            if name in ("SIGKILL", "SIGSTOP"):
                raise ValueError(f"{name} cannot be caught: give SIGTERM, or SIGUSR1 under Slurm.")
        if self.grace_secs is not None and not self.grace_secs > 0:
            raise ValueError(f"grace_secs should be > 0, got {self.grace_secs}.")

    @property
    def numbers(self) -> tuple[int, ...]:
        """The signals."""
        names = self.signals or (
            ("SIGTERM", "SIGUSR1") if "SLURM_JOB_ID" in os.environ else ("SIGTERM",)
        )
        return tuple(signal.Signals[name].value for name in names)


class Preempted(SystemExit):
    """A signal ended the job; left alone, it ends the process with code 143 and no traceback.

    Args:
      message: What was going on.

    Attributes:
      message: What was going on.
    """

    def __init__(self, message: str) -> None:
        super().__init__(EXIT_CODE)
        self.message = message

    def __str__(self) -> str:
        return self.message


class Watch:
    """Listens for the signals of a Preemption; `watch` makes it."""

    def __init__(self, preemption: Preemption) -> None:
        self._preemption = preemption
        self._came: int | None = None
        self._deferring = 0
        self._handlers: dict[int, Any] = {}

    @property
    def requested(self) -> bool:
        """Whether a signal has come."""
        return self._came is not None

    @contextlib.contextmanager
    def deferring(self) -> Iterator[None]:
        """Within it a signal is noted and nothing else happens."""
        self._deferring += 1
        try:
            yield
        finally:
            self._deferring -= 1

    @contextlib.contextmanager
    def ending_at_once(self) -> Iterator[None]:
        """Within it a signal raises `Preempted` even inside `deferring`, as does an earlier one.

        Raises:
          Preempted: A signal came.
        """
        before, self._deferring = self._deferring, 0
        try:
            check("starting")
            yield
        finally:
            self._deferring = before

    def _install(self) -> None:
        numbers = self._preemption.numbers
        self._watcher = _Watcher(numbers, self._preemption.grace_secs)
        self._handlers = {number: signal.signal(number, self._handle) for number in numbers}

    def _remove(self) -> None:
        for number, handler in self._handlers.items():
            # None: it was not Python that had set the handler.
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        self._watcher.close()

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self._came = number
        before = self._handlers.get(number)
        if callable(before):
            before(number, frame)
        if not self._deferring:
            raise Preempted(f"ended by {signal.Signals(number).name}")


class _Watcher:
    """A thread that ends the process when the grace is over, or when a second signal comes.

    Python runs a handler when the main thread comes back to it, which a long step does not do.
    """

    def __init__(self, numbers: tuple[int, ...], grace_secs: float | None) -> None:
        self._numbers = frozenset(numbers)
        self._grace_secs = grace_secs
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._writer, False)
        self._before = signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
        self._timer: threading.Timer | None = None
        self._thread = threading.Thread(target=self._listen, name="preemption", daemon=True)
        self._thread.start()

    def close(self) -> None:
        signal.set_wakeup_fd(self._before)
        os.close(self._writer)
        self._thread.join()
        os.close(self._reader)
        if self._timer is not None:
            self._timer.cancel()

    def _listen(self) -> None:
        seen = 0
        while numbers := os.read(self._reader, 64):
            if self._before != -1:
                os.write(self._before, numbers)
            seen += sum(number in self._numbers for number in numbers)
            if seen > 1:
                _end("ended at once by a second signal")
            if seen and self._timer is None and self._grace_secs is not None:
                self._timer = threading.Timer(
                    self._grace_secs,
                    _end,
                    [f"not saved within {self._grace_secs:g} s of the signal"],
                )
                self._timer.daemon = True
                self._timer.start()


def _end(why: str) -> None:
    _say(why)
    end_now(EXIT_CODE, why)


def _say(text: str) -> None:
    with contextlib.suppress(OSError, ValueError):  # There may be no standard error.
        os.write(sys.stderr.fileno(), f"estimator_train: {text}\n".encode())


_current: Watch | None = None


@contextlib.contextmanager
def watch(preemption: Preemption) -> Iterator[Watch | None]:
    """Listens for signals within it; within another watch, the outer one keeps listening.

    Handlers that were there before are called as well, and put back.

    Args:
      preemption: Which signals.

    Yields:
      The watch; None outside of the main thread, where Python sets no handlers.
    """
    global _current
    if _current is not None or threading.current_thread() is not threading.main_thread():
        yield _current
        return
    _current = Watch(preemption)
    try:
        _current._install()
        yield _current
    except Preempted as preempted:
        _say(f"{preempted}; exit code {EXIT_CODE}. Run the same command again to continue.")
        raise
    finally:
        _current._remove()
        _current = None


@contextlib.contextmanager
def listening(setting: Preemption | bool | None) -> Iterator[Watch | None]:
    """Within it signals end what is going on, if the setting or the environment asks for it.

    Args:
      setting: `RunConfig.preemption`; where it is None, the variable ESTIMATOR_TRAIN_PREEMPTION=1
        stands for True. The launcher sets it.

    Yields:
      The watch that listens, be it one around it; None where none does.

    Raises:
      Preempted: A signal came, and it was not in training, which is to end saved.
    """
    if setting is None:
        setting = os.environ.get("ESTIMATOR_TRAIN_PREEMPTION") == "1"
    if not setting:
        yield _current
        return
    with watch(Preemption() if setting is True else setting) as listener:
        yield listener


def current() -> Watch | None:
    """The watch that listens now, if there is one."""
    return _current


def requested() -> bool:
    """Whether a signal has come that ends this job."""
    return _current is not None and _current.requested


def check(doing: str) -> None:
    """Raises `Preempted` if a signal has come.

    Args:
      doing: What the caller does, for the message: "evaluating".

    Raises:
      Preempted: A signal has come.
    """
    if requested():
        raise Preempted(f"ended by a signal while {doing}")
