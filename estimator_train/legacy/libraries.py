"""Finds installed libraries that use names which TensorFlow has removed."""

import ast
import functools
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from estimator_train.legacy.reading.scopes import split_dotted

# TensorFlow, libraries that are up to date although they mention old names, and large libraries
# that never import TensorFlow.
_UP_TO_DATE = frozenset(
    [
        "tensorflow",
        "tf_keras",
        "keras",
        "tensorboard",
        "estimator_train",
        "numpy",
        "pandas",
        "scipy",
        "sklearn",
        "matplotlib",
        "PIL",
    ]
)
_REMOVED = frozenset({"estimator", "contrib"})
_REMOVED_MODULES = ("tensorflow_estimator", "tensorflow.python.layers", "tensorflow.python.keras")
# A source without any of these texts is not parsed.
_MENTIONS = (
    b".estimator",
    b".contrib",
    b"import estimator",
    b"import contrib",
    b"tensorflow_estimator",
    b"tensorflow.python.layers",
    b"tensorflow.python.keras",
    b"tensorflow.python import",
)
_TENSORFLOW = re.compile(r"tf(_?v?[12])?|tensorflow")
_INSTALLED = ("site-packages", "dist-packages")


class Library(NamedTuple):
    """An installed library.

    Attributes:
      name: The name of its top-level module.
      folder: The directory of installed packages that contains it.
    """

    name: str
    folder: str

    def sources(self) -> Iterator[Path]:
        """Yields the source files of the library."""
        single = Path(self.folder, f"{self.name}.py")
        if single.is_file():
            yield single
        yield from sorted(Path(self.folder, self.name).rglob("*.py"))


@functools.cache
def find_library(path: str) -> Library | None:
    """Returns the installed library that a source file belongs to, or None.

    Args:
      path: The path from which Python imports the file; symbolic links are not resolved.
    """
    parts = os.path.abspath(path).split(os.sep)
    for folder in _INSTALLED:
        if folder in parts:
            depth = parts.index(folder) + 1
            return Library(parts[depth].removesuffix(".py"), os.sep.join(parts[:depth]))
    for depth in range(len(parts) - 1, 0, -1):
        folder, name = os.sep.join(parts[:depth]), parts[depth].removesuffix(".py")
        if name in find_installed_modules(folder):
            return Library(name, folder)
    return None


@functools.cache
def find_installed_modules(folder: str) -> frozenset[str]:
    """Returns the top-level modules that `pip install --target` installed in a folder."""
    try:
        about = [name for name in os.listdir(folder) if name.endswith(".dist-info")]
    except OSError:
        return frozenset()
    return frozenset(name for package in about for name in _read_record(Path(folder, package)))


def _read_record(about: Path) -> Iterator[str]:
    """Yields the top-level modules of an installed package."""
    try:
        lines = (about / "RECORD").read_text(encoding="utf-8").splitlines()
    except OSError:
        return
    for first, _, rest in (line.partition(",")[0].partition("/") for line in lines):
        if first.endswith(".py") or (rest.endswith(".py") and first != ".."):
            yield first.removesuffix(".py")


_is_old: dict[Library, bool] = {}


def is_old(library: Library) -> bool:
    """Returns whether a library uses tf.estimator, tf.contrib or removed private modules."""
    if library not in _is_old:
        _is_old[library] = not is_up_to_date(library) and any(
            _uses_removed_names(source) for source in library.sources()
        )
    return _is_old[library]


def is_up_to_date(library: Library) -> bool:
    """Returns whether a library is known to need no old names."""
    return library.name in _UP_TO_DATE


def is_known_as_old(library: Library) -> bool:
    """Returns whether an earlier call of `is_old` returned True; reads no sources."""
    return _is_old.get(library, False)


@functools.cache
def mentions_tensorflow(path: str) -> bool:
    """Returns whether a file contains the word "tensorflow"."""
    try:
        return b"tensorflow" in Path(path).read_bytes()
    except OSError:
        return False


def _uses_removed_names(source: Path) -> bool:
    text = source.read_bytes()
    if b"tensorflow" not in text or not any(mention in text for mention in _MENTIONS):
        return False
    try:
        return any(_refers_to_removed_name(node) for node in ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError):
        return False


def _refers_to_removed_name(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute) and node.attr in _REMOVED:
        base, _ = split_dotted(node)
        return isinstance(base, ast.Name) and bool(_TENSORFLOW.fullmatch(base.id))
    if isinstance(node, ast.ImportFrom) and not node.level:
        named = [f"{node.module}.{alias.name}" for alias in node.names]
    elif isinstance(node, ast.Import):
        named = [alias.name for alias in node.names]
    else:
        return False
    return any(_is_removed_name(name) for name in named)


def _is_removed_name(name: str) -> bool:
    root, *inner = name.split(".")
    return name.startswith(_REMOVED_MODULES) or (root == "tensorflow" and bool(_REMOVED & {*inner}))
