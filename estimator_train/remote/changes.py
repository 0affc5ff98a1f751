"""Operations that change a store: directories, removals, copies and renames.

An object store has neither directories nor renames. An empty object whose name ends with a slash
marks a directory, as in TensorFlow 2.5 and Hadoop (for Azure, see kinds.py); a rename is a copy by
the store and a removal.
"""

import errno
import os

from estimator_train.remote.faults import retry
from estimator_train.remote.kinds import Store
from estimator_train.remote.store import (
    delete_staged,
    get_info,
    list_children,
    open_store,
    publish_staged,
    rename_staged,
)

# A reader takes a directory with one of these files for a complete SavedModel.
_LAST_FILES = ("saved_model.pb", "saved_model.pbtxt", "keras_metadata.pb")


def make_directory(url: str) -> None:
    """Creates a directory and those above it; one that exists is no error."""
    store, path = open_store(url)
    if not store.driver.is_object_store:
        retry(lambda: store.fs.makedirs(path, exist_ok=True))
    elif "/" in path.strip("/"):  # The first part is a bucket.
        store.make_marker(path.rstrip("/"))


def delete_file(url: str) -> None:
    """Deletes a file.

    Raises:
      FileNotFoundError: It does not exist.
      IsADirectoryError: It is a directory.
    """
    store, path = open_store(url)
    if delete_staged(store, path):
        return
    if get_info(store, path)["type"] == "directory":
        raise IsADirectoryError(f"{url} is a directory")
    store.delete_file(path)


def delete_directory(url: str) -> None:
    """Deletes an empty directory.

    Raises:
      FileNotFoundError: It does not exist.
      NotADirectoryError: It is a file.
      OSError: It is not empty.
    """
    store, path = open_store(url)
    if get_info(store, path)["type"] != "directory":
        raise NotADirectoryError(f"{url} is a file")
    if list_children(store, path):
        raise OSError(errno.ENOTEMPTY, f"{url} is not empty")
    store.delete_directory(path.rstrip("/"))


def delete_tree(url: str) -> None:
    """Deletes a directory and all below it, or a file.

    Raises:
      FileNotFoundError: It does not exist.
    """
    store, path = open_store(url)
    if get_info(store, path)["type"] == "directory":
        store.delete_tree(path.rstrip("/"))
    else:
        store.delete_file(path)


def copy(url: str, target_url: str) -> None:
    """Copies a file within a store; the store does so itself where it can."""
    store, path = open_store(url)
    _, target = open_store(target_url)
    if get_info(store, path)["type"] == "directory":
        raise IsADirectoryError(f"{url} is a directory")
    store.copy([(path, target)])


def rename(url: str, target_url: str) -> None:
    """Renames a file, which replaces a file of that name, or a directory."""
    store, path = open_store(url)
    _, target = open_store(target_url)
    if rename_staged(store, path, target):
        return
    is_directory = get_info(store, path)["type"] == "directory"
    if not store.driver.is_object_store:
        _rename_natively(store, path, target, is_directory)
    elif is_directory:
        _rename_directory(store, path.rstrip("/"), target.rstrip("/"))
    else:
        store.copy([(path, target)])
        store.delete_file(path)


def _rename_natively(store: Store, path: str, target: str, is_directory: bool) -> None:
    if hasattr(store.fs, "ftp"):  # SFTP has an atomic rename over a file.
        store.fs.ftp.posix_rename(path, target)
        return
    if not is_directory and retry(lambda: store.fs.exists(target)):
        store.fs.rm_file(target)
    if store.can_move:
        store.fs.mv(path, target, **({"recursive": True} if is_directory else {}))
        return
    files, directories = store.find(path) if is_directory else ([path], [])
    for directory in [path, *sorted(directories)] if is_directory else []:
        store.fs.makedirs(target + directory[len(path) :], exist_ok=True)
    store.copy([(file, target + file[len(path) :]) for file in files])
    (store.delete_tree if is_directory else store.delete_file)(path)


def _rename_directory(store: Store, path: str, target: str) -> None:
    """Copies all objects, those that complete a SavedModel last, then removes the old ones."""
    for staged in [name for name in store.staged if name.startswith(path + "/")]:
        publish_staged(store, staged)
    files, directories = store.find(path)
    for directory in directories:
        store.make_marker(target + directory[len(path) :])
    last = [file for file in files if file.rsplit("/", 1)[-1] in _LAST_FILES]
    for part in ([file for file in files if file not in last], last):
        store.copy([(file, target + file[len(path) :]) for file in part])
    store.make_marker(target)
    store.delete_files(files)
    for directory in [*sorted(directories, reverse=True), path]:
        store.delete_directory(directory)


def make_single_directory(url: str) -> None:
    """Creates a directory in one that exists.

    Raises:
      FileExistsError: It exists.
    """
    store, path = open_store(url)
    if store.driver.is_object_store:
        make_directory(url)
        return
    if os.path.basename(path):
        store.fs.mkdir(path, create_parents=False)
