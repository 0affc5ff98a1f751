"""Uploads to S3 in parts: the object appears with the last request."""

import asyncio
import collections
import concurrent.futures
import dataclasses
import email.utils
import io
from typing import Any

from estimator_train.remote.faults import retry

PART_BYTES = 16 << 20
# One connection to a store carries a small part of what a machine can send.
_MAX_IN_FLIGHT = 8
_MAX_CLOCK_SECS = 60.0  # Between the times of one request.


@dataclasses.dataclass
class Upload:
    """A file that was sent in parts and appears when `complete` is called.

    Attributes:
      stream: A file of `s3fs`, or an `S3PartsFile`, which is closed.
      target: The path of the object that appears.
    """

    stream: Any
    target: str

    @property
    def size(self) -> int:
        """The number of bytes."""
        return int(self.stream.tell())

    def complete(self) -> None:
        """Lets the object appear."""
        try:
            retry(self.stream.commit)
        except FileNotFoundError:
            # The store has ended the upload: the first request succeeded, and its answer was lost.
            if not self._is_complete():
                raise

    def _is_complete(self) -> bool:
        """Returns whether the object is the one that this upload sent."""
        found = retry(lambda: self.stream.fs.info(self.stream.path))
        # An object that was sent in parts has an ETag that ends with their number, and the time at
        # which its upload began; both times are of the store's clock.
        has_parts = found["ETag"].strip('"').endswith(f"-{len(self.stream.parts)}")
        began = self.stream.mpu["ResponseMetadata"]["HTTPHeaders"].get("date")
        if not (began and has_parts and found["size"] == self.size):
            return False
        age = email.utils.parsedate_to_datetime(began) - found["LastModified"]
        return bool(age.total_seconds() < _MAX_CLOCK_SECS)


class S3PartsFile:
    """A new file on S3 that sends several of its parts at a time.

    The file of s3fs sends one after the other. The memory of the parts that are sent is at most
    `_MAX_IN_FLIGHT` times `PART_BYTES`: `write` waits for the first to end if there are so many.

    Attributes:
      fs: The file system.
      path: The path of the object.
      mpu: The store's answer to the first request.
      parts: The parts that the store has, in the order of the last request.
      autocommit: False: the file is closed without its last request.
      closed: Whether all parts were sent.
    """

    autocommit = False

    def __init__(self, fs: Any, path: str) -> None:
        """Starts the upload.

        Args:
          fs: A file system of s3fs.
          path: "bucket/key".
        """
        self.fs, self.path, self.closed = fs, path, False
        self.parts: list[dict[str, Any]] = []
        bucket, key, _ = fs.split_path(path)
        self._place = {"Bucket": bucket, "Key": key}
        self.mpu: dict[str, Any] = fs.call_s3("create_multipart_upload", **self._place)
        self._place["UploadId"] = self.mpu["UploadId"]
        self._sent: collections.deque[concurrent.futures.Future[dict[str, Any]]]
        self._sent = collections.deque()
        self._buffer, self._size = io.BytesIO(), 0

    def tell(self) -> int:
        """Returns the number of bytes that were written."""
        return self._size

    def write(self, data: bytes) -> None:
        """Adds bytes, and sends each part that is complete.

        Raises:
          OSError: The store has refused a part.
        """
        rest = memoryview(data)
        self._size += len(rest)
        while len(rest):
            count = PART_BYTES - self._buffer.tell()
            self._buffer.write(rest[:count])
            rest = rest[count:]
            if self._buffer.tell() == PART_BYTES:
                self._send_part()

    def close(self) -> None:
        """Sends the last part and waits until the store has all.

        Raises:
          OSError: The store has refused a part.
        """
        if self._buffer.tell():
            self._send_part()
        while self._sent:
            self._take_oldest()
        self.closed = True

    def commit(self) -> None:
        """Lets the object appear."""
        self.fs.call_s3(
            "complete_multipart_upload", **self._place, MultipartUpload={"Parts": self.parts}
        )
        self.fs.invalidate_cache(self.path)

    def discard(self) -> None:
        """Ends the upload; the store deletes the parts."""
        for request in self._sent:
            request.cancel()
        concurrent.futures.wait(self._sent)
        self._sent.clear()
        self.fs.call_s3("abort_multipart_upload", **self._place)

    def _send_part(self) -> None:
        while len(self._sent) >= _MAX_IN_FLIGHT:
            self._take_oldest()
        number = len(self.parts) + len(self._sent) + 1
        body, self._buffer = self._buffer.getvalue(), io.BytesIO()
        self._sent.append(
            asyncio.run_coroutine_threadsafe(self._request(number, body), self.fs.loop)
        )

    async def _request(self, number: int, body: bytes) -> dict[str, Any]:
        answer = await self.fs._call_s3("upload_part", **self._place, PartNumber=number, Body=body)
        part = {"PartNumber": number, "ETag": answer["ETag"]}
        # An upload that has checksums wants that of each part again at the end.
        checksum = f"Checksum{self.mpu.get('ChecksumAlgorithm')}"
        return {**part, checksum: answer[checksum]} if checksum in answer else part

    def _take_oldest(self) -> None:
        self.parts.append(self._sent[0].result())
        self._sent.popleft()
