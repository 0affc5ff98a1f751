"""Folders that belong to Delta Lake, Iceberg or Hudi.

Such a table has files of earlier versions in its folder. Which files are its rows says a log.
"""

import glob
import itertools
import os
import re
import urllib.parse
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

# Formats by the folder of their log, in the folder of a table, and a pattern of a file in it.
_LOGS = {
    ("_delta_log", r".*"): "Delta Lake",
    ("metadata", r"(v\d+|\d{5,}-[\w-]+)(\.gz)?\.metadata\.json"): "Iceberg",
    (".hoodie", r"hoodie\.properties"): "Hudi",
}
# DuckLake has its log in a database, elsewhere.
_DUCKLAKE_FILE = r"ducklake-[0-9a-f-]{36}(-delete)?\.parquet"
_PART = r"data|[01]+|[^=]+=.*"  # Folders within a table: of Iceberg, and partitions.
_ADVICE = {
    "Delta Lake": "Pass the folder of one table.",
    "Iceberg": "Pass a list of files instead: task.file.file_path for each task of pyiceberg's "
    "table.scan().plan_files().",
    "Hudi": "Pass a list of files instead: the base files of its latest file slices.",
}


def is_delta(folder: str, files: Iterable[str]) -> bool:
    """Returns whether a folder is a table of Delta Lake.

    Args:
      folder: The folder.
      files: The files in it and below.

    Raises:
      ValueError: It is a table of another format with versions, or contains a table.
    """
    for file in files:
        parts = os.path.relpath(file, folder).split("/")
        for (log, name), kind in _LOGS.items():
            if log not in parts[:-1] or not re.fullmatch(name, parts[-1]):
                continue
            above = parts[: parts.index(log)]
            if kind == "Delta Lake" and not above:
                return True
            raise ValueError(
                f"{os.path.join(folder, *above)} is a table of {kind}: its folder has files of "
                f"earlier versions, too. {_ADVICE[kind]}"
            )
    return False


def check_names(pattern: str, files: Iterable[str]) -> None:
    """Checks that a folder or a pattern does not mean files of DuckLake.

    Args:
      pattern: The folder or pattern.
      files: The files that it means.

    Raises:
      ValueError: It does.
    """
    if any(re.fullmatch(_DUCKLAKE_FILE, os.path.basename(file)) for file in files):
        raise ValueError(
            f"{pattern} has files of DuckLake, also of earlier versions and of deleted rows. Read "
            "the table into memory: input_fns.frame(connection.sql('from lake.rows')); or, if no "
            "row has delete_file, pass a list of files: the column data_file of "
            "ducklake_list_files('lake', 'rows')."
        )


def check_place(
    pattern: str, folders: Collection[str], list_names: Callable[[str], Sequence[str]]
) -> None:
    """Checks that a pattern is no part of a table, such as a partition or single files.

    Args:
      pattern: The pattern; a file without wildcards may belong to a table.
      folders: The folders that match it.
      list_names: Function that returns the names in a folder; none if it does not exist.

    Raises:
      ValueError: The pattern is below the folder of a table.
    """
    parts = pattern.rstrip("/").split("/")
    fixed = list(itertools.takewhile(lambda part: not glob.has_magic(part), parts))
    if len(fixed) == len(parts):
        if pattern not in folders or not re.fullmatch(_PART, parts[-1]):
            return
        fixed = parts[:-1]
    while True:
        place = "/".join(fixed) or ("/" if pattern.startswith("/") else ".")
        for (log, name), kind in _LOGS.items():
            if any(re.fullmatch(name, found) for found in list_names(f"{place}/{log}")):
                advice = f"Use the path of its folder: {place}"
                raise ValueError(
                    f"{pattern} matches files of earlier versions of a table of {kind}, too. "
                    f"{advice if kind == 'Delta Lake' else _ADVICE[kind]}"
                )
        if not fixed or not re.fullmatch(_PART, fixed.pop()):
            return


def list_delta_files(folder: str, endpoint: str | None = None) -> "dict[str, dict[str, pa.Scalar]]":
    """Returns the files of the current version of a table of Delta Lake, sorted.

    Args:
      folder: Its path or URL.
      endpoint: URL of the S3 server; None for that of the environment.

    Returns:
      Maps the files to the values of the columns that they may lack: those of their partition, and
      a missing value for each other column, which the table may have got after the file.

    Raises:
      ImportError: deltalake is not installed.
      ValueError: The table cannot be read, or its rows are not those of its files.
    """
    try:
        import deltalake
    except ImportError as error:
        raise ImportError(
            f"{folder} is a table of Delta Lake, which needs the package deltalake: pip install "
            "'estimator-train[delta]'."
        ) from error
    endpoint = endpoint or os.environ.get("AWS_ENDPOINT_URL", "")
    options = {"AWS_ENDPOINT_URL": endpoint} if endpoint else {}
    if endpoint.startswith("http://"):
        options["AWS_ALLOW_HTTP"] = "true"
    try:
        table = deltalake.DeltaTable(folder, storage_options=options)
        urls = sorted(table.file_uris())
        values = _read_values(table)
    except Exception as error:  # Those of its file systems have no common class.
        text = " ".join(str(error).split())
        raise ValueError(
            f"{folder} is a table of Delta Lake that cannot be read: {text}"
        ) from error
    fault = _find_fault(table)
    if fault:
        raise ValueError(
            f"{folder} is a table of Delta Lake with {fault}: its rows are not those of its files. "
            "Read it into memory: input_fns.frame(deltalake.QueryBuilder().register('rows', "
            f"deltalake.DeltaTable({folder!r})).execute('select * from rows'))."
        )
    # The folder is quoted in both, and the files in it are not. Local files have no scheme.
    root = table.table_uri.removeprefix("file://").rstrip("/") + "/"
    files = {}
    for url in urls:
        name = url.removeprefix(root)
        # A shallow copy has files elsewhere.
        files[os.path.join(folder, name) if url.startswith(root) else url] = values[name]
    return files


def _read_values(table: Any) -> "dict[str, dict[str, pa.Scalar]]":
    """Returns the values of the columns outside each file, by its name as quoted and not."""
    import pyarrow as pa

    missing = {
        field.name: pa.scalar(None, field.type) for field in pa.schema(table.schema().to_arrow())
    }
    actions = pa.table(table.get_add_actions(flatten=True))
    partitions = {
        name: actions[f"partition.{name}"].cast(missing[name].type)
        for name in table.metadata().partition_columns
    }
    values = {}
    for row, path in enumerate(actions["path"].to_pylist()):
        found = missing | {name: column[row] for name, column in partitions.items()}
        values[path] = values[urllib.parse.unquote(path)] = found
    return values


def _find_fault(table: Any) -> str | None:
    """Returns why a version has other rows than its files; None if it has not."""
    if table.metadata().configuration.get("delta.columnMapping.mode", "none") != "none":
        return "mapped names of columns"
    if "deletionVectors" in (table.protocol().reader_features or ()):
        read = getattr(table, "deletion_vectors", None)  # Since deltalake 1.5.
        if read is None or any(batch.num_rows for batch in read()):
            return "deletion vectors"
    return None
