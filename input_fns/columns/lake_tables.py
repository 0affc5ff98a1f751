"""Folders that belong to Delta Lake, Iceberg or Hudi.

Such a table has files of earlier versions in its folder. Which files are its rows says a log.
"""

import os
import re
from collections.abc import Iterable
from typing import Any

# Formats by the folder of their log, in the folder of a table, and a pattern of a file in it.
_LOGS = {
    ("_delta_log", r".*"): "Delta Lake",
    ("metadata", r"(v\d+|\d{5,}-[\w-]+)(\.gz)?\.metadata\.json"): "Iceberg",
    (".hoodie", r"hoodie\.properties"): "Hudi",
}
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


def list_delta_files(folder: str, endpoint: str | None = None) -> list[str]:
    """Returns the files of the current version of a table of Delta Lake, sorted.

    Args:
      folder: Its path or URL.
      endpoint: URL of the S3 server; None for that of the environment.

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
    root = table.table_uri.rstrip("/") + "/"
    # A shallow copy has files elsewhere.
    return [
        os.path.join(folder, url.removeprefix(root)) if url.startswith(root) else url
        for url in urls
    ]


def _find_fault(table: Any) -> str | None:
    """Returns why a version has other rows than its files; None if it has not."""
    if table.metadata().configuration.get("delta.columnMapping.mode", "none") != "none":
        return "mapped names of columns"
    if "deletionVectors" in (table.protocol().reader_features or ()):
        read = getattr(table, "deletion_vectors", None)  # Since deltalake 1.5.
        if read is None or any(batch.num_rows for batch in read()):
            return "deletion vectors"
    return None
