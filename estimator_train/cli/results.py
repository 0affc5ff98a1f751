"""Formats the results of commands and writes them atomically, also the record of `--job_summary`.

Local files are written also where TensorFlow cannot be imported.
"""

import contextlib
import csv
import datetime
import errno
import glob
import io
import os
import platform
import sys
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TextIO

import numpy as np
from absl import flags as absl_flags

from estimator_train.bootstrap import start_up
from estimator_train.cli import errors
from estimator_train.json_numbers import write_json
from estimator_train.lifecycle.limits import on_hard_exit
from estimator_train.lifecycle.preemption import EXIT_CODE, Preempted

_UNFINISHED = ".unfinished"
_LAST_METRICS = ("loss", "global_step")
_PACKAGES = ("estimator-train", "tensorflow", "tf-keras", "numpy")


@contextlib.contextmanager
def open_atomically(path: str) -> Iterator[TextIO]:
    """Opens a temporary file that replaces `path` when the block ends without an error.

    Args:
      path: The file. An existing file is not changed until the block ends. A device or a pipe,
        such as /dev/stdout, is written directly.

    Yields:
      The temporary file; its unique name allows several writers.
    """
    if "://" not in path and os.path.exists(path) and not os.path.isfile(path):
        with open(path, "w", encoding="utf-8") as file:
            yield file
        return
    with (
        replace_file(path) as unfinished,
        open(unfinished, "w", encoding="utf-8") as file,
    ):
        yield file


@contextlib.contextmanager
def replace_file(path: str) -> Iterator[str]:
    """Yields a temporary path; its file replaces `path` when the block ends without an error.

    Args:
      path: The file.
    """
    if "://" in path:
        from estimator_train import remote

        with remote.write_locally(path) as unfinished:
            yield unfinished
        return
    folder, name = os.path.split(os.path.realpath(path))  # A symbolic link stays one.
    if not os.path.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, "the folder of this file does not exist", path)
    # The dot hides it from programs that read all files of a folder.
    unfinished = os.path.join(folder, f".{name}.{uuid.uuid4().hex[:8]}{_UNFINISHED}")
    try:
        yield unfinished
        os.replace(unfinished, os.path.join(folder, name))
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.remove(unfinished)


def remove_unfinished(prefix: str) -> None:
    """Removes what killed processes left of files that `replace_file` was to write.

    Args:
      prefix: Beginning of the files' paths, which no other process writes now.
    """
    if "://" in prefix:  # `replace_file` writes remote files to a local folder first.
        return
    folder, name = os.path.split(os.path.realpath(prefix))
    for path in glob.glob(f"{glob.escape(os.path.join(folder, '.' + name))}*{_UNFINISHED}"):
        os.remove(path)


def format_metrics(metrics: Mapping[str, Any]) -> dict[str, str]:
    """Returns metrics as text: those of the model by name, then the loss and the step."""
    names = (*sorted(set(metrics).difference(_LAST_METRICS)), *_LAST_METRICS)
    return {name: _format_number(metrics[name]) for name in names if name in metrics}


def format_line(metrics: Mapping[str, Any]) -> str:
    """Returns metrics in one line, without the step."""
    rows = format_metrics({name: value for name, value in metrics.items() if name != "global_step"})
    return "  ".join(f"{name} {value}" for name, value in rows.items())


def format_table(rows: Mapping[str, str]) -> str:
    """Returns a line for each row, with the values in a column."""
    width = max(len(name) for name in rows) + 2
    return "\n".join(f"{name:<{width}}{value}" for name, value in rows.items())


def write_json_lines(predictions: Iterable[Any]) -> Iterator[str]:
    """Yields a JSON object for each prediction.

    Args:
      predictions: The results of `Estimator.predict`: a dict of NumPy values for each example, or
        a single value, which becomes `{"predictions": value}`.
    """
    for prediction in predictions:
        named = {name: _to_python(value) for name, value in _as_dict(prediction).items()}
        yield write_json(named, ensure_ascii=False)


def write_csv_lines(predictions: Iterable[Any]) -> Iterator[str]:
    """Yields a header, and then the comma-separated values of each prediction.

    Args:
      predictions: As for `write_json_lines`. An array gets a column for each value, in C order:
        `name_0`, `name_1`, ...
    """
    for index, prediction in enumerate(predictions):
        columns: dict[str, Any] = {}
        for name, value in _as_dict(prediction).items():
            flat = np.ravel(value)
            names = [name] if np.ndim(value) == 0 else [f"{name}_{i}" for i in range(len(flat))]
            columns.update(zip(names, (_to_python(number) for number in flat), strict=True))
        if index == 0:
            yield _format_csv_line(columns)
        yield _format_csv_line(columns.values())


LINE_FORMATS: dict[str, Callable[[Iterable[Any]], Iterator[str]]] = {
    "json": write_json_lines,
    "csv": write_csv_lines,
}


def _as_dict(prediction: Any) -> Mapping[str, Any]:
    return prediction if isinstance(prediction, Mapping) else {"predictions": prediction}


def _to_python(value: Any) -> Any:
    """Converts a NumPy value to Python lists, numbers and strings."""
    if isinstance(value, (np.ndarray, np.generic)):
        if value.dtype == np.float32:
            value = np.asarray(value).astype(str).astype(float)  # 0.1, not 0.10000000149011612
        value = value.tolist()
    if isinstance(value, list):
        return [_to_python(item) for item in value]
    return value.decode("utf-8", errors="replace") if isinstance(value, bytes) else value


def _format_csv_line(cells: Iterable[Any]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(cells)
    return line.getvalue()


def _format_number(value: Any) -> str:
    array = np.asarray(value)
    if array.ndim or not np.issubdtype(array.dtype, np.floating):
        return str(value)
    return f"{float(array):.6g}"


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
    versions = {name: found for name in _PACKAGES if (found := start_up.find_version(name))}
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
    if "://" in path:
        return  # The first record, which is written next, meets the error of a store.
    directory = os.path.dirname(os.path.abspath(path))
    with contextlib.suppress(OSError):
        os.makedirs(directory, exist_ok=True)
    if not os.path.isdir(directory) or not os.access(directory, os.W_OK):
        raise errors.UsageError(f"--job_summary={path}: {directory} is not a writable directory.")
    if os.path.isdir(path):
        raise errors.UsageError(f"--job_summary={path} is a directory: give the path of a file.")


def _write(path: str, record: dict[str, Any]) -> None:
    """Writes the record atomically."""
    text = write_json(record, indent=1, default=_to_json) + "\n"
    try:
        with open_atomically(path) as file:
            file.write(text)
    except OSError as error:
        print(f"{errors.PROGRAM}: --job_summary={path}: {error.strerror}", file=sys.stderr)


def _to_json(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else str(value)
