"""Whether a codebase was written for TensorFlow 1 or 2, told from its source."""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from estimator_train.legacy import symbols
from estimator_train.legacy.trees import TF1, TF2

_SIGNS_OF_TF1 = (
    "tensorflow.contrib",
    "tensorflow.examples",
    "tensorflow.python.estimator",
    "tensorflow.VERSION",
)
_MAX_FILES = 200


def of_script(path: str, tensorflow: Any) -> str:
    """The generation that a script was written for, by it and the modules of its own it imports.

    Args:
      path: The script.
      tensorflow: The module as it is.

    Returns:
      TF1 or TF2; TF2 where nothing tells.
    """
    return of_uses((use for _, tree in sources(path) for use in symbols.uses(tree)), tensorflow)


def of_uses(uses: Iterable[symbols.Use], tensorflow: Any) -> str:
    """The generation that uses of names speak for: that of whose own names there are more.

    Args:
      uses: The uses.
      tensorflow: The module as it is.
    """
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
    return TF1 if first > second else TF2


def sources(path: str) -> Iterator[tuple[Path, ast.Module]]:
    """A script and the modules beside it that it imports, directly or not, parsed.

    Args:
      path: The script.
    """
    top = Path(path).resolve().parent
    waiting: list[Path] = [Path(path).resolve()]
    seen: set[Path] = set()
    while waiting and len(seen) < _MAX_FILES:
        file = waiting.pop()
        if file in seen:
            continue
        seen.add(file)
        try:
            tree = ast.parse(file.read_bytes())
        except (OSError, SyntaxError, ValueError):
            continue  # It will be told, with its line, when it is imported.
        yield file, tree
        for name in symbols.local_imports(tree):
            found = (_module(place, name) for place in (file.parent, top, Path.cwd()))
            waiting += [module for module in found if module][:1]


def _module(place: Path, name: str) -> Path | None:
    base = place.joinpath(*name.split("."))
    candidates = (base / "__init__.py", base.with_suffix(".py"))
    return next((path for path in candidates if path.is_file()), None)


def _has(module: Any, path: list[str]) -> bool:
    for name in path:
        if not hasattr(module, name):
            return False
        module = getattr(module, name)
        if not isinstance(module, ModuleType):
            return True  # Attributes of classes and other objects tell nothing.
    return True
