"""Finds installed libraries that use names which TensorFlow has removed."""

import ast
import functools
import importlib
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from estimator_train.legacy.reading import symbols
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
        "tf_contrib",
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
# Modules of TensorFlow 1 and 2 whose names differ; Keras is left out, since this would load it.
_MODULES_OF_BOTH = ("data", "io", "math", "nn", "random", "summary", "train")
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
    """Returns whether a library uses tf.estimator, tf.contrib or removed private modules.

    A library is old too if its import fails because a file uses another removed name, as in
    `class Hook(tf.train.SessionRunHook)`.
    """
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
    if b"tensorflow" not in text:
        return False
    mentions = any(mention in text for mention in _MENTIONS)
    if not mentions and (_imports_tensorflow() or not _make_pattern().search(text)):
        return False
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    if mentions and any(_refers_to_removed_name(node) for node in ast.walk(tree)):
        return True
    return not _imports_tensorflow() and any(
        use.at_import and _is_of_tf1(use.symbol) for use in symbols.find_uses(tree)
    )


def _imports_tensorflow() -> bool:
    """Returns whether TensorFlow's import runs, whose libraries are as new as TensorFlow."""
    tensorflow = sys.modules.get("tensorflow")
    return tensorflow is not None and not hasattr(tensorflow, "compat")


@functools.cache
def _make_pattern() -> re.Pattern[bytes]:
    """Returns a pattern that finds names of TensorFlow 1 in a source without parsing it."""
    names = "|".join(map(re.escape, sorted(_find_names_of_tf1())))
    return re.compile(rf"\b(?:tf|tensorflow)\.(?:{names})\b".encode())


@functools.cache
def _find_names_of_tf1() -> frozenset[str]:
    """Returns the public names that only `tensorflow.compat.v1` has, without `tensorflow.`."""
    tensorflow = importlib.import_module("tensorflow")
    v1 = tensorflow.compat.v1
    found = set(dir(v1)) - set(dir(tensorflow))
    for module in _MODULES_OF_BOTH:
        old, new = getattr(v1, module), getattr(tensorflow, module)
        found |= {f"{module}.{name}" for name in set(dir(old)) - set(dir(new))}
    return frozenset(name for name in found if "_" not in (name[0], name.rpartition(".")[2][0]))


def _is_of_tf1(symbol: str) -> bool:
    root, *names = symbol.split(".")
    starts = {".".join(names[:count]) for count in (1, 2)}
    return root == "tensorflow" and not starts.isdisjoint(_find_names_of_tf1())


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
