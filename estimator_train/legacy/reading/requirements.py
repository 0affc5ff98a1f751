"""Reads the versions of TensorFlow that the requirements of a codebase permit."""

import re
from collections.abc import Iterator
from pathlib import Path

_FILES = (
    "*requirement*.txt",
    "setup.py",
    "setup.cfg",
    "pyproject.toml",
    "environment*.yml",
    "environment*.yaml",
    "Pipfile",
)
_MAX_FOLDERS = 4
_COMMENT = re.compile(r"#.*")
_REQUIREMENT = re.compile(
    r"(?<![\w.-])tensorflow(?:[-_](?:cpu|gpu))?(?:\[[\w,-]*\])?(?:\s*=\s*[\"'])?\s*"
    r"((?:(?:[=<>~!]=?=?)\s*[\d.]+[\w.*]*\s*,?\s*)+)"
)
_VERSION = re.compile(r"([=<>~!]+)\s*(\d+(?:\.\d+)?)")


def find_major_version(script: Path) -> int | None:
    """Returns the only major version of TensorFlow that a script's codebase permits.

    The first folder above the script that names a version of TensorFlow decides. Requirements that
    permit both generations, such as `tensorflow>=1.12`, do not.

    Args:
      script: The absolute path of the script.

    Returns:
      1, 2 or None.
    """
    for folder in [*script.parents][:_MAX_FOLDERS]:
        if (folder / "site-packages").is_dir() or folder == Path.home():
            return None
        found = set(_read_folder(folder))
        if found:
            return found.pop() if len(found) == 1 else None
    return None


def _read_folder(folder: Path) -> Iterator[int | None]:
    """Yields a major version, or None for both, for each requirement in the files of a folder."""
    for pattern in _FILES:
        for file in folder.glob(pattern):
            try:
                text = _COMMENT.sub("", file.read_text(encoding="utf-8", errors="replace"))
            except OSError:
                continue
            for versions in _REQUIREMENT.findall(text):
                yield _find_major_version(versions)


def _find_major_version(versions: str) -> int | None:
    for operator, version in _VERSION.findall(versions):
        major = int(version.split(".")[0])
        if operator in ("==", "===", "~="):
            return 2 if major > 1 else 1
        if operator in (">", ">=") and major > 1:
            return 2
        if operator in ("<", "<=") and float(version) <= (2 if operator == "<" else 1.15):
            return 1
    return None
