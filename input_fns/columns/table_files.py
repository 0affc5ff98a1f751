"""Files of Arrow tables: their schema, their row groups, and the record batches of a row group."""

import glob
import itertools
import os
import urllib.parse
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Protocol

from input_fns.columns import lake_tables
from input_fns.pipeline import checks
from input_fns.pipeline.guard import BadRecords

if TYPE_CHECKING:
    import pyarrow as pa

    # A path, and the values of columns if the log of its table has them; None without a log.
    _FoundFile = tuple[str, dict[str, str | pa.Scalar] | None]

PathLike = str | os.PathLike[str]
FilePattern = PathLike | Sequence[PathLike]
_HIDDEN = ("_", ".")  # Spark and Hive write such files next to the data.
_OPEN_AT_A_TIME = 8
_START_BYTES = 8
_IN_MEMORY = "read it into memory: input_fns.frame({})"
_ENCRYPTED = "it is encrypted: " + _IN_MEMORY.format(
    "pyarrow.parquet.read_table(path, decryption_properties=...)"
)
# By their first bytes.
_KINDS = {
    b"PARE": _ENCRYPTED,
    b"PAR1": "it is a Parquet file: use input_fns.parquet",
    b"ARROW1": "it is an Arrow file: use input_fns.arrow",
    b"FEA1": "it is Feather 1: " + _IN_MEMORY.format("pyarrow.feather.read_table(path)"),
    b"ORC": "it is an ORC file: " + _IN_MEMORY.format("pyarrow.orc.read_table(path)"),
    b"Obj\x01": "it is an Avro file: "
    + _IN_MEMORY.format("pyarrow.Table.from_pylist(list(fastavro.reader(file)))"),
}


class FilterError(ValueError):
    """Error of a row_filter, which no other copy of the file mends."""


class TableFile(Protocol):
    """File with the rows of a table.

    Attributes:
      path: Its path.
      schema: Its columns.
      group_rows: The number of rows of each row group.
      row_bytes: Estimated size of a row in memory.
    """

    path: str
    schema: "pa.Schema"
    group_rows: list[int]
    row_bytes: float

    def iterate(
        self, group: int, columns: Sequence[str], batch_rows: int
    ) -> "Iterator[pa.RecordBatch]":
        """Returns an iterator over the record batches of a row group, of at most `batch_rows`."""


def import_pyarrow(source: str) -> None:
    """Imports pyarrow.

    Raises:
      ImportError: It is not installed; the error says how to install it.
    """
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise ImportError(
            f"input_fns.{source} needs the package pyarrow: pip install 'estimator-train[arrow]'."
        ) from error


def list_table_files(
    file_pattern: FilePattern, extensions: tuple[str, ...]
) -> "tuple[list[str], list[dict[str, str | pa.Scalar]]]":
    """Returns the files that match a pattern or a list of patterns, sorted for each pattern.

    A folder, also one that matches a pattern, means the files in it with one of the extensions,
    except those below a name that begins with _ or a dot.

    Returns:
      The paths, and the values in the names of the folders of each, such as {"day": "20"} of
      `day=20`. They count below a folder, or from the first wildcard of a pattern. Files of a table
      of Delta Lake have the values of its log instead, with their types.

    Raises:
      FileNotFoundError: A pattern matches no file.
      ValueError: The list of patterns is empty.
      TypeError: A pattern is not a path.
    """
    patterns = file_pattern if isinstance(file_pattern, (list, tuple)) else [file_pattern]
    if not patterns:
        raise ValueError("file_pattern must name at least one file, but it is an empty list.")
    files: list[str] = []
    partitions: list[dict[str, str | pa.Scalar]] = []
    for pattern in patterns:
        text = checks.path("file_pattern", pattern)
        found = _find_files(text, extensions)
        if not found:
            raise FileNotFoundError(f"No file matches file_pattern {str(pattern)!r}.")
        for file, values in found:
            files.append(file)
            partitions.append(_read_folder_names(text, file) if values is None else {**values})
    return files, partitions


def _read_folder_names(pattern: str, file: str) -> "dict[str, str | pa.Scalar]":
    parts = [part for part in pattern.split("/") if part]
    fixed = list(itertools.takewhile(lambda part: not glob.has_magic(part), parts))
    folders = [part for part in file.split("/") if part][len(fixed) : -1]
    pairs = (folder.partition("=") for folder in folders if "=" in folder)
    # DuckDB and Spark quote the names, too.
    return {urllib.parse.unquote(name): urllib.parse.unquote(value) for name, _, value in pairs}


def _find_files(pattern: str, extensions: tuple[str, ...]) -> "list[_FoundFile]":
    if "://" not in pattern:
        matched = [pattern] if os.path.exists(pattern) else sorted(glob.glob(pattern))
        folders = {path for path in matched if os.path.isdir(path)}
        lake_tables.check_place(pattern, folders, _list_names)
        list_delta = lake_tables.list_delta_files
        return _open_folders(pattern, matched, folders, _walk, extensions, list_delta)
    import fsspec

    system, path = fsspec.core.url_to_fs(pattern, **_make_store_options(pattern))
    if system.isdir(path):
        matched, folders = [path], {path}
    else:
        # The details tell what is a folder without a request for each file.
        details = system.glob(path, detail=True)
        matched = sorted(details)
        folders = {name for name, detail in details.items() if detail["type"] == "directory"}

    def list_names(folder: str) -> list[str]:
        try:
            return [os.path.basename(name) for name in system.ls(folder, detail=False)]
        except (FileNotFoundError, NotADirectoryError):
            return []

    lake_tables.check_place(path, folders, list_names)

    def list_delta_files(folder: str) -> "dict[str, dict[str, pa.Scalar]]":
        endpoint = _make_store_options(pattern).get("endpoint_url")
        return lake_tables.list_delta_files(system.unstrip_protocol(folder), endpoint)

    found = _open_folders(path, matched, folders, system.find, extensions, list_delta_files)
    # URLs stay as they are.
    return [(system.unstrip_protocol(file), values) for file, values in found]


