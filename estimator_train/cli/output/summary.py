"""The JSON record of a run that `--job_summary` writes, even if the run fails."""

import contextlib
import datetime
import json
import os
import platform
import sys
import time
from collections.abc import Iterator
from typing import Any

from absl import flags as absl_flags

from estimator_train.bootstrap import installed
from estimator_train.cli.output import errors
from estimator_train.cli.output.whole_files import open_atomically
from estimator_train.lifecycle.hard_exit import on_hard_exit
from estimator_train.lifecycle.preemption import EXIT_CODE, Preempted

_PACKAGES = ("estimator-train", "tensorflow", "tf-keras", "numpy")


@contextlib.contextmanager
def record_run(flag_values: absl_flags.FlagValues) -> Iterator[dict[str, Any]]:
    """Writes the record when a command begins, and again when it ends.

    The record has `command`, `flags`, `versions`, `host`, `started`, `secs`, the values that the
    command adds, and `exit` with `code` (null until the command ends) and `cause`.

    Args:
      flag_values: The parsed flags.

    Yields:
      A dict for the values of the command, which must be valid in JSON.

    Raises:
      UsageError: The file cannot be written.
    """
    path = flag_values.job_summary
    if not path:
        yield {}
        return
    _check_writable(path)
    versions = {name: found for name in _PACKAGES if (found := installed.find_version(name))}
    record: dict[str, Any] = {
        "command": sys.argv,
        "flags": {name: flag_values[name].value for name in flag_values},
        "versions": {"python": platform.python_version(), **versions},
        "host": platform.node(),
        "started": datetime.datetime.now(datetime.timezone.utc).isoformat(),
    }
    start = time.monotonic()

    def write(code: int | None, cause: str) -> None:
        secs = time.monotonic() - start
        _write(path, {**record, "secs": secs, "exit": {"code": code, "cause": cause}})

    write(None, "still running, or killed")
    with on_hard_exit(write):
        try:
            yield record
        except BaseException as error:
            write(*_describe_exit(error))
            raise
        write(0, "done")


def _describe_exit(error: BaseException) -> tuple[int, str]:
    if isinstance(error, Preempted):
        return EXIT_CODE, str(error)
    if isinstance(error, SystemExit) and isinstance(error.code, int):  # From the user's code.
        return error.code, "sys.exit"
    return errors.get_exit_code(error), errors.summarize(error)


def _check_writable(path: str) -> None:
    directory = os.path.dirname(os.path.abspath(path))
    with contextlib.suppress(OSError):
        os.makedirs(directory, exist_ok=True)
    if not os.path.isdir(directory) or not os.access(directory, os.W_OK):
        raise errors.UsageError(f"--job_summary={path}: {directory} is not a writable directory.")


def _write(path: str, record: dict[str, Any]) -> None:
    """Writes the record atomically."""
    text = json.dumps(record, indent=1, default=_to_python) + "\n"
    try:
        with open_atomically(path) as file:
            file.write(text)
    except OSError as error:
        print(f"{errors.PROGRAM}: --job_summary={path}: {error.strerror}", file=sys.stderr)


def _to_python(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else str(value)
