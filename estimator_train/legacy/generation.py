"""Detects the generation of a codebase, TensorFlow 1 or 2, from its source."""

import ast
import functools
import os
import site
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import ModuleType

from estimator_train.legacy import libraries
from estimator_train.legacy.codebase import find_source
from estimator_train.legacy.old_names import TF1, TF2
from estimator_train.legacy.reading import notebooks, requirements, search_path, symbols

# Prefixes of names that only TensorFlow 1 has.
_TF1_PREFIXES = (
    "tensorflow.contrib",
    "tensorflow.examples",
    "tensorflow.python.estimator",
    "tensorflow.VERSION",
    "tensorflow.estimator.inputs",
    "tensorflow.estimator.tpu",
    "tensorflow.estimator.experimental.dnn_logit_fn_builder",
    "tensorflow.estimator.experimental.linear_logit_fn_builder",
    "tensorflow.python.data.Dataset",
)
# Names of tf.estimator that only TensorFlow 2 has.
_TF2_ESTIMATOR_NAMES = (
    "tensorflow.estimator.experimental.RNNClassifier",
    "tensorflow.estimator.experimental.RNNEstimator",
    "tensorflow.estimator.export.EvalOutput",
)
_DATASET_METHODS = ("make_one_shot_iterator", "make_initializable_iterator")
# A program that uses these modules calls the methods above in TensorFlow 2 too.
_V1_DATASETS = ("tensorflow.compat.v1.data.", "tensorflow.compat.v2.compat.v1.data.")
# Names that only Keras 3 has.
_KERAS_3_NAMES = frozenset({"Variable", "distribution", "ops", "quantizers", "random", "tree"})
_MAX_FILES = 200
_FEW_NAMES = 3
_INSTALLED = ("purelib", "platlib")
_ROOT = Path(__file__).resolve().parents[2]
_OWN_FOLDERS = (_ROOT / "estimator_train", _ROOT / "tf_contrib")


def detect_for_script(path: str, tensorflow: ModuleType) -> str:
    """Returns the generation that a script and the codebase's modules it imports were written for.

    If their names are inconclusive, the old libraries that they import decide, and then the
    requirements of the codebase. Requirements of TensorFlow 2 also outweigh a few names of
    TensorFlow 1, because codebases keep functions that they no longer call.

    Args:
      path: The script.
      tensorflow: The installed TensorFlow.

    Returns:
      TF1 or TF2; TF2 if the sources are inconclusive.
    """
    sources = list(find_sources(path))
    modules = [tree for _, tree in sources]
    lead = _count_tf1_lead(modules, tensorflow)
    if not lead:
        in_libraries = (tree for _, tree in _find_library_sources(sources))
        # Libraries for both generations use tf.contrib where their import does not need it.
        uses = (
            use
            for use in _uses(in_libraries)
            if use.at_import or not use.symbol.startswith(_TF1_PREFIXES)
        )
        lead = _count_name_lead(uses, tensorflow)
    if lead in range(_FEW_NAMES + 1) and not _has_certain_sign(modules, tensorflow):
        version = requirements.find_major_version(Path(path).resolve())
        if version:
            return TF1 if version == 1 else TF2
    return TF1 if lead > 0 else TF2


def _has_certain_sign(modules: Sequence[ast.Module], tensorflow: ModuleType) -> bool:
    """Returns whether files call methods of TensorFlow 1, or use its names when imported."""
    uses = [*_uses(modules)]
    if any(map(_tf1_methods, modules)) or any(u.symbol.startswith(_TF1_PREFIXES) for u in uses):
        return True
    return _count_name_lead((use for use in uses if use.at_import), tensorflow) > 0


def uses_keras_3(path: str) -> bool:
    """Returns whether a script, or a module that it imports, uses names that only Keras 3 has.

    Args:
      path: The script.
    """
    return any(
        name.split(".")[1] in _KERAS_3_NAMES
        for _, tree in find_sources(path)
        for name in _find_keras_names(tree)
    )


def _find_keras_names(tree: ast.Module) -> Iterator[str]:
    """Yields the dotted names below `keras` that a file uses."""
    for reference in symbols.find_references(tree, ("keras",)):
        yield reference.symbol
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = (f"{node.module}.{alias.name}" for alias in node.names)
            yield from (name for name in names if name.startswith("keras."))
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("keras."))


def detect_for_package(modules: Sequence[ast.Module], tensorflow: ModuleType) -> str:
    """Returns the generation that a package was written for.

    Args:
      modules: All modules of the package, parsed.
      tensorflow: The installed TensorFlow.

    Returns:
      TF1 or TF2; TF2 if the sources are inconclusive.
    """
    return TF1 if _count_tf1_lead(modules, tensorflow) > 0 else TF2


def clear_caches() -> None:
    """Frees the memory of the parsed files."""
    for cached in (_parse_source, _uses_of, _tf1_methods):
        cached.cache_clear()


def _count_tf1_lead(modules: Sequence[ast.Module], tensorflow: ModuleType) -> int:
    """Counts names and methods that only TensorFlow 1 has, minus names that only 2 has."""
    methods = set[str]().union(*map(_tf1_methods, modules))
    return _count_name_lead(_uses(modules), tensorflow) + len(methods)


