"""Kinds of stores: listings, copies, marked directories and reads, as their drivers have them."""

import asyncio
import contextlib
import dataclasses
import errno
import functools
import threading
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

from estimator_train.remote.faults import retry
from estimator_train.remote.schemes import Driver
from estimator_train.remote.uploads import PART_BYTES, S3PartsFile, Upload

_CHUNK_BYTES = 1 << 20
Chunks = list[bytes]  # Joining them would cost a copy.
_Result = TypeVar("_Result")
_MARKER = {"hdi_isfolder": "true"}
_POLL_SECS = 0.2


@dataclasses.dataclass
class Store:
    """A file system of fsspec in this process.

    Attributes:
      fs: The file system.
      driver: Its driver.
      staged: Closed temporary files that are not in the store yet, by path.
      unsent: Bytes that follow those of the object, by the path of a file that is appended to.
      append_lock: Lock of these bytes, and of the requests that append them.
      can_append: Whether the store appends to an object without sending its bytes again.
      can_wait: Whether an upload in parts can wait for its last request.
    """

    fs: Any
    driver: Driver
    staged: dict[str, bytes | Upload] = dataclasses.field(default_factory=dict)
    unsent: dict[str, bytearray] = dataclasses.field(default_factory=dict)
    append_lock: threading.Lock = dataclasses.field(default_factory=threading.Lock)
    can_append = False
    can_wait = False

    @property
    def is_async(self) -> bool:
        """Whether the file system runs its requests on a loop, several at a time."""
        return bool(getattr(self.fs, "async_impl", False))

    @property
    def can_move(self) -> bool:
        """Whether the driver moves files itself.

        The function of fsspec copies, and takes a `[`, `*` or `?` in a path for a pattern.
        """
        import fsspec

        return type(self.fs).mv is not fsspec.AbstractFileSystem.mv

    def run(self, requests: Coroutine[Any, Any, _Result]) -> _Result:
        """Returns the result of requests that run on the loop of the file system."""
        return asyncio.run_coroutine_threadsafe(requests, self.fs.loop).result()

    def list_children(self, base: str) -> dict[str, bool]:
        """Returns whether each entry of a directory is a directory, by its name.

        Args:
          base: The path of the directory, without a slash at its end; it need not exist.
        """
        try:
            entries = retry(lambda: self.fs.ls(base, detail=True))
        except FileNotFoundError:
            return {}
        kinds = {entry["name"].rstrip("/"): entry["type"] for entry in entries}
        return {
            name.rsplit("/", 1)[-1]: kind == "directory"
            for name, kind in kinds.items()
            if name.strip("/") != base.strip("/")
        }

    def find(self, base: str) -> tuple[list[str], list[str]]:
        """Returns the paths of all files and of all marked directories below a directory."""
        if not self.driver.is_object_store:
            entries = retry(lambda: self.fs.find(base, withdirs=True, detail=True))
            files = [name for name, entry in entries.items() if entry["type"] != "directory"]
            return files, [name for name in entries if name not in (base, *files)]
        found = [name for name in retry(lambda: self.fs.find(base)) if name.startswith(base + "/")]
        markers = [name for name in found if name.endswith("/") and name != base + "/"]
        return [name for name in found if not name.endswith("/")], [name[:-1] for name in markers]

    def delete_file(self, path: str) -> None:
        """Deletes a file. A request that was repeated finds it missing."""
        with contextlib.suppress(FileNotFoundError):
            retry(lambda: self.fs.rm_file(path))

    def delete_files(self, paths: Sequence[str]) -> None:
        """Deletes files, all at a time if the driver can."""

        async def delete(path: str) -> None:
            with contextlib.suppress(FileNotFoundError):
                await self.fs._rm_file(path)

        async def delete_together() -> None:
            await asyncio.gather(*(delete(path) for path in paths))

        if self.is_async:
            retry(lambda: self.run(delete_together()))
            return
        for path in paths:
            self.delete_file(path)

    def delete_tree(self, base: str) -> None:
        """Deletes a directory and all below it.

        The function of fsspec takes a `[`, `*` or `?` in the path for a pattern.
        """
        files, directories = self.find(base)
        self.delete_files(files)
        for directory in [*sorted(directories, reverse=True), base]:
            self.delete_directory(directory)

    def copy(self, pairs: Sequence[tuple[str, str]]) -> None:
        """Copies files, all at a time if the driver can."""

        async def copy_together() -> None:
            await asyncio.gather(*(self._copy_file(path, target) for path, target in pairs))

        if self.is_async:
            retry(lambda: self.run(copy_together()))
            return
        for path, target in pairs:
            retry(functools.partial(self.fs.cp_file, path, target))

    async def _copy_file(self, path: str, target: str) -> None:
        await self.fs._cp_file(path, target)

    def start_upload(self, path: str) -> Any:
        """Returns a file for a new object that is sent in parts; it appears when it is closed."""
        return self.fs.open(path, "wb", block_size=PART_BYTES)

    def make_marker(self, base: str) -> None:
        """Marks a directory."""
        retry(lambda: self.fs.pipe_file(f"{base}/", b""))

    def delete_directory(self, base: str) -> None:
        """Deletes an empty directory: on an object store its marker, if there is one."""
        if not self.driver.is_object_store:
            retry(lambda: self.fs.rmdir(base))
        elif "/" in base.strip("/"):  # The first part is a bucket.
            self.delete_file(f"{base}/")

    async def fetch(
        self, path: str, offset: int, count: int, version: dict[str, Any] | None
    ) -> Chunks:
        """Returns bytes of a file, on the loop of the file system.

        Args:
          path: The file.
          offset: The first byte.
          count: The number of bytes. A server may send all bytes of the file.
          version: The description of the object to read, if the store can choose: another one is
            an error of status 412. None for any.
        """
        return [await self.fs._cat_file(path, start=offset, end=offset + count)]


