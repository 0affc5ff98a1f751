"""Azure's blob storage, where the operations of its driver do not suffice.

The driver, adlfs, lists the marker of a directory in place of its files if the marker's name ends
with a slash. It does not wait for a copy that the store has begun, and it reads ranges of whatever
blob has the name. A marker here is an empty blob with the metadata `hdi_isfolder`, as Hadoop and
Azure's hierarchical namespaces have it.
"""

import asyncio
import errno
from typing import Any

from estimator_train.remote.faults import retry
from estimator_train.remote.kinds import Chunks, Store

_MARKER = {"hdi_isfolder": "true"}
_POLL_SECS = 0.2


class AzureStore(Store):
    """Azure's blob storage."""

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