def _uses(modules: Iterable[ast.Module]) -> Iterator[symbols.Use]:
    return (use for tree in modules for use in _uses_of(tree))


# Cached, because several scripts of a codebase import the same modules.
_uses_of = functools.cache(symbols.find_uses)
_parse_source = functools.cache(ast.parse)


def _count_name_lead(uses: Iterable[symbols.Use], tensorflow: ModuleType) -> int:
    """Counts names that only TensorFlow 1 has, minus names that only TensorFlow 2 has."""
    lead = 0
    for symbol in {use.symbol for use in uses}:
        if symbol.startswith(_TF1_PREFIXES):
            lead += 1
            continue
        if symbol.startswith(_TF2_ESTIMATOR_NAMES):
            lead -= 1
            continue
        root, *inner = symbol.split(".")
        if root != "tensorflow" or not inner or inner[0] in ("compat", "python", "estimator"):
            continue
        lead += _has_name(tensorflow.compat.v1, inner) - _has_name(tensorflow, inner)
    return lead


@functools.cache
def _tf1_methods(module: ast.Module) -> frozenset[str]:
    """Returns the methods in a file that only objects of TensorFlow 1 have."""
    symbols_used = {use.symbol for use in _uses_of(module)}
    if not symbols_used or any(symbol.startswith(_V1_DATASETS) for symbol in symbols_used):
        return frozenset()
    return frozenset(_find_tf1_methods(module))


def _find_tf1_methods(module: ast.Module) -> Iterator[str]:
    for node in ast.walk(module):
        if not isinstance(node, ast.Attribute):
            continue
        if node.attr in _DATASET_METHODS and not _is_data_module(node.value):
            yield node.attr
        if node.attr == "value" and isinstance(node.value, ast.Subscript):
            shape = node.value.value
            shape = shape.func if isinstance(shape, ast.Call) else shape
            if isinstance(shape, ast.Attribute) and shape.attr in ("shape", "get_shape"):
                yield "Dimension.value"


def _is_data_module(node: ast.expr) -> bool:
    """Returns whether an expression is tf.data, which has functions of the same names."""
    return isinstance(node, ast.Attribute) and node.attr == "data"


def find_sources(path: str) -> Iterator[tuple[Path, ast.Module]]:
    """Yields a script and the codebase's modules that it imports, directly or not, parsed.

    Args:
      path: The script.
    """
    script = Path(path).resolve()
    shared = [script.parent, Path.cwd(), *_list_python_path()]
    visited = set[Path]()

    def find(file: Path, name: str) -> Path | None:
        tree = None if file in visited else _parse_file(file)
        if tree:
            visited.add(file)
            shared.extend(search_path.find_added_folders(file, tree))
        found = (find_source(name, folder) for folder in (file.parent, *shared))
        return next((one for one in found if one and not _is_own(one)), None)

    return _follow_imports([script], find)


def _is_own(file: Path) -> bool:
    """Returns whether a file is of this project, whose names say nothing of the codebase."""
    return any(map(file.resolve().is_relative_to, _OWN_FOLDERS))


def _list_python_path() -> Iterator[Path]:
    """Yields the folders of PYTHONPATH that hold no installed libraries."""
    for folder in os.environ.get("PYTHONPATH", "").split(os.pathsep):
        if folder and not libraries.find_library(os.path.join(folder, "module.py")):
            yield Path(folder)


def _find_library_sources(
    sources: Iterable[tuple[Path, ast.Module]],
) -> Iterator[tuple[Path, ast.Module]]:
    """Yields the modules of old libraries that files import, directly or not, parsed."""
    folders = sorted({*site.getsitepackages(), *(sysconfig.get_paths()[k] for k in _INSTALLED)})
    others = (folder for folder in sys.path if folder not in folders)
    folders += [folder for folder in others if libraries.find_installed_modules(folder)]

    def find(_: Path, name: str) -> Path | None:
        for folder in folders:
            module = find_source(name, folder)
            if module and libraries.is_old(libraries.Library(name.split(".")[0], folder)):
                return module
        return None

    names = ((file, name) for file, tree in sources for name in symbols.find_local_imports(tree))
    first = (find(file, name) for file, name in names)
    return _follow_imports([module for module in first if module], find)


def _follow_imports(
    start: Iterable[Path], find: Callable[[Path, str], Path | None]
) -> Iterator[tuple[Path, ast.Module]]:
    """Yields files and the files that they import, each once, up to `_MAX_FILES`."""
    waiting, seen = list(start), set[Path]()
    while waiting and len(seen) < _MAX_FILES:
        file = waiting.pop()
        if file in seen:
            continue
        seen.add(file)
        tree = _parse_file(file)
        if tree is None:
            continue  # Its import raises the error, with the line.
        yield file, tree
        found = (find(file, name) for name in symbols.find_local_imports(tree))
        waiting += [module for module in found if module]


def _parse_file(file: Path) -> ast.Module | None:
    try:
        return _parse_source(notebooks.read_source(file))
    except (OSError, SyntaxError, ValueError):
        return None


def _has_name(module: ModuleType, path: list[str]) -> bool:
    for name in path:
        if not hasattr(module, name):
            return False
        module = getattr(module, name)
        if not isinstance(module, ModuleType):
            return True  # Attributes of classes do not depend on the generation.
    return True
