"""Which job writes a model_dir; a second one is told of, or refused."""

import contextlib
import os
import platform
import time
from collections.abc import Iterator

import tensorflow as tf

from estimator_train.run_config import RunConfig

try:
    import fcntl
except ImportError:  # On Windows; there two jobs are not told from each other.
    fcntl = None  # type: ignore[assignment]

_FILE = ".training"
_LOG = tf.get_logger()


@contextlib.contextmanager
def sole_writer(config: RunConfig) -> Iterator[None]:
    """Marks the model_dir as one in which a job trains, until its end, however that comes.

    Where another live job has marked it, a warning says so, for tf.estimator 2.15 trained on; with
    `allow_shared_model_dir=False` it is an error. Directories on remote file systems are not
    marked.

    Args:
      config: The configuration of the training, its model_dir filled in.

    Raises:
      ValueError: Another live job trains there, and that is not allowed.
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
    except BlockingIOError as held:
        _tell_of_another(config, held)
        lock = None
    except OSError:  # Nobody can write there: the first checkpoint says so.
        lock = None
    if lock is None:
        yield
        return
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            os.unlink(path)
        os.close(lock)


def _tell_of_another(config: RunConfig, held: BlockingIOError) -> None:
    if config.allow_shared_model_dir is False:
        raise ValueError(
            f"{held} Use another model_dir, or wait for its end; --allow_shared_model_dir, or "
            "RunConfig(allow_shared_model_dir=True), trains there all the same."
        ) from None
    _LOG.warning(
        "%s Both train on, as under tf.estimator; each overwrites the other's checkpoints. Give "
        "each a model_dir of its own. RunConfig(allow_shared_model_dir=False) refuses the second; "
        "True trains without this warning.",
        held,
    )


def _locked(path: str) -> int:
    while True:
        file = os.open(path, os.O_CREAT | os.O_RDWR, 0o666)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(file, 200).decode(errors="replace").strip()
            os.close(file)
            raise BlockingIOError(
                f"{os.path.dirname(path)} is in use by another job ({holder or 'just started'})."
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
