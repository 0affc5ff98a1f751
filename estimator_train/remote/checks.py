"""Paths that users give: checks of schemes, buckets and permissions, and outputs at such paths."""

import contextlib
import functools
import importlib.util
import os
import re
import tempfile
import warnings
from collections.abc import Iterator

import tensorflow as tf

from estimator_train.remote import faults, registration
from estimator_train.remote.schemes import DRIVERS, find_driver
from estimator_train.remote.store import get_info, open_store

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)", re.DOTALL)
_SCHEME_IN_TEXT = re.compile(r"\b([A-Za-z][A-Za-z0-9+.-]*)://")
_REFUSALS = (
    tf.errors.InvalidArgumentError,
    tf.errors.PermissionDeniedError,
    tf.errors.UnauthenticatedError,
)
_ONE_SLASH = re.compile(rf"({'|'.join(DRIVERS)}|gs):/(?!/)(.*)", re.DOTALL)


def prepare_path(path: str, name: str = "path") -> None:
    """Registers the scheme of a path with TensorFlow, if it is a remote one.

    Args:
      path: The path.
      name: What it is, for messages: "model_dir".

    Raises:
      ImportError: A package or a C compiler is missing.
      ValueError: No file system is known for the scheme, or the path has no bucket.
    """
    match = _SCHEME.match(path)
    if match:
        _prepare_scheme(match[1])
        if match[1] in DRIVERS and not match[2].split("/")[0] and DRIVERS[match[1]].is_object_store:
            raise ValueError(f"{name} {path!r} names no bucket. Use {match[1]}://BUCKET/PATH.")
    elif one := _ONE_SLASH.match(path):
        _warn_of_one_slash(path, f"{one[1]}://{one[2]}", name)


@functools.cache
def _prepare_scheme(scheme: str) -> None:
    if not registration.is_registered(scheme):
        registration.register(scheme)


@functools.cache
def _warn_of_one_slash(path: str, meant: str, name: str) -> None:
    warnings.warn(
        f"{name} {path!r} is a local directory, because it has one slash. Did you mean {meant!r}?",
        stacklevel=3,
    )


def is_permanent(error: BaseException) -> bool:
    """Returns whether a store that this package serves would refuse the same request again.

    Args:
      error: An error of TensorFlow, whose message names the path.
    """
    return isinstance(error, _REFUSALS) and _names_store(error)


def is_transient(error: BaseException) -> bool:
    """Returns whether a store that this package serves did not answer until all retries were used.

    Args:
      error: An error of TensorFlow, whose message names the path.
    """
    if isinstance(error, tf.errors.InternalError):
        # A session replaces the class: "originally returned UnavailableError".
        return tf.errors.UnavailableError.__name__ in str(error.message) and _names_store(error)
    return isinstance(error, tf.errors.UnavailableError) and _names_store(error)


def is_replaced(error: BaseException) -> bool:
    """Returns whether a file of a store was replaced while it was read: the new one is complete.

    Args:
      error: An error; readers of checkpoints keep only its message.
    """
    return isinstance(error, tf.errors.OpError) and faults.REPLACED in str(error.message)


def _names_store(error: tf.errors.OpError) -> bool:
    return any(match[1] in DRIVERS for match in _SCHEME_IN_TEXT.finditer(str(error.message)))


def check_path(path: str, name: str = "path") -> None:
    """Checks that a store answers for a path, before a job starts.

    Args:
      path: The path; a local one, or one that TensorFlow itself serves, is not checked.
      name: What it is, for messages: "model_dir".

    Raises:
      ValueError: The bucket does not exist, access is denied, credentials are missing or wrong, or
        the path is a file.
    """
    prepare_path(path, name)
    match = _SCHEME.match(path)
    if not match:
        return
    driver = find_driver(match[1]) if importlib.util.find_spec("fsspec") else None
    if driver and driver.is_read_only:
        raise ValueError(
            f"{name} {path!r}: {match[1]}:// is read-only. Use another scheme or a disk."
        )
    if match[1] in DRIVERS:
        _probe_directory(path, name)


