"""Signals that the launcher receives and forwards to the tasks."""

import collections
import contextlib
import signal
import threading
from collections.abc import Iterable, Iterator

from estimator_train.launcher.process import TaskProcess

_ENDING_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_OTHER_SIGNALS = (signal.SIGUSR1, signal.SIGUSR2)


class SignalForwarder:
    """Received signals, from their arrival until the launcher forwards them.

    A handler runs between any two instructions, also while a task starts that the launcher does not
    know yet. So handlers only note signals; the launcher forwards them when it knows all tasks.

    Attributes:
      ending: Whether a signal that ends the job was forwarded.
    """

    def __init__(self) -> None:
        self._received: collections.deque[int] = collections.deque()
        self.ending = False

    @contextlib.contextmanager
    def receive(self) -> Iterator[None]:
        """Notes the signals of this process during the with block."""
        # Only the main thread may handle signals.
        handles = threading.current_thread() is threading.main_thread()
        numbers = (*_ENDING_SIGNALS, *_OTHER_SIGNALS) if handles else ()
        before = {number: signal.signal(number, self._note) for number in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def forward(self, tasks: Iterable[TaskProcess]) -> None:
        """Sends the signals that have arrived to tasks; the second ending signal kills them."""
        tasks = list(tasks)
        while self._received:
            number = self._received.popleft()
            kills = self.ending and number in _ENDING_SIGNALS
            for task in tasks:
                task.send(signal.SIGKILL if kills else number)
            self.ending |= number in _ENDING_SIGNALS

    def _note(self, number: int, frame: object) -> None:
        self._received.append(number)
