"""Signals that end a job after it has saved a checkpoint.

A `Watch` handles them. Outside of training a signal raises `Preempted` immediately. During training
the watch defers: it stores the signal, and the engine ends training after the next step.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import math
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from types import FrameType
from typing import TypeAlias

from estimator_train.lifecycle.limits import end_now

EXIT_CODE = 128 + signal.SIGTERM  # 143: schedulers restart such a job.
_Handler: TypeAlias = Callable[[int, FrameType | None], object] | int | None
# Python's handler runs after the instruction that failed, which fails again before that.
_FAULTS = ("SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGTRAP", "SIGSYS", "SIGABRT", "SIGIOT")
_OF_RUNNING_JOBS = {
    "SIGCHLD": "when a child process ends",
    "SIGCLD": "when a child process ends",
    "SIGPIPE": "when the reader of the output ends",
    "SIGWINCH": "when the size of the terminal changes",
    "SIGCONT": "when a suspended job continues",
    "SIGURG": "with urgent data of a socket",
    "SIGIO": "when a file is ready",
    "SIGPOLL": "when a file is ready",
    "SIGPROF": "by the timer of a profiler",
    "SIGVTALRM": "by the timer of a profiler",
}


@dataclasses.dataclass(frozen=True)
class Preemption:
    """Signals that end a job, and the time that it has to save a checkpoint.

    Attributes:
      signals: Names of the signals; by default SIGTERM, and in a Slurm job and under Open MPI also
        SIGUSR1: Slurm can send it before the time limit, and mpirun forwards it and waits, while
        it kills its processes a second after SIGTERM.
      grace_secs: The process ends this many seconds after the signal, even if the checkpoint is not
        written; None waits for the checkpoint without a limit.

    Raises:
      ValueError: A signal does not exist on this system or cannot end a job, or grace_secs is not
        positive and finite.
    """

    signals: tuple[str, ...] = ()
    grace_secs: float | None = None

    def __post_init__(self) -> None:
        for name in self.signals:
            _check_signal(name)
        if self.grace_secs is not None and not 0 < self.grace_secs < math.inf:
            raise ValueError(f"grace_secs should be > 0 and finite, got {self.grace_secs}.")

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the signals."""
        sends_sigusr1 = "SLURM_JOB_ID" in os.environ or "OMPI_COMM_WORLD_RANK" in os.environ
        names = self.signals or (("SIGTERM", "SIGUSR1") if sends_sigusr1 else ("SIGTERM",))
        return tuple(signal.Signals[name].value for name in names)


def _check_signal(name: object) -> None:
    """Raises ValueError unless a job can end with a checkpoint at the signal of this name."""
    advice = "give SIGTERM, or SIGUSR1 under Slurm."
    if not isinstance(name, str) or name not in signal.Signals.__members__:
        raise ValueError(f"{name!r} is not a signal: give names such as SIGTERM or SIGUSR1.")
    if name in ("SIGKILL", "SIGSTOP"):
        raise ValueError(f"{name} cannot be caught: {advice}")
    if name in _FAULTS:
        raise ValueError(f"{name} is an error of the process, which cannot continue: {advice}")
    if name in _OF_RUNNING_JOBS:
        raise ValueError(f"{name} arrives {_OF_RUNNING_JOBS[name]}, as the job runs: {advice}")


class Preempted(SystemExit):
    """Exit of a job because of a signal, with code 143 and, unless caught, without a traceback.

    Args:
      message: The signal and the activity that it ended.

    Attributes:
      message: As the argument.
    """

    def __init__(self, message: str) -> None:
        super().__init__(EXIT_CODE)
        self.message = message

    def __str__(self) -> str:
        return self.message


class Watch:
    """Handler of the signals of a Preemption; `watch` creates it.

    Attributes:
      requested: Whether a signal was received.
    """

    def __init__(self, preemption: Preemption) -> None:
        self._preemption = preemption
        self.requested = False
        self._deferring = 0
        self._handlers: dict[int, _Handler] = {}
        # Raised by the program's handler during training, such as by sys.exit.
        self._deferred: BaseException | None = None

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the signals."""
        return tuple(self._handlers)

    @contextlib.contextmanager
    def defer(self) -> Iterator[None]:
        """Stores signals during the with block instead of raising `Preempted`."""
        self._deferring += 1
        try:
            yield
        finally:
            self._deferring -= 1

    @contextlib.contextmanager
    def end_immediately(self) -> Iterator[None]:
        """Raises `Preempted` at a signal, even inside `defer`, and for a signal already stored.

        Raises:
          Preempted: A signal was received.
        """
        before, self._deferring = self._deferring, 0
        try:
            raise_if_requested("starting")
            yield
        finally:
            self._deferring = before

    def _raise_deferred(self) -> None:
        """Raises the exception of the program's handler that came during training, if any."""
        if self._deferred is not None:
            raise self._deferred

    def _install(self) -> None:
        numbers = self._preemption.numbers
        self._watcher = _Watcher(numbers, self._preemption.grace_secs)
        self._handlers = {number: signal.signal(number, self._handle) for number in numbers}

    def _remove(self) -> None:
        self._restore_handlers()
        self._watcher.close()

    def _restore_handlers(self) -> None:
        for number, handler in self._handlers.items():
            # None: the handler was not set from Python.
            signal.signal(number, signal.SIG_DFL if handler is None else handler)

    def leave_fork(self) -> None:
        """Removes the handlers in a process that was forked during the with block."""
        self._restore_handlers()
        self._watcher.leave_fork()

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self.requested = True
        before = self._handlers.get(number)
        # Python's own handler of SIGINT only raises KeyboardInterrupt.
        if callable(before) and before is not signal.default_int_handler:
            try:
                before(number, frame)
            except BaseException as error:
                if not self._deferring:
                    raise
                self._deferred = self._deferred or error
        if not self._deferring:
            raise Preempted(f"ended by {signal.Signals(number).name}")


