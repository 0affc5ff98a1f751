"""Whether a codebase was written for TensorFlow 1 or 2, told from its source."""

import ast
import functools
import site
import sysconfig
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from estimator_train.legacy import libraries
from estimator_train.legacy.codebase import source_of
from estimator_train.legacy.reading import symbols
from estimator_train.legacy.trees import TF1, TF2

_SIGNS_OF_TF1 = (
    "tensorflow.contrib",
    "tensorflow.examples",
    "tensorflow.python.estimator",
    "tensorflow.VERSION",
)
_DATASET_METHODS = ("make_one_shot_iterator", "make_initializable_iterator")
_V1_DATASETS = ("tensorflow.compat.v1.data.", "tensorflow.compat.v2.compat.v1.data.")
_MAX_FILES = 200
_INSTALLED = ("purelib", "platlib")


def of_script(path: str, tensorflow: Any) -> str:
    """The generation that a script was written for, by it and the modules of its own it imports.

    Where they do not tell, the old libraries do that it imports.

    Args:
      path: The script.
      tensorflow: The module as it is.

    Returns:
      TF1 or TF2; TF2 where nothing tells.
    """
    own = list(sources(path))
    lead = _lead([tree for _, tree in own], tensorflow)
    if not lead:
        in_libraries = (tree for _, tree in _library_sources(own))
        # Libraries for both generations use tf.contrib where it is there.
        plain = (use for use in _uses(in_libraries) if not use.symbol.startswith(_SIGNS_OF_TF1))
        lead = _lead_of_first(plain, tensorflow)
    return TF1 if lead > 0 else TF2


def of_package(modules: Sequence[ast.Module], tensorflow: Any) -> str:
    """The generation that a package was written for, by all of its modules.

    Args:
      modules: The modules, parsed.
      tensorflow: The module as it is.

    Returns:
      TF1 or TF2; TF2 where nothing tells.
    """
    return TF1 if _lead(modules, tensorflow) > 0 else TF2


def forget() -> None:
    """Frees what is kept of the files that were read."""
    for kept in (_tree, _uses_of, _methods_of_first):
        kept.cache_clear()


def _lead(modules: Sequence[ast.Module], tensorflow: Any) -> int:
    """By how many names and methods TensorFlow 1 leads in files."""
    methods = set[str]().union(*map(_methods_of_first, modules))
    return _lead_of_first(_uses(modules), tensorflow) + len(methods)


def _uses(modules: Iterable[ast.Module]) -> Iterator[symbols.Use]:
    return (use for tree in modules for use in _uses_of(tree))


# Kept: the modules of a codebase are looked at for each of its scripts.
_uses_of = functools.cache(symbols.uses)
_tree = functools.cache(ast.parse)


def _lead_of_first(uses: Iterable[symbols.Use], tensorflow: Any) -> int:
    """By how many names TensorFlow 1 leads, of those that one generation alone has."""
    first = second = 0
    for symbol in {use.symbol for use in uses}:
        if symbol.startswith(_SIGNS_OF_TF1):
            first += 1
            continue
        root, *inner = symbol.split(".")
        if root != "tensorflow" or not inner or inner[0] in ("compat", "python", "estimator"):
            continue
        in_first = _has(tensorflow.compat.v1, inner)
        in_second = _has(tensorflow, inner)
        first += in_first and not in_second
        second += in_second and not in_first
    return first - second


@functools.cache
def _methods_of_first(module: ast.Module) -> frozenset[str]:
    """The methods in a file that objects of TensorFlow 1 alone have."""
    symbols_used = {use.symbol for use in _uses_of(module)}
    if not symbols_used or any(symbol.startswith(_V1_DATASETS) for symbol in symbols_used):
        return frozenset()
    return frozenset(_calls_of_first(module))


def _calls_of_first(module: ast.Module) -> Iterator[str]:
    for node in ast.walk(module):
        if not isinstance(node, ast.Attribute):
            continue
        if node.attr in _DATASET_METHODS and not _is_module(node.value):
            yield node.attr
        if node.attr == "value" and isinstance(node.value, ast.Subscript):
            shape = node.value.value
            shape = shape.func if isinstance(shape, ast.Call) else shape
            if isinstance(shape, ast.Attribute) and shape.attr in ("shape", "get_shape"):
                yield "Dimension.value"


def _is_module(node: ast.expr) -> bool:
    """Whether an expression is tf.data, whose functions have the names of datasets' methods."""
    return isinstance(node, ast.Attribute) and node.attr == "data"


def sources(path: str) -> Iterator[tuple[Path, ast.Module]]:
    """A script and the modules beside it that it imports, directly or not, parsed.

    Args:
      path: The script.
    """
    script = Path(path).resolve()

    def beside(file: Path, name: str) -> Path | None:
        found = (source_of(name, place) for place in (file.parent, script.parent, Path.cwd()))
        return next((module for module in found if module), None)

    return _reached([script], beside)


def _library_sources(own: Iterable[tuple[Path, ast.Module]]) -> Iterator[tuple[Path, ast.Module]]:
    """The modules of old libraries that files import, directly or not, parsed."""
    folders = sorted({*site.getsitepackages(), *(sysconfig.get_paths()[k] for k in _INSTALLED)})

    def installed(_: Path, name: str) -> Path | None:
        for folder in folders:
            module = source_of(name, folder)
            if module and libraries.is_old(libraries.Library(name.split(".")[0], folder)):
                return module
        return None

    names = ((file, name) for file, tree in own for name in symbols.local_imports(tree))
    first = (installed(file, name) for file, name in names)
    return _reached([module for module in first if module], installed)


def _reached(
    start: Iterable[Path], find: Callable[[Path, str], Path | None]
) -> Iterator[tuple[Path, ast.Module]]:
    waiting, seen = list(start), set[Path]()
    while waiting and len(seen) < _MAX_FILES:
        file = waiting.pop()
        if file in seen:
            continue
        seen.add(file)
        tree = _parsed(file)
        if tree is None:
            continue  # It will be told, with its line, when it is imported.
        yield file, tree
        found = (find(file, name) for name in symbols.local_imports(tree))
        waiting += [module for module in found if module]


def _parsed(file: Path) -> ast.Module | None:
    try:
        return _tree(file.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return None


def _has(module: Any, path: list[str]) -> bool:
    for name in path:
        if not hasattr(module, name):
            return False
        module = getattr(module, name)
        if not isinstance(module, ModuleType):
            return True  # Attributes of classes and other objects tell nothing.
    return True