class S3Store(Store):
    """A store of the S3 protocol."""

    can_append = True
    can_wait = True

    def start_upload(self, path: str) -> S3PartsFile:
        """Returns a file for a new object that is sent in parts; it appears at its `commit`."""
        return S3PartsFile(self.fs, path)

    async def fetch(
        self, path: str, offset: int, count: int, version: dict[str, Any] | None
    ) -> Chunks:
        """Returns bytes of an object; see `Store.fetch`."""
        etag = version and version.get("ETag")
        if not etag:
            return await super().fetch(path, offset, count, version)
        bucket, key, _ = self.fs.split_path(path)
        range_ = f"bytes={offset}-{offset + count - 1}"
        response = await self.fs._call_s3(
            "get_object", Bucket=bucket, Key=key, Range=range_, IfMatch=etag
        )
        chunks = []
        async with response["Body"] as body:
            while chunk := await body.read(_CHUNK_BYTES):
                chunks.append(chunk)
        return chunks


class AzureStore(Store):
    """Azure's blob storage, where the operations of its driver do not suffice.

    The driver, adlfs, lists the marker of a directory in place of its files if the marker's name
    ends with a slash. It does not wait for a copy that the store has begun, and it reads ranges of
    whatever blob has the name. A marker here is an empty blob with the metadata `hdi_isfolder`, as
    Hadoop and Azure's hierarchical namespaces have it.
    """

    def list_children(self, base: str) -> dict[str, bool]:
        """Returns whether each entry of a directory is a directory; see `Store.list_children`."""
        found = retry(lambda: self.run(self._list_entries(base, is_recursive=False)))
        return {path.rpartition("/")[2]: is_directory for path, is_directory in found.items()}

    def find(self, base: str) -> tuple[list[str], list[str]]:
        """Returns the paths of all files and of all marked directories below a directory."""
        entries = retry(lambda: self.run(self._list_entries(base, is_recursive=True)))
        files = [name for name, is_directory in entries.items() if not is_directory]
        return files, [name for name, is_directory in entries.items() if is_directory]

    def make_marker(self, base: str) -> None:
        """Marks a directory, unless there is a blob of its name."""
        retry(lambda: self.run(self._make_marker(base)))

    def delete_directory(self, base: str) -> None:
        """Deletes the markers of a directory, of either form."""
        super().delete_directory(base)
        self.delete_file(base)

    async def fetch(
        self, path: str, offset: int, count: int, version: dict[str, Any] | None
    ) -> Chunks:
        """Returns bytes of a blob; see `Store.fetch`."""
        from azure.core import MatchConditions

        etag = version and version.get("etag")
        condition = {"etag": etag, "match_condition": MatchConditions.IfNotModified} if etag else {}
        async with self._open_blob(path) as blob:
            stream = await blob.download_blob(offset=offset, length=count, **condition)
            return [await stream.readall()]

    def _open_blob(self, path: str) -> Any:
        return self.fs.service_client.get_blob_client(*self.fs.split_path(path)[:2])

    async def _list_entries(self, base: str, is_recursive: bool) -> dict[str, bool]:
        """Returns whether each entry below a directory is a directory, by its path.

        Raises:
          FileNotFoundError: The container does not exist.
        """
        from azure.core.exceptions import ResourceNotFoundError

        container, inside, _ = self.fs.split_path(base)
        prefix = f"{inside}/" if inside else ""
        entries: dict[str, bool] = {}
        async with self.fs.service_client.get_container_client(container) as client:
            list_blobs = client.list_blobs if is_recursive else client.walk_blobs
            try:
                async for blob in list_blobs(name_starts_with=prefix, include=["metadata"]):
                    name = f"{container}/{blob.name.rstrip('/')}"
                    if name != base:
                        entries[name] = entries.get(name, False) or _is_directory(blob)
            except ResourceNotFoundError as error:
                raise FileNotFoundError(errno.ENOENT, "No such container", container) from error
        return entries

    async def _make_marker(self, base: str) -> None:
        from azure.core.exceptions import ResourceExistsError

        async with self._open_blob(base) as blob:
            try:
                await blob.upload_blob(b"", metadata=_MARKER)
            except ResourceExistsError:
                return

    async def _copy_file(self, path: str, target: str) -> None:
        """Copies a blob, and waits for the end of a copy that the store makes in the background.

        Raises:
          FileNotFoundError: The blob does not exist.
          OSError: The copy failed.
        """
        from azure.core.exceptions import ResourceNotFoundError

        source = self._open_blob(path)
        async with self._open_blob(target) as blob:
            try:
                await blob.start_copy_from_url(source.url)
            except ResourceNotFoundError as error:
                raise FileNotFoundError(errno.ENOENT, "No such file", path) from error
            while (copy := (await blob.get_blob_properties()).copy).status == "pending":
                await asyncio.sleep(_POLL_SECS)
        if copy.status not in (None, "success"):
            raise OSError(f"the copy of {path} to {target} ended as {copy.status!r}")


def _is_directory(blob: Any) -> bool:
    """Returns whether an entry of a listing is a directory, a prefix of names, or a marker."""
    metadata = getattr(blob, "metadata", None) or {}
    names = {name.lower(): value for name, value in metadata.items()}
    return blob.name.endswith("/") or names.get("hdi_isfolder") == "true"