class _Watcher:
    """Thread that ends the process after the grace time or at a second signal, in Slurm a third.

    Python runs signal handlers in the main thread, between bytecodes: not during a long step.
    """

    def __init__(self, numbers: tuple[int, ...], grace_secs: float | None) -> None:
        self._numbers = frozenset(numbers)
        self._grace_secs = grace_secs
        # srun --kill-on-bad-exit sends a second signal as soon as the first task has ended.
        self._max_signals = 2 if "SLURM_STEP_ID" in os.environ else 1
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

    def leave_fork(self) -> None:
        """Closes the copies in a fork, which has no thread and no timer of these."""
        # A signal to the fork would reach the pipe that the other process reads.
        signal.set_wakeup_fd(self._before)
        os.close(self._writer)
        os.close(self._reader)

    def _listen(self) -> None:
        seen = 0
        while numbers := os.read(self._reader, 64):
            if self._before != -1:
                os.write(self._before, numbers)
            seen += sum(number in self._numbers for number in numbers)
            if seen > self._max_signals:
                _end(f"ended immediately by signal number {seen}")
            if seen and self._timer is None and self._grace_secs is not None:
                self._timer = threading.Timer(
                    min(self._grace_secs, threading.TIMEOUT_MAX),
                    _end,
                    [f"not saved within {self._grace_secs:g} s of the signal"],
                )
                self._timer.daemon = True
                self._timer.start()


def _end(why: str) -> None:
    _print_error(why)
    end_now(EXIT_CODE, why)


def _print_error(text: str) -> None:
    with contextlib.suppress(OSError, ValueError):  # There may be no standard error.
        os.write(sys.stderr.fileno(), f"estimator_train: {text}\n".encode())


_current: Watch | None = None


_forking = threading.local()  # The signals that the thread blocked before it began to fork.


def _block_signals() -> None:
    """Blocks the signals of the watch in this thread, which forks.

    Until `_leave_fork` has run, a signal to the new process would be lost, and its number would
    reach the pipe of the process that trains.
    """
    _forking.mask = signal.pthread_sigmask(signal.SIG_BLOCK, _current.numbers if _current else ())


def _unblock_signals() -> None:
    signal.pthread_sigmask(signal.SIG_SETMASK, _forking.mask)


def _leave_fork() -> None:
    """Gives a forked process, such as a worker of a pool, the handlers of the program again."""
    global _current
    if _current is not None:
        _current.leave_fork()
        _current = None
    _unblock_signals()


@functools.cache
def _watch_forks() -> None:
    """Registers the functions of forks, once: Python keeps them."""
    os.register_at_fork(
        before=_block_signals, after_in_parent=_unblock_signals, after_in_child=_leave_fork
    )


@contextlib.contextmanager
def watch(preemption: Preemption) -> Iterator[Watch | None]:
    """Handles signals during the with block; inside another watch, that one handles them.

    Earlier signal handlers are also called, and restored at the end. If such a handler raises an
    exception during training, such as SystemExit, it is raised after the checkpoint.

    Args:
      preemption: The signals.

    Yields:
      The watch; None outside of the main thread, where Python cannot set handlers. There it warns.
    """
    global _current
    if _current is None and threading.current_thread() is not threading.main_thread():
        warnings.warn(
            "This job asks for preemption, but runs outside of the main thread, where Python "
            "cannot handle signals: SIGTERM will not save a checkpoint. Train in the main thread, "
            "or save often (save_checkpoints_secs).",
            RuntimeWarning,
            stacklevel=1,
        )
        yield None
        return
    if _current is not None:
        yield _current
        return
    _watch_forks()
    installed = _current = Watch(preemption)
    try:
        installed._install()
        yield installed
        installed._raise_deferred()
    except Preempted as preempted:
        if installed._deferred is not None:
            _print_error(f"{preempted}. Now the program's own handler of the signal ends it.")
            installed._raise_deferred()
        _print_error(f"{preempted}; exit code {EXIT_CODE}. Run the same command again to continue.")
        raise
    finally:
        if _current is installed:  # Not in a fork that leaves the block.
            installed._remove()
            _current = None


@contextlib.contextmanager
def handle_preemption(setting: Preemption | bool | None) -> Iterator[Watch | None]:
    """Handles signals during the with block, if the setting or the environment enables it.

    Args:
      setting: `RunConfig.preemption`. If None, the environment variable ESTIMATOR_TRAIN_PREEMPTION
        decides: 1 means True. The launcher sets it.

    Yields:
      The current watch, which an outer block may have installed; None if signals are not handled.

    Raises:
      Preempted: A signal was received outside of training. Training saves a checkpoint first.
    """
    if setting is None:
        setting = os.environ.get("ESTIMATOR_TRAIN_PREEMPTION") == "1"
    if not setting:
        yield _current
        return
    with watch(Preemption() if setting is True else setting) as installed:
        yield installed


def find_current_watch() -> Watch | None:
    """Returns the watch that handles signals now, or None."""
    return _current


def is_requested() -> bool:
    """Returns whether a signal was received that ends this job."""
    return _current is not None and _current.requested


def raise_if_requested(activity: str) -> None:
    """Raises `Preempted` if a signal was received.

    Args:
      activity: The activity of the caller, for the message: "evaluating".

    Raises:
      Preempted: A signal was received.
    """
    if is_requested():
        raise Preempted(f"ended by a signal while {activity}")
