"""`--job_summary`: a JSON record of a run, whatever ended it."""

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

from estimator_train.cli.output import errors
from estimator_train.cli.output.whole_files import whole_file
from estimator_train.compat import installed
from estimator_train.lifecycle.hard_exit import last_words
from estimator_train.lifecycle.preemption import EXIT_CODE, Preempted

_PACKAGES = ("estimator-train", "tensorflow", "tf-keras", "numpy")


@contextlib.contextmanager
def recorded(flag_values: absl_flags.FlagValues) -> Iterator[dict[str, Any]]:
    """Writes the record when the command within it begins, and again when it ends.

    The record has `command`, `flags`, `versions`, `host`, `started`, `secs`, what the command
    adds to it, and `exit` with `code` (null until it ends) and `cause`.

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
    versions = {name: found for name in _PACKAGES if (found := installed.version(name))}
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
    with last_words(write):
        try:
            yield record
        except BaseException as error:
            write(*_ended_by(error))
            raise
        write(0, "done")


def _ended_by(error: BaseException) -> tuple[int, str]:
    if isinstance(error, Preempted):
        return EXIT_CODE, str(error)
    if isinstance(error, SystemExit) and isinstance(error.code, int):  # The user's own.
        return error.code, "sys.exit"
    return errors.code_of(error), errors.text_of(error)


def _check_writable(path: str) -> None:
    directory = os.path.dirname(os.path.abspath(path))
    with contextlib.suppress(OSError):
        os.makedirs(directory, exist_ok=True)
    if not os.path.isdir(directory) or not os.access(directory, os.W_OK):
        raise errors.UsageError(
            f"--job_summary={path}: {directory} is not a directory that can be written to."
        )


def _write(path: str, record: dict[str, Any]) -> None:
    """Writes it whole or not at all."""
    text = json.dumps(record, indent=1, default=_plain) + "\n"
    try:
        with whole_file(path) as file:
            file.write(text)
    except OSError as error:
        print(f"{errors.PROGRAM}: --job_summary={path}: {error.strerror}", file=sys.stderr)


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else str(value)
