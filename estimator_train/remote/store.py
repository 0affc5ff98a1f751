"""Stores: file systems of fsspec, and what TensorFlow asks them about files and directories."""

import os
import re
import threading
from typing import Any

from estimator_train.remote import faults
from estimator_train.remote.kinds import AzureStore, S3Store, Store
from estimator_train.remote.schemes import DRIVERS, find_driver, make_options
from estimator_train.remote.uploads import Upload

# TensorFlow writes files under such a name and renames them: small ones, and those of a checkpoint.
_TEMPORARY = re.compile(r"\.tmp[0-9a-f]{32}$|\.tempstate\d+$")
_DATA = re.compile(r"\.data-\d{5}-of-\d{5}\.tempstate\d+$")
# The only part of a checkpoint: the process that wrote it renames it a second time.
_ONLY_PART = re.compile(r"(\.part|_temp(_[0-9a-f]{32})?/part)-00000-of-00001(?=\.data-0)")
_KINDS = {"abfs": AzureStore, "s3": S3Store}
_stores: dict[tuple[Any, ...], Store] = {}
_lock = threading.Lock()
_options: dict[str, dict[str, Any]] = {}


def set_options(scheme: str, options: dict[str, Any]) -> None:
    """Sets options of fsspec's file system for a scheme, before its first use."""
    _options[scheme] = options


def list_open_stores() -> list[Store]:
    """Returns the stores that this process uses."""
    return [store for key, store in list(_stores.items()) if key[0] == os.getpid()]


def open_store(url: str) -> tuple[Store, str]:
    """Returns the store of a path, and the path within it.

    Args:
      url: "scheme://bucket/path".

    Raises:
      ImportError: The driver is not installed.
      NotImplementedError: The scheme has no driver.
    """
    scheme = url.partition("://")[0]
    driver = find_driver(scheme)
    if driver is None:
        raise NotImplementedError(f"no driver of fsspec serves {scheme}://")
    import fsspec

    try:
        kind = fsspec.get_filesystem_class(driver.protocol)
    except ImportError as error:
        raise ImportError(f"{scheme}:// needs a package: pip install '{driver.package}'") from error
    url = driver.protocol + url[len(scheme) :]
    if scheme == "viewfs":
        url = url.replace("hdfs://", "hdfs:///", 1) if not url.startswith("hdfs:///") else url
    from_url = kind._get_kwargs_from_urls(url)
    key = (os.getpid(), scheme, repr(sorted(from_url.items())))
    store = _stores.get(key)
    if store is None:
        with _lock:
            store = _stores.get(key)
            if store is None:
                options = {**make_options(driver), **from_url, **_options.get(scheme, {})}
                fs = _connect(kind, scheme, options)
                store = _stores[key] = _KINDS.get(driver.protocol, Store)(fs, driver)
    return store, kind._strip_protocol(url)


def check_writable(url: str) -> None:
    """Checks that the scheme of a path does not only read.

    Raises:
      NotImplementedError: It does.
    """
    scheme = url.partition("://")[0]
    driver = find_driver(scheme)
    if driver and driver.is_read_only:
        raise NotImplementedError(f"{scheme}:// is read-only. Write to another scheme or a disk")


def _connect(kind: Any, scheme: str, options: dict[str, Any]) -> Any:
    try:
        return kind(**options, skip_instance_cache=True)
    except ValueError as error:
        if find_driver(scheme) is not DRIVERS["az"]:
            raise
        raise ValueError(
            f"{scheme}:// needs an account ({' '.join(str(error).split())}). Set "
            "AZURE_STORAGE_CONNECTION_STRING, or AZURE_STORAGE_ACCOUNT_NAME with a key or an "
            "identity"
        ) from error


def is_temporary(path: str) -> bool:
    """Returns whether a path is a temporary one of TensorFlow, which a rename follows."""
    return _TEMPORARY.search(path) is not None


def is_checkpoint_data(path: str) -> bool:
    """Returns whether a path is that of a checkpoint's data before its first rename."""
    return _DATA.search(path) is not None


def find_final_name(path: str) -> str:
    """Returns the name that TensorFlow's renames will give the data of a checkpoint."""
    return _ONLY_PART.sub("", _TEMPORARY.sub("", path))


def publish_staged(store: Store, path: str) -> None:
    """Writes a staged file into the store, if there is one of that path.

    An upload in parts appears under its final name.
    """
    staged = store.staged.pop(path, None)
    if isinstance(staged, Upload):
        staged.complete()
    elif staged is not None:
        faults.retry(lambda: store.fs.pipe_file(path, staged))


