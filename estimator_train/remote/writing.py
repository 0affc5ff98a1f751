"""Files that TensorFlow writes, on stores where an object appears when it is complete.

A small file is written once, when it is closed. A larger one is sent in parts and appears when it
is closed; the data of a checkpoint on S3 when it has its name, so that the store need not copy it.
A file that is synchronized while it is open, such as an event file, is written again every
`PUBLISH_SECS`; from `_APPEND_BYTES` on, the store appends the tail to the former object. Bytes that
are appended to a file follow those that it has by then: others may append to it too.
"""

import os
import threading
import time
from collections.abc import Callable
from typing import Any

from estimator_train.remote import faults
from estimator_train.remote.store import (
    find_final_name,
    get_info,
    is_checkpoint_data,
    is_temporary,
    open_store,
)
from estimator_train.remote.uploads import PART_BYTES, Upload

PUBLISH_SECS = 9.0  # With the pause of the thread, at most 10.
_APPEND_BYTES = 5 << 20  # S3 copies no smaller part.
_ORDER_SECS = 60.0


class Writer:
    """A file that is open for writing.

    Attributes:
      position: Bytes that were written, with those of an older file that is appended to.
      is_closed: Whether TensorFlow has closed it.
    """

    def __init__(self, url: str, append: bool) -> None:
        """Opens a file.

        Args:
          url: Its path with the scheme.
          append: Whether to keep the content that it has.
        """
        self.url = url
        self.is_closed = False
        self._store, self._path = open_store(url)
        self._pid = os.getpid()
        self._changed = threading.Condition(threading.RLock())
        self._content = bytearray()  # What follows `_stored`.
        self._stored = 0  # Bytes that only the store has.
        self._stream: Any = None
        self._has_changes = True
        self._is_visible = False
        self._is_shared = append and not self._store.driver.has_streams
        self._was_synced = False
        self._published_at = 0.0
        self._error: BaseException | None = None
        if append:
            self._open_to_append()
        elif self._store.driver.has_streams:
            self._stream = self._store.fs.open(self._path, "wb")
        self.position = self._stored + len(self._content)

    def _open_to_append(self) -> None:
        try:
            size = int(get_info(self._store, self._path)["size"])
        except FileNotFoundError:
            size = 0
        if self._store.driver.has_streams:
            self._stored = size
            self._stream = self._store.fs.open(self._path, "ab" if size else "wb")
        elif size:
            self._stored, self._is_visible, self._has_changes = size, True, False

    def write(self, offset: int, data: bytes) -> None:
        """Adds bytes.

        Args:
          offset: Their position; other threads may bring those before it later.
          data: The bytes.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: offset == self.position, _ORDER_SECS):
                raise OSError(f"bytes before {offset} are missing")
            self._check_error()
            self._has_changes = True
            if self._stream is not None:
                self._send(data)
            elif self._is_shared:
                self._add_shared(data)
            else:
                self._content += data
                if not self._is_visible and len(self._content) >= 2 * PART_BYTES:
                    self._stream = self._start_upload()
                    content, self._content = bytes(self._content), bytearray()
                    self._send(content)
            self.position += len(data)
            self._changed.notify_all()

    def flush(self) -> None:
        """Makes the bytes visible soon, as far as that needs no second upload.

        Bytes that are appended are published as those of an event file: a log is read meanwhile.
        """
        with self._changed:
            if self._stream is not None and self._store.driver.has_streams:
                self._stream.flush()
            elif self._is_shared:
                self._was_synced = True

    def sync(self) -> None:
        """Makes the bytes visible: at once the first time, later within `PUBLISH_SECS`."""
        with self._changed:
            self._check_error()
            if self._stream is not None:
                self.flush()
                return
            self._was_synced = True
            # TensorFlow looks for an event file after each sync, and loses events if it is missing.
            if self.position and (not self._is_visible or self._is_old()):
                self.publish()

    def publish_synced(self) -> None:
        """Writes the object again if bytes were synchronized since the last time."""
        with self._changed:
            if self._was_synced and not self.is_closed:
                self.publish()

    @property
    def is_own(self) -> bool:
        """Whether this process opened it, not the one that forked this process."""
        return self._pid == os.getpid()

    @property
    def is_synced(self) -> bool:
        """Whether its bytes must be visible within `PUBLISH_SECS`."""
        return self._was_synced

    @property
    def is_due(self) -> bool:
        """Whether it is synchronized while it is open and was published `PUBLISH_SECS` ago."""
        return self._was_synced and not self.is_closed and self._is_old()

    def publish_if_due(self) -> None:
        """Writes the object again if `is_due`."""
        if not self._changed.acquire(blocking=False):
            return  # It is being written.
        try:
            if self.is_due:
                self.publish()
        finally:
            self._changed.release()

    def publish(self) -> None:
        """Writes the object as it is now, unless it is sent in parts or has lost bytes."""
        with self._changed:
            is_in_parts = self._stream is not None
            if is_in_parts or self._error or not self._has_changes or not self.is_own:
                return
            if self._is_shared:
                self._append_shared()
            elif self._stored:
                self._append_tail(bytes(self._content), self._stored)
                self._stored, self._content = self._stored + len(self._content), bytearray()
            else:
                content = bytes(self._content)
                faults.retry(lambda: self._store.fs.pipe_file(self._path, content))
                if len(content) >= _APPEND_BYTES and self._store.can_append:
                    self._stored, self._content = len(content), bytearray()
            self._is_visible, self._has_changes = True, False
            self._published_at = time.monotonic()

    def close(self) -> None:
        """Completes the file. TensorFlow closes some files twice."""
        with self._changed:
            if self.is_closed or not self.is_own:
                return
            self._check_error()
            self.is_closed = True
            if self._stream is not None:
                self._close_stream()
                self._stream = None
            elif is_temporary(self._path) and not self._is_visible:
                # The rename that follows writes it under its name.
                self._store.staged[self._path] = bytes(self._content)
            else:
                self.publish()
            self._content = bytearray()

    def _start_upload(self) -> Any:
        """Starts an upload in parts: of a checkpoint's data under the name that it will get."""
        is_renamed = self._store.can_wait and is_checkpoint_data(self._path)
        return self._store.start_upload(find_final_name(self._path) if is_renamed else self._path)

    def _close_stream(self) -> None:
        """Ends the upload in parts; that of a checkpoint's data waits for its rename."""
        self._use_stream(self._stream.close)
        if getattr(self._stream, "autocommit", True):
            return
        upload = Upload(self._stream, self._stream.path)
        if self._stream.path == self._path:
            upload.complete()
        else:
            self._store.staged[self._path] = upload

    def _send(self, data: bytes) -> None:
        self._use_stream(lambda: self._stream.write(data))

    def _use_stream(self, use: Callable[[], object]) -> None:
        """Calls a method of the stream, which must not complete the object after an error."""
        try:
            use()
        except BaseException as error:
            self._error = error
            self._discard_stream()
            raise

    def _discard_stream(self) -> None:
        stream, self._stream = self._stream, None
        try:
            (stream.discard if hasattr(stream, "discard") else stream.close)()
            stream.closed = True  # Otherwise its destructor completes the object.
        except Exception:
            return  # The first error is the one to report; the store drops parts after a while.

    def _add_shared(self, data: bytes) -> None:
        with self._store.append_lock:
            unsent = self._store.unsent.setdefault(self._path, bytearray())
            unsent += data
        if len(unsent) >= 2 * PART_BYTES:
            self.publish()

    def _append_shared(self) -> None:
        """Appends the bytes of all writers of this process to those that the object has now."""
        with self._store.append_lock:
            tail = bytes(self._store.unsent.get(self._path, b""))
            if not tail and self._is_visible:
                return  # Another writer has sent them.
            try:
                size = int(faults.retry(lambda: self._store.fs.info(self._path))["size"])
            except FileNotFoundError:
                size = 0
            if size >= _APPEND_BYTES and self._store.can_append:
                self._append_tail(tail, size)
            else:
                before = faults.retry(lambda: self._store.fs.cat_file(self._path)) if size else b""
                faults.retry(lambda: self._store.fs.pipe_file(self._path, before + tail))
            self._store.unsent.pop(self._path, None)

    def _append_tail(self, tail: bytes, size: int) -> None:
        """Lets the store append bytes to an object of this size."""

        def append() -> None:
            # A request that failed may have succeeded.
            if int(self._store.fs.info(self._path)["size"]) != size + len(tail):
                file = self._store.fs.open(self._path, "ab", autocommit=False)
                file.write(tail)
                file.close()
                Upload(file, self._path).complete()

        faults.retry(append)

    def _is_old(self) -> bool:
        return time.monotonic() - self._published_at >= PUBLISH_SECS

    def _check_error(self) -> None:
        if self._error is not None:
            raise OSError(f"{self.url} lost bytes: {faults.describe(self._error)}") from self._error


class Publisher:
    """Thread that publishes the bytes of open files that have been synchronized once.

    TensorFlow synchronizes event files every two minutes; a process that is killed would lose the
    events since then.
    """

    def __init__(self, writers: dict[int, Writer], send_buffer: Callable[[int], object]) -> None:
        """Creates the thread of a process when it is first needed.

        Args:
          writers: The open files by their numbers; the caller changes it.
          send_buffer: Makes the library of C write the bytes of a file that it still has.
        """
        self._writers = writers
        self._send_buffer = send_buffer
        self._pid = 0
        self._lock = threading.Lock()

    def start(self) -> None:
        """Starts the thread, unless this process has it."""
        with self._lock:
            if self._pid != os.getpid():
                self._pid = os.getpid()
                threading.Thread(target=self._run, daemon=True, name="remote-publisher").start()

    def _run(self) -> None:
        while True:
            time.sleep(1.0)
            for number, writer in list(self._writers.items()):
                try:
                    if writer.is_due:
                        self._send_buffer(number)
                        writer.publish_if_due()
                except Exception:
                    continue  # The next sync or close reports it, or succeeds.
