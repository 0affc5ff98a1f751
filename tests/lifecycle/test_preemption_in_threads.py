"""Preemption outside of the main thread, where Python cannot handle signals, and in forks."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable

from estimator_train.lifecycle.preemption import Preemption, Watch, handle_preemption


def run_in_thread(function: Callable[[], None]) -> None:
    thread = threading.Thread(target=function)
    thread.start()
    thread.join()


def collect_warnings(setting: bool | None) -> tuple[list[str], Watch | None]:
    """Returns the warnings of two calls in a thread, and what the last of them yields."""
    found: list[Watch | None] = []

    def call() -> None:
        for _ in range(2):
            with handle_preemption(setting) as watch:
                found.append(watch)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        run_in_thread(call)
    return [str(one.message) for one in caught], found[-1]


def test_a_thread_that_asks_for_preemption_warns_once() -> None:
    before = signal.getsignal(signal.SIGTERM)
    (text,), watch = collect_warnings(True)
    assert "outside of the main thread" in text
    assert watch is None
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_thread_uses_the_watch_of_the_main_thread_without_a_warning() -> None:
    with handle_preemption(True) as watch:
        assert collect_warnings(True) == ([], watch)
    assert collect_warnings(False) == ([], None)


def test_a_forked_process_has_the_handlers_of_the_program() -> None:
    """A pool terminates its workers by SIGTERM."""
    with handle_preemption(True) as watch:
        assert watch is not None
        with watch.defer():
            context = multiprocessing.get_context("fork")
            started = context.Event()
            worker = context.Process(target=lambda: (started.set(), time.sleep(5)))
            worker.start()
            started.wait()
            worker.terminate()
            worker.join()
    assert worker.exitcode == -signal.SIGTERM
    assert not watch.requested


def test_a_forked_process_may_leave_the_block() -> None:
    before = signal.getsignal(signal.SIGTERM)
    forked = True
    try:
        with handle_preemption(True):
            child = os.fork()
            forked = child == 0
        if forked:
            os._exit(0 if signal.getsignal(signal.SIGTERM) is before else 1)
    finally:
        if forked:
            os._exit(2)
    assert os.waitpid(child, 0)[1] == 0
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_signal_to_a_process_as_it_is_forked_ends_that_process() -> None:
    """A pool that a failed task ends terminates workers that have just begun."""
    with handle_preemption(Preemption(grace_secs=3600)) as watch:
        assert watch is not None
        with watch.defer():
            for _ in range(20):
                child = os.fork()
                if child == 0:
                    time.sleep(5)
                    os._exit(0)
                os.kill(child, signal.SIGTERM)
                assert os.waitpid(child, 0)[1] == signal.SIGTERM
            assert not watch.requested
    assert signal.SIGTERM not in signal.pthread_sigmask(signal.SIG_BLOCK, ())
