"""The edited copies of a codebase."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from estimator_train.legacy.report import FileReport
from estimator_train.legacy.rewriting.file import Left, rewritten


class Copy(NamedTuple):
    """One written file.

    Attributes:
      path: The copy.
      original: The file that it is a copy of.
      left: The names that have to be changed by hand; their lines are those of the old file.
    """

    path: str
    original: str
    left: list[Left]


def rewrite(files: Sequence[FileReport], directory: str) -> list[Copy]:
    """Writes copies into a new directory, placed to each other as the files are.

    Args:
      files: What is known of the files; those that cannot be read have no copy.
      directory: The directory, which is made.

    Raises:
      FileExistsError: There are files in it.
    """
    if os.path.isdir(directory) and os.listdir(directory):
        raise FileExistsError(
            f"{directory} is not empty: --rewrite writes into a new directory. Remove it, or name "
            "another by --rewrite=DIRECTORY."
        )
    readable = [file for file in files if not file.problem]
    paths = [os.path.realpath(file.path) for file in readable]
    top = os.path.commonpath([os.path.dirname(path) for path in paths]) if paths else ""
    copies = []
    for file, path in zip(readable, paths, strict=True):
        target = Path(directory, os.path.relpath(path, top))
        target.parent.mkdir(parents=True, exist_ok=True)
        edited = rewritten(Path(path).read_bytes(), file.generation)
        target.write_bytes(edited.source)
        copies.append(Copy(str(target), file.path, [*_clash(path), *edited.left]))
    return copies


def _clash(path: str) -> list[Left]:
    """What is wrong with a file that takes the name of this package."""
    if os.path.basename(path) != "estimator_train.py":
        return []
    reason = (
        "is a module of this codebase, and the copies import the package of that name: rename "
        "the module and its imports, or run the codebase as it is by `estimator-train run`."
    )
    return [Left(1, "estimator_train", reason)]
