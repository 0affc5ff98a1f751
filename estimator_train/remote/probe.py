"""Asks a store whether a job can use a directory."""

from estimator_train.remote import faults
from estimator_train.remote.store import get_info, open_store


def probe_directory(path: str, name: str) -> None:
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
