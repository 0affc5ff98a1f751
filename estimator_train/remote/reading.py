"""Files that TensorFlow reads: ranges of an object, several at a time, and read ahead."""

import asyncio
import concurrent.futures
import ctypes
import threading
from typing import Any

from estimator_train.remote import faults
from estimator_train.remote.kinds import Chunks
from estimator_train.remote.store import get_info, open_store

_MAX_BLOCKS_AHEAD = 3
_RANGE_BYTES = 8 << 20
_RANGES_AT_A_TIME = 4
_GROWING = "tfevents"  # Files of this name grow while they are read.


class Reader:
    """An object that is open for reading.

    Attributes:
      url: Its path with the scheme.
      size: Its length in bytes when it was last asked for.
    """

    def __init__(self, url: str) -> None:
        """Opens a file.

        Args:
          url: Its path with the scheme.

        Raises:
          FileNotFoundError: It does not exist.
          IsADirectoryError: It is a directory.
        """
        self.url = url
        self._store, self._path = open_store(url)
        self._info = get_info(self._store, self._path)
        if self._info["type"] == "directory":
            raise IsADirectoryError(f"{url} is a directory")
        self.size = int(self._info["size"] or 0)
        self._lock = threading.Lock()
        self._ahead: dict[int, concurrent.futures.Future[Chunks]] = {}
        # The blocks to read ahead: more while the reader waits for them.
        self._depth = 1
        # All bytes, if the server sends them for any range.
        self._content: bytes | None = None

    def refresh_size(self) -> int:
        """Asks the store for the length of the file, which may have grown."""
        info = get_info(self._store, self._path)
        if not self._is_growing() and _get_identity(info) != _get_identity(self._info):
            raise self._make_replaced_error()
        self.size = int(info["size"] or 0)
        return self.size

    def read_into(self, offset: int, count: int, read_ahead: int, address: int) -> int:
        """Reads bytes into memory, and returns their number.

        Args:
          offset: Where to begin, in bytes.
          count: How many bytes to read.
          read_ahead: The size of the blocks that will be read next; 0 for no sequential reader.
          address: The memory.
        """
        if not self._store.is_async:
            data = faults.retry(
                lambda: self._store.fs.cat_file(self._path, start=offset, end=offset + count)
            )
            return _copy_to(address, [data], count)
        if count > 2 * _RANGE_BYTES:
            return self._read_ranges(offset, count, address)
        future = self._take_block(offset, count, read_ahead)
        return _copy_to(address, self._wait_for(future, offset, count), count)

    def close(self) -> None:
        """Cancels the reads ahead."""
        with self._lock:
            futures, self._ahead = list(self._ahead.values()), {}
        for future in futures:
            future.cancel()

    def _take_block(
        self, offset: int, count: int, read_ahead: int
    ) -> concurrent.futures.Future[Chunks]:
        with self._lock:
            future = self._ahead.pop(offset, None)
            if future is None:
                for other in self._ahead.values():
                    other.cancel()
                self._ahead.clear()
                future = self._start(offset, count)
            elif not future.done() and self._depth < _MAX_BLOCKS_AHEAD:
                self._depth += 1
            position = offset + count
            for _ in range(self._depth if read_ahead else 0):
                if position < self.size and position not in self._ahead:
                    self._ahead[position] = self._start(
                        position, min(read_ahead, self.size - position)
                    )
                position += read_ahead
            return future

    def _read_ranges(self, offset: int, count: int, address: int) -> int:
        """Reads a large part, for example a tensor of a checkpoint, as parallel ranges."""
        starts = list(range(0, count, _RANGE_BYTES))
        futures: dict[int, concurrent.futures.Future[Chunks]] = {}
        done = 0
        for number, start in enumerate(starts):
            for later in starts[number : number + _RANGES_AT_A_TIME]:
                if later not in futures:
                    futures[later] = self._start(offset + later, min(_RANGE_BYTES, count - later))
            size = min(_RANGE_BYTES, count - start)
            copied = _copy_to(
                address + start, self._wait_for(futures[start], offset + start, size), size
            )
            futures[start] = concurrent.futures.Future()  # Frees the bytes.
            done += copied
            if copied < size:
                break
        return done

    def _wait_for(
        self, future: concurrent.futures.Future[Chunks], offset: int, count: int
    ) -> Chunks:
        try:
            return self._check(future)
        except Exception as error:
            if not faults.is_transient(error):
                raise
        return faults.retry(lambda: self._check(self._start(offset, count)))

    def _check(self, future: concurrent.futures.Future[Chunks]) -> Chunks:
        try:
            return future.result()
        except Exception as error:
            if faults.is_precondition_failure(error):
                raise self._make_replaced_error() from error
            raise

    def _start(self, offset: int, count: int) -> concurrent.futures.Future[Chunks]:
        fs = self._store.fs
        return asyncio.run_coroutine_threadsafe(self.fetch_range(offset, count), fs.loop)

    async def fetch_range(self, offset: int, count: int) -> Chunks:
        """Returns bytes of the object that was opened, on the loop of the file system."""
        if self._content is None:
            version = None if self._is_growing() else self._info
            chunks = await self._store.fetch(self._path, offset, count, version)
            if sum(map(len, chunks)) <= count:
                return chunks
            self._content = b"".join(chunks)  # HTTP servers may ignore the range.
        return [self._content[offset : offset + count]]

    def _is_growing(self) -> bool:
        return _GROWING in self._path

    def _make_replaced_error(self) -> faults.ReplacedError:
        return faults.ReplacedError(
            f"{self.url} {faults.REPLACED}. Write new data under a new name"
        )


def _copy_to(address: int, chunks: Chunks, count: int) -> int:
    done = 0
    for chunk in chunks:
        size = min(len(chunk), count - done)
        ctypes.memmove(address + done, chunk, size)
        done += size
    return done


def _get_identity(info: dict[str, Any]) -> tuple[Any, ...]:
    """Returns what changes with the content; a chief writes its first checkpoint again as it is."""
    tag = info.get("ETag") or info.get("etag")
    return (tag,) if tag else (info.get("size"), info.get("LastModified") or info.get("mtime"))
