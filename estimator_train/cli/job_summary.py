"""`--job_summary`: a JSON record of a run, whatever ended it."""

import contextlib
import datetime
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib import metadata
from typing import Any

from absl import flags as absl_flags

from estimator_train.cli import errors
from estimator_train.preemption import Preempted

_PACKAGES = ("estimator-train", "tensorflow", "tf-keras", "numpy")


@contextlib.contextmanager
def recorded(flag_values: absl_flags.FlagValues) -> Iterator[dict[str, Any]]:
    """Writes the record when the command within it ends.

    The record has `command`, `flags`, `versions`, `host`, `started`, `secs`, what the command
    adds to it, and `exit` with `code` and `cause`.

    Args:
      flag_values: The parsed flags.

    Yields:
      What the command adds to: names to values that JSON knows.

    Raises:
      UsageError: The file cannot be written.
    """
    path = flag_values.job_summary
    if not path:
        yield {}
        return
    _check_writable(path)
    record: dict[str, Any] = {
        "command": sys.argv,
        "flags": {name: flag_values[name].value for name in flag_values},
        "versions": {"python": platform.python_version(), **_versions()},
        "host": platform.node(),
        "started": datetime.datetime.now(datetime.timezone.utc).isoformat(),
    }
    start = time.monotonic()
    ended: dict[str, Any] = {"code": 0, "cause": "done"}
    try:
        yield record
    except BaseException as error:
        ended = _ended_by(error)
        raise
    finally:
        _write(path, {**record, "secs": time.monotonic() - start, "exit": ended})


def _ended_by(error: BaseException) -> dict[str, Any]:
    if isinstance(error, Preempted):
        return {"code": error.code, "cause": str(error)}
    return {"code": errors.code_of(error), "cause": errors.text_of(error)}


def _versions() -> dict[str, str]:
    found = {}
    for name in _PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def _check_writable(path: str) -> None:
    directory = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(directory) or not os.access(directory, os.W_OK):
        raise errors.UsageError(f"--job_summary={path}: {directory} is no directory to write to.")


def _write(path: str, record: dict[str, Any]) -> None:
    """Writes it whole or not at all."""
    directory = os.path.dirname(os.path.abspath(path))
    try:
        with tempfile.NamedTemporaryFile("w", dir=directory, delete=False) as file:
            json.dump(record, file, indent=1, default=_plain)
            file.write("\n")
        os.replace(file.name, path)
    except OSError as error:
        print(f"{errors.PROGRAM}: --job_summary={path}: {error.strerror}", file=sys.stderr)


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else str(value)