def check_output_directory(path: str) -> None:
    """Checks that a store takes files that must outlive this process, before a job starts.

    Args:
      path: The directory; see `check_path`.

    Raises:
      ValueError: The files of the scheme end with this process, or the directory cannot be used.
    """
    if path.startswith("memory://"):
        raise ValueError(f"output {path!r} ends with this process. Use another scheme or a disk.")
    check_path(path, "output")


def _probe_directory(path: str, name: str) -> None:
    """Raises an error of one line if a job cannot use a directory.

    Transient errors are left to the job, which retries.

    Args:
      path: The directory; it need not exist.
      name: What it is, for messages: "model_dir".

    Raises:
      ValueError: The bucket does not exist, access is denied, credentials are missing or wrong, or
        the path is a file.
    """
    store, inside = open_store(path)
    try:
        if get_info(store, inside)["type"] != "directory":
            raise ValueError(f"{name} {path!r} is a file. Use the path of a directory.")
        return
    except FileNotFoundError:
        pass
    except Exception as error:
        _raise_permanent(error, path, name)
        return
    if not store.driver.is_object_store:
        return
    bucket = inside.strip("/").split("/")[0]
    try:
        get_info(store, bucket)
    except FileNotFoundError:
        raise ValueError(
            f"{name} {path!r}: bucket {bucket!r} does not exist. Create it, or correct its name "
            "or the endpoint."
        ) from None
    except Exception as error:
        _raise_permanent(error, path, name)


def _raise_permanent(error: Exception, path: str, name: str) -> None:
    if isinstance(error, ValueError):
        raise error
    code = faults.get_code(error)
    if code == faults.PERMISSION_DENIED:
        raise ValueError(
            f"{name} {path!r}: the store denies access ({' '.join(str(error).split())}). Check "
            "the credentials and the permissions to list, read and write."
        ) from None
    if code in (faults.UNAUTHENTICATED, faults.INVALID_ARGUMENT):
        raise ValueError(f"{name} {path!r}: {faults.describe(error)}.") from None


def has_scheme(path: str) -> bool:
    """Returns whether a path is one of a store."""
    return "://" in path


def output_exists(path: str) -> bool:
    """Returns whether there is a file or directory of that path, local or remote.

    Args:
      path: The path of a new output.

    Raises:
      ValueError: A store does not take the output; see `check_output_directory`.
    """
    if not has_scheme(path):
        return os.path.exists(path)
    check_output_directory(os.path.dirname(path.rstrip("/")))
    return bool(tf.io.gfile.exists(path))


def make_output_directory(path: str) -> None:
    """Creates a directory for outputs, local or remote; one that exists is no error.

    Args:
      path: The directory.

    Raises:
      ValueError: A store does not take the outputs; see `check_output_directory`.
    """
    if not has_scheme(path):
        os.makedirs(path, exist_ok=True)
        return
    check_output_directory(path)
    tf.io.gfile.makedirs(path)


@contextlib.contextmanager
def write_locally(path: str) -> Iterator[str]:
    """Yields a local path for a file or directory, which is at `path` after the block.

    It serves libraries that write to a disk only.

    Args:
      path: The path of the output. A local path is yielded unchanged.

    Raises:
      FileExistsError: A remote path is a directory that exists.
      ValueError: A store does not take the output; see `check_output_directory`.
    """
    if not has_scheme(path):
        yield path
        return
    check_output_directory(os.path.dirname(path.rstrip("/")))
    if tf.io.gfile.isdir(path):
        raise FileExistsError(f"{path} exists. Use a new directory.")
    with tempfile.TemporaryDirectory() as directory:
        local = os.path.join(directory, os.path.basename(path.rstrip("/")))
        yield local
        tf.io.gfile.makedirs(os.path.dirname(path.rstrip("/")))
        _copy(local, path.rstrip("/"))


def _copy(local: str, path: str) -> None:
    if not os.path.isdir(local):
        tf.io.gfile.copy(local, path, overwrite=True)
        return
    tf.io.gfile.makedirs(path)
    for name in sorted(os.listdir(local)):
        _copy(os.path.join(local, name), f"{path}/{name}")
