"""Keeps the threads of tf.data out of Python while the interpreter ends.

Python ends a thread that waits for the interpreter during its end. A function of TensorFlow that
ran in this thread then never returns, and a session or an iterator that is deleted waits for it
without end.
"""

import atexit
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

# TensorFlow converts arrays before and after each call. No call for so long means that its threads
# wait for something else.
_QUIET_SECS = 0.05
_MAX_WAIT_SECS = 10.0


class _Gate:
    """Counter of the running calls, which lets none start after the end of the program."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._running = self._started = 0
        self._is_closed = False

    def enter(self) -> bool:
        """Counts a call; returns whether it may run."""
        with self._changed:
            self._running += 1
            self._started += 1
            return not self._is_closed

    def leave(self) -> None:
        """Ends a call."""
        with self._changed:
            self._running -= 1
            self._changed.notify_all()

    def close(self) -> None:
        """Lets no call start, and waits for the running ones."""
        with self._changed:
            self._is_closed = True
            if not self._started:
                return
            deadline = time.monotonic() + _MAX_WAIT_SECS
            seen = -1
            while seen != self._started and time.monotonic() < deadline:
                seen = self._started
                self._changed.wait_for(lambda: not self._running, _MAX_WAIT_SECS)
                self._changed.wait(_QUIET_SECS)


_gate = _Gate()
atexit.register(_gate.close)


def stop_at_exit(
    function: Callable[..., list[Any]], make_last: Callable[[], list[Any]]
) -> Callable[..., list[Any]]:
    """Returns a function for `tf.numpy_function` that does not run while the interpreter ends.

    Args:
      function: The function.
      make_last: Function that returns the arrays of a call after the end of the program.
    """

    def call(*arguments: Any) -> list[Any]:
        try:
            return function(*arguments) if _gate.enter() else make_last()
        finally:
            _gate.leave()

    return call


def is_program_running(number: tf.Tensor) -> tf.Tensor:
    """Returns a scalar bool for `Dataset.take_while`: false while the interpreter ends.

    Args:
      number: The element; without an input TensorFlow could evaluate the function only once.
    """
    check = stop_at_exit(lambda _: [np.array(True)], lambda: [np.array(False)])
    return tf.ensure_shape(tf.numpy_function(check, [number], [tf.bool], stateful=False)[0], [])
