"""The functions that the library of C calls, and the work that ends its use.

The functions find the file, and turn errors into codes. At the end of a process, open files are
published; then TensorFlow's threads stay out of Python.
"""

import atexit
import concurrent.futures
import contextlib
import ctypes
import itertools
import sys
import threading
import weakref
from collections.abc import Callable
from typing import Any

from estimator_train.lifecycle.limits import on_hard_exit
from estimator_train.remote import changes, faults
from estimator_train.remote.reading import Reader
from estimator_train.remote.schemes import find_driver
from estimator_train.remote.store import (
    check_writable,
    get_info,
    get_mtime_nsec,
    list_children,
    list_matches,
    list_open_stores,
    open_store,
)
from estimator_train.remote.writing import Publisher, Writer

_OK = 0
_ERROR_BYTES = 1024
_INT, _INT64, _UINT64 = ctypes.c_int, ctypes.c_int64, ctypes.c_uint64
_TEXT, _MEMORY = ctypes.c_char_p, ctypes.c_void_p
_TO_INT, _TO_INT64, _TO_UINT64, _TO_MEMORY = (
    ctypes.POINTER(kind) for kind in (_INT, _INT64, _UINT64, _MEMORY)
)
# As in filesystem.c; the last argument of all but close_read is memory for an error.
_ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "open_read": (_TEXT, _TO_INT64, _TO_INT64, _MEMORY),
    "read": (_INT64, _INT64, _INT64, _INT64, _MEMORY, _TO_INT64, _MEMORY),
    "refresh_size": (_INT64, _TO_INT64, _MEMORY),
    "close_read": (_INT64,),
    "open_write": (_TEXT, _INT, _TO_INT64, _TO_INT64, _MEMORY),
    "write": (_INT64, _INT64, _MEMORY, _INT64, _MEMORY),
    "sync": (_INT64, _INT, _MEMORY),
    "stat": (_TEXT, _TO_INT64, _TO_INT64, _TO_INT, _MEMORY),
    "list": (_TEXT, _INT, _TO_MEMORY, _TO_INT64, _MEMORY),
    "change": (_TEXT, _INT, _TEXT, _TO_UINT64, _TO_UINT64, _MEMORY),
}
_TYPES = {name: ctypes.CFUNCTYPE(_INT, *kinds) for name, kinds in _ARGUMENTS.items()}
_FLUSH, _SYNC, _CLOSE, _RELEASE = range(4)
_MAKE_DIR, _MAKE_DIRS, _DELETE_FILE, _DELETE_DIR, _DELETE_TREE, _RENAME, _COPY, _FORGET = range(8)
_SINGLE_CHANGES: dict[int, Callable[[str], None]] = {
    _MAKE_DIR: changes.make_single_directory,
    _MAKE_DIRS: changes.make_directory,
    _DELETE_FILE: changes.delete_file,
    _DELETE_DIR: changes.delete_directory,
    _DELETE_TREE: changes.delete_tree,
}
_CLOSE_TIMEOUT_MSEC = 5000
_HARD_EXIT_SECS = 3.0
_hard_exit = contextlib.ExitStack()


class CallbackTable(ctypes.Structure):
    """The structure `Callbacks` of filesystem.c."""

    _fields_ = list(_TYPES.items())


