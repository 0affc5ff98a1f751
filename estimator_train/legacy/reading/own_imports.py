"""Which files of a codebase can be imported, told from their sources; nothing is executed."""

import ast
import functools
import importlib.machinery
import importlib.util
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from estimator_train.legacy.reading import import_time
from estimator_train.legacy.reading.symbols import ROOTS

_SUFFIXES = (".py", *importlib.machinery.EXTENSION_SUFFIXES)


class Import(NamedTuple):
    """A module that a file imports.

    Attributes:
      name: Dotted; of a relative import, from the package on that it is relative to.
      folder: That package; None: the name begins with a top-level module.
      line: The line, from 1.
      may_be_attribute: Whether the last part may also be a name in the module before it.
    """

    name: str
    folder: Path | None
    line: int
    may_be_attribute: bool


class Need(NamedTuple):
    """A file that another one imports, and the line there; 0: it is its package."""

    file: Path
    line: int


def problems(
    trees: Mapping[Path, ast.Module | None], known: Mapping[Path, str], top: Path
) -> dict[Path, str]:
    """Why files cannot be imported; those are left out that nothing tells against.

    Args:
      trees: The files of the codebase, by resolved paths, parsed; None for what cannot be.
      known: What is wrong within files.
      top: The directory that the codebase is in.
    """
    found = dict(known)
    own = {part for file in trees for part in file.relative_to(top).with_suffix("").parts}
    needs: dict[Path, list[Need]] = {}
    for file, tree in trees.items():
        around = (folder / "__init__.py" for folder in file.parents)
        needs[file] = [Need(package, 0) for package in around if package in trees]
        for needed in imports(file, tree) if tree else ():
            root = needed.name.split(".")[0]
            if not needed.folder and root in ROOTS:
                continue
            folder = needed.folder or _folder(file, root, top)
            reached, lacking = _along(folder, needed) if folder else ([], _not_installed(needed))
            needs[file] += [Need(path, needed.line) for path in reached]
            if lacking and (folder or root not in own):
                found.setdefault(file, f"line {needed.line}: there is no module '{lacking}'")
    for file in found:
        needs.pop(file, None)
    return found | _spread(found, needs)


def imports(file: Path, tree: ast.Module) -> Iterator[Import]:
    """The modules without which a file cannot be imported.

    Args:
      file: The file, resolved.
      tree: The same, parsed.
    """
    for node in sorted(import_time.evaluated(tree), key=lambda node: getattr(node, "lineno", 0)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, None, node.lineno, False)
        elif isinstance(node, ast.ImportFrom):
            folder = file.parents[node.level - 1] if node.level else None
            for alias in node.names:
                parts = [node.module, alias.name] if alias.name != "*" else [node.module]
                name = ".".join(part for part in parts if part)
                yield Import(name, folder, node.lineno, alias.name != "*")


def _spread(found: Mapping[Path, str], needs: Mapping[Path, list[Need]]) -> dict[Path, str]:
    """What is wrong with files that import one of those found, directly or not."""
    causes = {file: f"{file}, {problem}" for file, problem in found.items()}
    told: dict[Path, str] = {}
    news = True
    while news:
        news = False
        for file, needed in needs.items():
            bad = next((need for need in needed if need.file in causes), None)
            if bad and file not in told:
                causes[file] = causes[bad.file]
                start = f"line {bad.line}:" if bad.line else "its package"
                told[file] = f"{start} imports what cannot be, by {causes[file]}"
                news = True
    return told


def _folder(file: Path, root: str, top: Path) -> Path | None:
    """The directory that a file finds a top-level module of the codebase in."""
    around = [folder for folder in file.parents if folder == top or top in folder.parents]
    around += [folder for folder in top.parents if (folder / root) in (top, *top.parents)]
    # A package's directory is searched for top-level modules only where its script is started.
    around.sort(key=lambda folder: (folder / "__init__.py").exists())
    return next((folder for folder in around if _exists(folder / root)), None)


def _along(folder: Path, needed: Import) -> tuple[list[Path], str]:
    """The files that an import runs, and the first module along it that is not there, or ""."""
    reached, place = [], folder
    names = needed.name.split(".")
    for count, name in enumerate(names, 1):
        package, place = place, place / name
        if (place / "__init__.py").is_file():
            reached.append(place / "__init__.py")
        elif place.with_suffix(".py").is_file():
            return [*reached, place.with_suffix(".py")], ""
        elif not _exists(place):
            is_attribute = needed.may_be_attribute and count == len(names)
            is_there = is_attribute and (package / "__init__.py").is_file()
            return reached, "" if is_there else ".".join(names[:count])
    return reached, ""


def _exists(module: Path) -> bool:
    return module.is_dir() or any(Path(f"{module}{suffix}").is_file() for suffix in _SUFFIXES)


def _not_installed(needed: Import) -> str:
    """The first module along an import that is not installed, or ""."""
    names = needed.name.split(".")
    if needed.may_be_attribute:
        names.pop()
    along = (".".join(names[: count + 1]) for count in range(len(names)))
    return next((name for name in along if not _is_found(name)), "")


@functools.cache
def _is_found(name: str) -> bool:
    """Whether a module is installed, told without an import of the packages around it."""
    package, _, _ = name.rpartition(".")
    if not package:
        return name in sys.modules or importlib.util.find_spec(name) is not None
    places = _places(package)
    return places is None or importlib.machinery.PathFinder.find_spec(name, places) is not None


@functools.cache
def _places(package: str) -> list[str] | None:
    """Where the modules of a package are; None if only its own code can tell."""
    outer = package.rpartition(".")[0]
    if not outer:
        spec = importlib.util.find_spec(package)
    else:
        around = _places(outer)
        spec = importlib.machinery.PathFinder.find_spec(package, around) if around else None
    return list(spec.submodule_search_locations or ()) or None if spec else None