def rename_staged(store: Store, path: str, target: str) -> bool:
    """Writes a staged file under another name, and returns whether there is one of that path."""
    staged = store.staged.get(path)
    if staged is None:
        return False
    if isinstance(staged, bytes):
        faults.retry(lambda: store.fs.pipe_file(target, staged))
    elif target != staged.target and find_final_name(target) == staged.target:
        store.staged[target] = staged  # Another rename follows.
    else:
        staged.complete()
        if target != staged.target:
            store.copy([(staged.target, target)])
            store.delete_file(staged.target)
    store.staged.pop(path, None)
    return True


def delete_staged(store: Store, path: str) -> bool:
    """Deletes a staged file, and returns whether there was one of that path."""
    staged = store.staged.pop(path, None)
    if isinstance(staged, Upload):
        staged.stream.discard()
    return staged is not None


def get_info(store: Store, path: str) -> dict[str, Any]:
    """Returns fsspec's description of a file or directory.

    Raises:
      FileNotFoundError: There is neither.
    """
    staged = store.staged.get(path)
    if isinstance(staged, Upload):
        return {"name": path, "type": "file", "size": staged.size}
    publish_staged(store, path)
    try:
        return faults.retry(lambda: store.fs.info(path))
    except FileNotFoundError:
        # A directory may be only its marker, an empty object whose name ends with a slash.
        marker = path.rstrip("/") + "/"
        if not store.driver.is_object_store or not faults.retry(lambda: store.fs.exists(marker)):
            raise
    try:
        # Drivers may ignore the slash: then the file was written in the meantime.
        return faults.retry(lambda: store.fs.info(path))
    except FileNotFoundError:
        return {"name": path, "type": "directory", "size": 0}


def get_mtime_nsec(info: dict[str, Any]) -> int:
    """Returns the time of the last change of a file, 0 if the store has none."""
    names = ("LastModified", "mtime", "last_modified", "modified", "created")
    value = next((info[name] for name in names if info.get(name)), None)
    if value is None or isinstance(value, str):
        return 0
    return int((value.timestamp() if hasattr(value, "timestamp") else float(value)) * 1e9)


def list_children(store: Store, path: str) -> dict[str, bool]:
    """Returns whether each entry of a directory is a directory, by its name.

    Raises:
      FileNotFoundError: The directory does not exist.
      NotADirectoryError: The path is a file.
    """
    names = store.list_children(path.rstrip("/"))
    if not names and get_info(store, path)["type"] != "directory":
        raise NotADirectoryError(f"{path} is a file")
    return names


def list_matches(url: str) -> list[str]:
    """Returns the paths that match a pattern of TensorFlow: *, ?, [a-z] and a backslash before one.

    A wildcard does not match a slash.

    Args:
      url: The pattern, with its scheme.
    """
    scheme, _, rest = url.partition("://")
    pieces = re.sub("/+", "/", rest).split("/")  # TensorFlow passes patterns as they are.
    wild = [i for i, piece in enumerate(pieces) if re.search(r"[*?\[\\]", piece)]
    if not wild:
        store, path = open_store(url)
        try:
            get_info(store, path)
        except FileNotFoundError:
            return []
        return [url]
    found = ["/".join(pieces[: wild[0]])]
    for number in range(wild[0], len(pieces)):
        is_last = number == len(pieces) - 1
        found = [
            f"{base}/{name}"
            for base in found
            for name, is_directory in _list_or_none(f"{scheme}://{base}").items()
            if (is_last or is_directory) and _compile(pieces[number]).match(name)
        ]
    return [f"{scheme}://{path}" for path in sorted(found)]


def _list_or_none(url: str) -> dict[str, bool]:
    store, path = open_store(url)
    try:
        return list_children(store, path)
    except (FileNotFoundError, NotADirectoryError):
        return {}


def _compile(piece: str) -> re.Pattern[str]:
    """Returns the regular expression of one part of a pattern."""
    tokens = re.findall(r"\\.|\[[^\]]+\]|.", piece, re.DOTALL)
    parts = []
    for token in tokens:
        if token == "*":
            parts.append("[^/]*")
        elif token == "?":
            parts.append("[^/]")
        elif token[0] == "[" and len(token) > 1:
            parts.append(token.replace("[!", "[^", 1))
        else:
            parts.append(re.escape(token[-1]))
    return re.compile("".join(parts) + r"\Z")
