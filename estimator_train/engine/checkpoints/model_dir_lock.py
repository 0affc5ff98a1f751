"""One job at a time writes a model_dir."""

import contextlib
import os
import platform
import time
from collections.abc import Iterator

from estimator_train.run_config import RunConfig

try:
    import fcntl
except ImportError:  # On Windows; there two jobs are not told from each other.
    fcntl = None  # type: ignore[assignment]

_FILE = ".training"


@contextlib.contextmanager
def sole_writer(config: RunConfig) -> Iterator[None]:
    """Keeps other jobs from training in the model_dir meanwhile; their end, however, frees it.

    Directories on remote file systems are not guarded.

    Args:
      config: The configuration of the training, its model_dir filled in.

    Raises:
      ValueError: Another live job trains there.
    """
    if fcntl is None or not config.is_chief or config.allow_shared_model_dir:
        yield
        return
    if "://" in config.model_dir:
        yield
        return
    path = os.path.join(config.model_dir, _FILE)
    try:
        os.makedirs(config.model_dir, exist_ok=True)
        lock = _locked(path)
    except OSError:  # Nobody can write there: the first checkpoint says so.
        yield
        return
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            os.unlink(path)
        os.close(lock)


def _locked(path: str) -> int:
    while True:
        file = os.open(path, os.O_CREAT | os.O_RDWR, 0o666)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(file, 200).decode(errors="replace").strip()
            os.close(file)
            raise ValueError(
                f"{os.path.dirname(path)} is in use by another job ({holder or 'just started'}). "
                "Use another model_dir, or wait for its end; --allow_shared_model_dir, or "
                "RunConfig(allow_shared_model_dir=True), trains there all the same."
            ) from None
        # Who held it before may have removed the file since it was opened here.
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.stat(path), os.fstat(file)):
                break
        os.close(file)
    started = time.strftime("%Y-%m-%d %H:%M:%S")
    os.truncate(file, 0)
    os.write(file, f"process {os.getpid()} on {platform.node()}, since {started}\n".encode())
    return file