def _list_names(folder: str) -> list[str]:
    return os.listdir(folder) if os.path.isdir(folder) else []


def _walk(folder: str) -> list[str]:
    """Returns the files in a local folder and below, also hidden ones."""
    walk = os.walk(folder, followlinks=True)
    return [os.path.join(place, name) for place, _, names in walk for name in names]


def _open_folders(
    pattern: str,
    paths: Sequence[str],
    folders: Collection[str],
    find: Callable[[str], Sequence[str]],
    extensions: tuple[str, ...],
    list_delta_files: "Callable[[str], Mapping[str, dict[str, pa.Scalar]]]",
) -> "list[_FoundFile]":
    """Returns paths of files, and the files with rows in those that are folders."""
    files: list[_FoundFile] = []
    if glob.has_magic(pattern):
        lake_tables.check_names(pattern, paths)
    for path in paths:
        if path not in folders:
            files.append((path, None))
            continue
        found = find(path)
        if lake_tables.is_delta(path, found):
            above = _read_folder_names(pattern, f"{path}/file")
            rows = list_delta_files(path)
            if not rows and len(paths) == 1:
                raise ValueError(f"{path} is a table of Delta Lake without rows.")
            files += [(file, above | values) for file, values in rows.items()]
        else:
            data = sorted(file for file in found if _is_data(file, path, extensions))
            lake_tables.check_names(path, data)
            files += [(file, None) for file in data]
    return files


def _is_data(file: str, folder: str, extensions: tuple[str, ...]) -> bool:
    parts = os.path.relpath(file, folder).split("/")
    return file.endswith(extensions) and not any(part.startswith(_HIDDEN) for part in parts)


def open_file(path: str) -> Any:
    """Returns a file of a local path or a URL, as an argument for the readers of pyarrow."""
    if "://" not in path:
        import pyarrow as pa

        return pa.OSFile(path)
    import fsspec

    # pyarrow chooses the ranges to read: a cache of fsspec would read more.
    system, name = fsspec.core.url_to_fs(path, **_make_store_options(path))
    return system.open(name, "rb", cache_type="none")


def _make_store_options(url: str) -> dict[str, Any]:
    """Returns options of fsspec for the variables that TensorFlow's own S3 driver had."""
    endpoint = os.environ.get("S3_ENDPOINT")
    if not endpoint or not url.startswith("s3://"):
        return {}
    if "://" not in endpoint:
        scheme = "http" if os.environ.get("S3_USE_HTTPS") in ("0", "false") else "https"
        endpoint = f"{scheme}://{endpoint}"
    return {"endpoint_url": endpoint}


def open_files(
    paths: Sequence[str], open_one: Callable[[str], TableFile], bad: BadRecords, reader: str
) -> list[TableFile]:
    """Opens files in a few threads, and leaves out those that are skipped as bad records.

    Args:
      paths: The files.
      open_one: Function that opens a file, and raises OSError or ValueError for an unreadable one.
      bad: Handler of bad records.
      reader: Name of the function of `input_fns`.

    Raises:
      ValueError: A file is unreadable or empty, or all have no rows.
    """

    def try_to_open(path: str) -> TableFile | Exception:
        try:
            return open_one(path)
        except FilterError:
            raise
        except (OSError, ValueError) as error:
            return error

    with ThreadPoolExecutor(_OPEN_AT_A_TIME) as pool:
        opened = list(pool.map(try_to_open, paths))
    files = []
    for path, result in zip(paths, opened, strict=True):
        if isinstance(result, Exception):
            reason = describe_error(result)
            advice = find_advice(reason, _read_start(path), reader)
            fault = f"{path} cannot be read: {reason}; {advice}"
            error = bad.count_skipped(fault.encode()).decode() if bad.are_skipped else fault
            if error:
                raise ValueError(f"{error}.") from result
        else:
            files.append(result)
    if not any(sum(file.group_rows) for file in files):
        raise ValueError(f"{paths[0]} has no rows{_describe_others(len(paths) - 1)}.")
    return files


def _read_start(path: str) -> bytes:
    try:
        with open_file(path) as file:
            return bytes(file.read(_START_BYTES))
    except (OSError, ValueError):
        return b""


def _describe_others(count: int) -> str:
    return f", and neither do the {count} other files" if count else ""


def find_advice(reason: str, start: bytes = b"", reader: str = "") -> str:
    """Returns what to do about a file that cannot be read.

    Args:
      reason: The error of its reader.
      start: The first bytes of the file; none if it could be opened.
      reader: Name of the function of `input_fns`.
    """
    if "decrypt" in reason or "encrypted" in reason:
        return _ENCRYPTED
    kinds = (advice for magic, advice in _KINDS.items() if start.startswith(magic))
    advice = next(kinds, None)
    return "get a fresh copy" if advice is None or advice.endswith(f".{reader}") else advice


def describe_error(error: BaseException) -> str:
    """Returns the first line of an error of Arrow, without a full stop."""
    lines = str(error).splitlines() or [type(error).__name__]
    return lines[0].rstrip(".")
