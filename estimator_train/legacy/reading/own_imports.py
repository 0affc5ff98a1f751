"""Finds out from their sources which files of a codebase can be imported."""

import ast
import functools
import importlib.machinery
import importlib.util
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from estimator_train.legacy.reading import import_time, search_path
from estimator_train.legacy.reading.symbols import ROOTS

# The runner finds modules of Keras 2 that the installed packages lack.
_FOUND = frozenset({"keras"})
_SUFFIXES = (".py", *importlib.machinery.EXTENSION_SUFFIXES)


class Import(NamedTuple):
    """A module that a file imports.

    Attributes:
      name: The dotted name; for a relative import, the name below `folder`.
      folder: The package that a relative import starts from; None for an absolute import.
      line: The line, from 1.
      may_be_attribute: Whether the last part can be a name defined in the module before it.
    """

    name: str
    folder: Path | None
    line: int
    may_be_attribute: bool


class Need(NamedTuple):
    """A file that another file imports, and the line of the import; line 0 is its own package."""

    file: Path
    line: int


def find_problems(
    trees: Mapping[Path, ast.Module | None], known: Mapping[Path, str], top: Path
) -> dict[Path, str]:
    """Returns, for each file that cannot be imported, the reason.

    Args:
      trees: The parsed files of the codebase by resolved path; None for a file that cannot be
        parsed.
      known: Reasons that are already known, by file.
      top: The folder of the codebase.
    """
    found = dict(known)
    codebase_names = {
        part for file in trees for part in file.relative_to(top).with_suffix("").parts
    }
    added = [
        folder
        for file, tree in trees.items()
        for folder in (search_path.find_added_folders(file, tree) if tree else ())
    ]
    needs: dict[Path, list[Need]] = {}
    for file, tree in trees.items():
        packages = (folder / "__init__.py" for folder in file.parents)
        needs[file] = [Need(package, 0) for package in packages if package in trees]
        for needed in find_imports(file, tree) if tree else ():
            root = needed.name.split(".")[0]
            if not needed.folder and root in ROOTS:
                continue
            folder = needed.folder or _find_folder(file, root, top, added)
            if folder:
                executed, missing = _follow_import(folder, needed)
                if missing and not needed.folder and not _find_not_installed(needed):
                    # The repository has the name of its package, which is on PYTHONPATH.
                    executed, missing = [], ""
            else:
                executed, missing = [], "" if root in _FOUND else _find_not_installed(needed)
            needs[file] += [Need(path, needed.line) for path in executed]
            if missing and (folder or root not in codebase_names):
                found.setdefault(file, f"line {needed.line}: there is no module '{missing}'")
    for file in found:
        needs.pop(file, None)
    return found | _find_affected(found, needs)


def find_imports(file: Path, tree: ast.Module) -> Iterator[Import]:
    """Yields the modules that a file needs to be imported.

    Args:
      file: The file, resolved.
      tree: The parsed file.
    """
    nodes = import_time.find_import_time_nodes(tree)
    for node in sorted(nodes, key=lambda node: getattr(node, "lineno", 0)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, None, node.lineno, False)
        elif isinstance(node, ast.ImportFrom):
            folder = file.parents[node.level - 1] if node.level else None
            for alias in node.names:
                parts = [node.module, alias.name] if alias.name != "*" else [node.module]
                name = ".".join(part for part in parts if part)
                yield Import(name, folder, node.lineno, alias.name != "*")


def _find_affected(found: Mapping[Path, str], needs: Mapping[Path, list[Need]]) -> dict[Path, str]:
    """Returns the reasons of files that import one of the found files, directly or not."""
    causes = {file: f"{file}, {problem}" for file, problem in found.items()}
    affected: dict[Path, str] = {}
    is_complete = False
    while not is_complete:
        is_complete = True
        for file, needed in needs.items():
            failing = next((need for need in needed if need.file in causes), None)
            if failing and file not in affected:
                causes[file] = causes[failing.file]
                start = f"line {failing.line}:" if failing.line else "its package"
                affected[file] = f"{start} imports a module that fails, {causes[file]}"
                is_complete = False
    return affected


def _find_folder(file: Path, root: str, top: Path, added: Sequence[Path]) -> Path | None:
    """Returns the folder from which a file imports a top-level module of the codebase, or None."""
    folders = [folder for folder in file.parents if folder == top or top in folder.parents]
    folders += [folder for folder in top.parents if (folder / root) in (top, *top.parents)]
    # Packages come last: Python searches a package's folder only for a script that is in it.
    folders.sort(key=lambda folder: (folder / "__init__.py").exists())
    return next((folder for folder in (*folders, *added) if _exists(folder / root)), None)


def _follow_import(folder: Path, needed: Import) -> tuple[list[Path], str]:
    """Returns the files that an import executes, and the first missing module or ""."""
    executed, path = [], folder
    names = needed.name.split(".")
    for count, name in enumerate(names, 1):
        package, path = path, path / name
        if (path / "__init__.py").is_file():
            executed.append(path / "__init__.py")
        elif path.with_suffix(".py").is_file():
            return [*executed, path.with_suffix(".py")], ""
        elif not _exists(path):
            is_last = needed.may_be_attribute and count == len(names)
            is_attribute = is_last and (package / "__init__.py").is_file()
            return executed, "" if is_attribute else ".".join(names[:count])
    return executed, ""


def _exists(module: Path) -> bool:
    return module.is_dir() or any(Path(f"{module}{suffix}").is_file() for suffix in _SUFFIXES)


def _find_not_installed(needed: Import) -> str:
    """Returns the first module of an import that is not installed, or ""."""
    names = needed.name.split(".")
    if needed.may_be_attribute:
        names.pop()
    modules = (".".join(names[: count + 1]) for count in range(len(names)))
    return next((name for name in modules if not is_installed(name)), "")


@functools.cache
def is_installed(name: str) -> bool:
    """Returns whether a module is installed, without importing its packages."""
    package, _, _ = name.rpartition(".")
    if not package:
        return name in sys.modules or importlib.util.find_spec(name) is not None
    folders = _find_module_folders(package)
    return folders is None or importlib.machinery.PathFinder.find_spec(name, folders) is not None


@functools.cache
def _find_module_folders(package: str) -> list[str] | None:
    """Returns the folders of a package's modules; None if only executing the package can tell."""
    outer = package.rpartition(".")[0]
    if not outer:
        spec = importlib.util.find_spec(package)
    else:
        folders = _find_module_folders(outer)
        spec = importlib.machinery.PathFinder.find_spec(package, folders) if folders else None
    return list(spec.submodule_search_locations or ()) or None if spec else None