class FileTable:
    """The open files of this process, and the functions that serve them.

    Attributes:
      writers: Open files by the numbers that the library of C knows.
    """

    def __init__(
        self, allocate: Callable[[int], int], send_buffer: Callable[[int], object]
    ) -> None:
        """Creates a table without files.

        Args:
          allocate: Returns memory that the library frees.
          send_buffer: Makes the library write the bytes of a file that it still has.
        """
        self.writers: dict[int, Writer] = {}
        self._readers: dict[int, Reader] = {}
        self._numbers = itertools.count(1)
        self._allocate = allocate
        self._publisher = Publisher(self.writers, send_buffer)
        self._serial_lock = threading.RLock()

    def make_callbacks(self) -> CallbackTable:
        """Returns the functions for the library. They must live as long as the process."""
        return CallbackTable(
            *(
                kind(self._guard(getattr(self, f"_{name}"), has_error=name != "close_read"))
                for name, kind in _TYPES.items()
            )
        )

    def _open_read(self, path: bytes, file: Any, size: Any) -> None:
        self._publish_synced(path.decode())
        reader = Reader(path.decode())
        number = next(self._numbers)
        self._readers[number] = reader
        file[0], size[0] = number, reader.size

    def _read(
        self, file: int, offset: int, count: int, read_ahead: int, address: int, done: Any
    ) -> None:
        done[0] = self._readers[file].read_into(offset, count, read_ahead, address)

    def _refresh_size(self, file: int, size: Any) -> None:
        self._publish_synced(self._readers[file].url)
        size[0] = self._readers[file].refresh_size()

    def _close_read(self, file: int) -> None:
        self._readers.pop(file).close()

    def _open_write(self, path: bytes, append: int, file: Any, position: Any) -> None:
        check_writable(path.decode())
        writer = Writer(path.decode(), bool(append))
        number = next(self._numbers)
        self.writers[number] = writer
        file[0], position[0] = number, writer.position

    def _write(self, file: int, offset: int, address: int, count: int) -> None:
        self.writers[file].write(offset, ctypes.string_at(address, count))

    def _sync(self, file: int, how: int) -> None:
        if how == _RELEASE:
            self.writers.pop(file).close()
        elif how == _CLOSE:
            self.writers[file].close()
        else:
            writer = self.writers[file]
            writer.sync() if how == _SYNC else writer.flush()
            if writer.is_synced:
                self._publisher.start()

    def _stat(self, path: bytes, length: Any, mtime_nsec: Any, is_directory: Any) -> None:
        self._publish_synced(path.decode())
        info = get_info(*open_store(path.decode()))
        is_directory[0] = info["type"] == "directory"
        length[0] = int(info.get("size") or 0)
        mtime_nsec[0] = get_mtime_nsec(info)

    def _list(self, path: bytes, is_pattern: int, names: Any, count: Any) -> None:
        url = path.decode()
        found = list_matches(url) if is_pattern else sorted(list_children(*open_store(url)))
        data = b"".join(name.encode() + b"\0" for name in found)
        memory = self._allocate(len(data))
        ctypes.memmove(memory, data, len(data))
        names[0], count[0] = memory, len(found)

    def _change(self, path: bytes, what: int, target: bytes, files: Any, directories: Any) -> None:
        check_writable(path.decode())
        if what in _SINGLE_CHANGES:
            _SINGLE_CHANGES[what](path.decode())
        elif what == _RENAME:
            changes.rename(path.decode(), target.decode())
        elif what == _COPY:
            changes.copy(path.decode(), target.decode())

    def _find_path(self, argument: bytes | int) -> str:
        """Returns the path that the first argument of a callback is, or the number of a file."""
        if isinstance(argument, bytes):
            return argument.decode()
        file = self.writers.get(argument) or self._readers.get(argument)
        return file.url if file else ""

    def _take_turns(self, argument: bytes | int) -> contextlib.AbstractContextManager[object]:
        """Returns the lock of a driver that serves one thread at a time."""
        driver = find_driver(self._find_path(argument).partition("://")[0])
        return self._serial_lock if driver and driver.is_serial else contextlib.nullcontext()

    def _publish_synced(self, url: str) -> None:
        """Publishes the bytes that this process synchronized, before it reads them."""
        for writer in list(self.writers.values()):
            if writer.url == url:
                writer.publish_synced()

    def _guard(self, function: Callable[..., None], has_error: bool) -> Callable[..., int]:
        """Returns a function that returns a code of TensorFlow: no error may pass into C."""

        def call(*arguments: Any) -> int:
            try:
                with self._take_turns(arguments[0]):
                    function(*arguments[:-1] if has_error else arguments)
                return _OK
            except BaseException as error:
                if has_error:
                    _write_error(arguments[-1], self._find_path(arguments[0]), error)
                return faults.get_code(error)

        return call


def _write_error(address: int, path: str, error: BaseException) -> None:
    """Writes one line about an error into the memory for it."""
    text = faults.describe(error)
    line = text if path in text else f"{path}: {text}"
    encoded = line.encode(errors="replace")[: _ERROR_BYTES - 1] + b"\0"
    ctypes.memmove(address, encoded, len(encoded))


def watch_process_end(loaded: ctypes.CDLL, files: FileTable) -> None:
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
