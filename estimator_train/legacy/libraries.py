"""Which installed libraries use names that TensorFlow has lost, and so see those of old."""

import ast
import functools
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from estimator_train.legacy.reading.scopes import taken_apart

# TensorFlow, what sees it as it is whatever it mentions, and what is large and never asks for it.
_AS_THEY_ARE = frozenset(
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
_LOST = frozenset({"estimator", "contrib"})
_LOST_MODULES = ("tensorflow_estimator", "tensorflow.python.layers", "tensorflow.python.keras")
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
      name: Of its top-level module.
      folder: The directory of installed packages that it is in.
    """

    name: str
    folder: str

    def sources(self) -> Iterator[Path]:
        """Its files."""
        alone = Path(self.folder, f"{self.name}.py")
        if alone.is_file():
            yield alone
        yield from sorted(Path(self.folder, self.name).rglob("*.py"))


@functools.cache
def library_of(path: str) -> Library | None:
    """The installed library that a source file belongs to; None for any other file.

    Args:
      path: A file; of one that is reached by symbolic links, the path as Python imports it.
    """
    parts = os.path.abspath(path).split(os.sep)
    for place in _INSTALLED:
        if place in parts:
            at = parts.index(place) + 1
            return Library(parts[at].removesuffix(".py"), os.sep.join(parts[:at]))
    return None


_known: dict[Library, bool] = {}


def is_old(library: Library) -> bool:
    """Whether a library's code uses tf.estimator, tf.contrib or private modules that are gone."""
    if library not in _known:
        _known[library] = not is_as_it_is(library) and any(
            _uses_lost(source) for source in library.sources()
        )
    return _known[library]


def is_as_it_is(library: Library) -> bool:
    """Whether a library sees TensorFlow as it is, whatever its code mentions."""
    return library.name in _AS_THEY_ARE


def is_known(library: Library) -> bool:
    """Whether `is_old` was asked about a library before, and it is."""
    return _known.get(library, False)


@functools.cache
def mentions_tensorflow(path: str) -> bool:
    """Whether the text of a file has the word tensorflow."""
    try:
        return b"tensorflow" in Path(path).read_bytes()
    except OSError:
        return False


def _uses_lost(source: Path) -> bool:
    text = source.read_bytes()
    if b"tensorflow" not in text or not any(mention in text for mention in _MENTIONS):
        return False
    try:
        return any(_is_lost(node) for node in ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError):
        return False


def _is_lost(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute) and node.attr in _LOST:
        base, _ = taken_apart(node)
        return isinstance(base, ast.Name) and bool(_TENSORFLOW.fullmatch(base.id))
    if isinstance(node, ast.ImportFrom) and not node.level:
        named = [f"{node.module}.{alias.name}" for alias in node.names]
    elif isinstance(node, ast.Import):
        named = [alias.name for alias in node.names]
    else:
        return False
    return any(_is_lost_name(name) for name in named)


def _is_lost_name(name: str) -> bool:
    root, *inner = name.split(".")
    return name.startswith(_LOST_MODULES) or (root == "tensorflow" and bool(_LOST & {*inner}))
