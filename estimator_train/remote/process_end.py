"""The end of a process: publishes open files, then keeps TensorFlow's threads out of Python."""

import atexit
import concurrent.futures
import contextlib
import ctypes
import sys
import threading
import weakref
from typing import Any

from estimator_train.lifecycle.limits import on_hard_exit
from estimator_train.remote import faults
from estimator_train.remote.callbacks import FileTable
from estimator_train.remote.store import list_open_stores

_CLOSE_TIMEOUT_MSEC = 5000
_HARD_EXIT_SECS = 3.0
_hard_exit = contextlib.ExitStack()


def watch(loaded: ctypes.CDLL, files: FileTable) -> None:
    """Registers the work that must be done before Python ends.

    Args:
      loaded: The library of C.
      files: The open files.
    """

    def publish() -> None:
        for number, writer in list(files.writers.items()):
            if not writer.is_own:
                continue  # The process that forked this one writes it.
            loaded.remote_send_buffer(number)
            try:
                writer.publish()
            except Exception as error:
                print(f"{writer.url} is not complete: {faults.describe(error)}", file=sys.stderr)

    def end() -> None:
        for store in list_open_stores():
            if store.is_async:
                store.fs.loop.call_soon_threadsafe(
                    store.fs.loop.set_default_executor, _InlineExecutor()
                )
        publish()
        loaded.remote_close(_CLOSE_TIMEOUT_MSEC)

    def publish_soon(code: int, cause: str) -> None:
        """Publishes, but does not keep the process from its end."""
        thread = threading.Thread(target=publish, daemon=True)
        thread.start()
        thread.join(_HARD_EXIT_SECS)

    _hard_exit.enter_context(on_hard_exit(publish_soon))
    # Finalizers, which close the connections of some drivers, run at exit, from the first one on
    # that a process creates: this one makes them run after `end`.
    weakref.finalize(files, int)
    # A forked process ends in the same way, such as a task of `launch`'s standby process.
    atexit.register(end)


class _InlineExecutor(concurrent.futures.ThreadPoolExecutor):
    """Executor that works in the calling thread: at exit Python starts no more threads.

    A new connection needs one, because asyncio resolves names in its executor.
    """

    def submit(self, function: Any, /, *arguments: Any, **named: Any) -> Any:
        """Calls a function and returns a future with its result."""
        future: concurrent.futures.Future[Any] = concurrent.futures.Future()
        try:
            future.set_result(function(*arguments, **named))
        except BaseException as error:
            future.set_exception(error)
        return future
