"""Writes the edited copies of a codebase."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from estimator_train.legacy.report import FileReport
from estimator_train.legacy.rewriting.file import UnreplacedName, rewrite_source


class Copy(NamedTuple):
    """A written copy.

    Attributes:
      path: The copy.
      original: The original file.
      unreplaced: The names that the user must change, with their lines in the original file.
    """

    path: str
    original: str
    unreplaced: list[UnreplacedName]


def rewrite(files: Sequence[FileReport], directory: str) -> list[Copy]:
    """Writes copies into a new directory, with the folders of the originals.

    Args:
      files: The reports about the files; a file that cannot be read has no copy.
      directory: The directory; this function creates it.

    Raises:
      FileExistsError: The directory is not empty.
    """
    if os.path.isdir(directory) and os.listdir(directory):
        raise FileExistsError(
            f"{directory} is not empty: --rewrite writes into a new directory. Remove it, or name "
            "another with --rewrite=DIRECTORY."
        )
    readable = [file for file in files if not file.problem]
    paths = [os.path.realpath(file.path) for file in readable]
    top = os.path.commonpath([os.path.dirname(path) for path in paths]) if paths else ""
    copies = []
    for file, path in zip(readable, paths, strict=True):
        target = Path(directory, os.path.relpath(path, top))
        target.parent.mkdir(parents=True, exist_ok=True)
        edited = rewrite_source(Path(path).read_bytes(), file.generation)
        target.write_bytes(edited.source)
        copies.append(Copy(str(target), file.path, [*_find_name_clash(path), *edited.unreplaced]))
    return copies


def _find_name_clash(path: str) -> list[UnreplacedName]:
    """Returns an entry for a file that has the name of this package."""
    if os.path.basename(path) != "estimator_train.py":
        return []
    reason = (
        "is a module of this codebase, and the copies import the package of that name: rename "
        "the module and its imports, or run the original with `estimator-train run`."
    )
    return [UnreplacedName(1, "estimator_train", reason)]
