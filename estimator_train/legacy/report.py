"""Reads which names of TensorFlow an old codebase uses and whether they exist.

The codebase is not executed.
"""

import ast
import importlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from estimator_train.bootstrap.start_up import pause_collection
from estimator_train.legacy import generation, old_names
from estimator_train.legacy.old_names import missing
from estimator_train.legacy.old_names.view import View
from estimator_train.legacy.reading import notebooks, own_imports, symbols
from estimator_train.legacy.reading.python2 import describe_python2

UNCHANGED = "unchanged"
STAND_IN = "stand-in"
MISSING = "missing"
MISTAKE = "mistake"


class Symbol(NamedTuple):
    """A name of TensorFlow that a file uses.

    Attributes:
      name: The name as scripts write it.
      status: UNCHANGED, STAND_IN, MISSING, or MISTAKE: the original TensorFlow lacks the name too.
      lines: The lines that use it.
      hint: For a name that does not exist, the reason and what to use.
      at_import: The first of these lines that every import of the file executes; 0: none.
    """

    name: str
    status: str
    lines: list[int]
    hint: str
    at_import: int


class FileReport(NamedTuple):
    """The report about one file.

    Attributes:
      path: The file.
      generation: TF1 or TF2.
      symbols: The names that the file uses.
      problem: Why the file cannot be read, or "".
      import_problem: Why the file cannot be imported, or "".
      command: The command that runs the file if it is a script, or "".
    """

    path: str
    generation: str
    symbols: list[Symbol]
    problem: str
    import_problem: str
    command: str

    @property
    def is_covered(self) -> bool:
        """Whether the file can be imported and none of its names is missing."""
        problem = self.problem or self.import_problem
        return not problem and all(symbol.status != MISSING for symbol in self.symbols)


def report(path: str) -> list[FileReport]:
    """Reads a script and the codebase's modules that it imports, or all files of a directory.

    Args:
      path: The script or directory.

    Raises:
      FileNotFoundError: The path does not exist.
    """
    if not os.path.exists(path):
        raise FileNotFoundError(2, "No such file or directory", path)
    os.environ["TF_USE_LEGACY_KERAS"] = "1"
    with pause_collection():
        tensorflow = importlib.import_module("tensorflow")
    files = _find_files(Path(path))
    parsed = {file: _parse(file) for file in files}
    generations = _detect_generations(path, {f: tree for f, (tree, _) in parsed.items() if tree})
    reports = []
    for file, (tree, problem) in parsed.items():
        chosen = generations.get(file) or generation.detect_for_script(str(file), tensorflow)
        command = f"estimator-train run {file}" if tree and _is_script(tree) else ""
        found = _check_symbols(tree, chosen) if tree else []
        reports.append(FileReport(str(file), chosen, found, problem, "", command))
    problems = own_imports.find_problems(
        {_make_absolute(file): tree for file, (tree, _) in parsed.items()},
        {
            _make_absolute(file.path): problem
            for file in reports
            if (problem := _find_problem(file))
        },
        _make_absolute(path if os.path.isdir(path) else os.path.dirname(path)),
    )
    return [r._replace(import_problem=problems.get(_make_absolute(r.path), "")) for r in reports]


def _make_absolute(path: str | Path) -> Path:
    return Path(os.path.abspath(path))


def _find_problem(file: FileReport) -> str:
    """Returns why a file itself cannot be imported, or ""."""
    missing_symbols = [s for s in file.symbols if s.status in (MISSING, MISTAKE) and s.at_import]
    first = min(missing_symbols, key=lambda symbol: symbol.at_import, default=None)
    return file.problem or (f"line {first.at_import}: {first.hint}" if first else "")


def _find_files(path: Path) -> list[Path]:
    if path.is_dir():
        return sorted(path.rglob("*.py"))
    modules = (file for file, _ in generation.find_sources(str(path)))
    folder = path.resolve().parent
    imported = (file for file in modules if file.is_relative_to(folder) and file != path.resolve())
    return [path, *(path.parent / file.relative_to(folder) for file in sorted(imported))]


def _detect_generations(path: str, files: Mapping[Path, ast.Module]) -> dict[Path, str]:
    """Returns the generation of each file: TF1 if a script of TensorFlow 1 imports it.

    All modules of a package have the same generation.
    """
    tensorflow = importlib.import_module("tensorflow")
    if Path(path, "__init__.py").exists():
        return dict.fromkeys(files, generation.detect_for_package([*files.values()], tensorflow))
    by_resolved_path = {file.resolve(): file for file in files}
    found: dict[Path, str] = {}
    for script in (file for file, tree in files.items() if _is_script(tree)):
        chosen = generation.detect_for_script(str(script), tensorflow)
        for source, _ in generation.find_sources(str(script)):
            file = by_resolved_path.get(source)
            if file and (file == script or found.get(file) != old_names.TF1):
                found[file] = chosen
    return found


def _parse(file: Path) -> tuple[ast.Module | None, str]:
    source = notebooks.read_source(file)
    try:
        return ast.parse(source), ""
    except (SyntaxError, ValueError) as error:
        problem = f"line {getattr(error, 'lineno', 0)}: {error}"
        return None, describe_python2(source, error) or problem


def _check_symbols(tree: ast.Module, chosen: str) -> list[Symbol]:
    found: dict[str, list[symbols.Use]] = {}
    for use in symbols.find_uses(tree):
        found.setdefault(use.symbol, []).append(use)
    return [_check_symbol(name, places, chosen, tree) for name, places in sorted(found.items())]


def _check_symbol(
    dotted: str, uses: Sequence[symbols.Use], chosen: str, tree: ast.Module
) -> Symbol:
    status, hint = UNCHANGED, ""
    at_import = [use for use in uses if use.at_import]
    line = at_import[0].line if at_import else 0
    try:
        _, *values = old_names.tree(chosen).walk(dotted)
        for value in values:
            if _find_module(value).startswith(("estimator_train.", "tf_contrib.")):
                status = STAND_IN
    except (AttributeError, ImportError) as error:
        status = MISTAKE if missing.is_mistake(dotted) else MISSING
        hint = str(error)
        module = dotted.rpartition(".")[0]
        is_postponed = isinstance(error, missing.MissingSymbol) and old_names.is_postponed(module)
        if is_postponed and all(use.is_bound for use in at_import):
            line = symbols.find_first_use_at_import(tree, dotted) if line else 0
    lines = sorted({use.line for use in uses})
    return Symbol(missing.shorten(dotted), status, lines, hint, line)


def _find_module(value: object) -> str:
    """Returns the name of the module that an object comes from."""
    if isinstance(value, View) and value._backing:
        value = value._backing[0]
    if isinstance(value, ModuleType):
        return value.__name__
    return str(getattr(value, "__module__", None))


def _is_script(tree: ast.Module) -> bool:
    """Returns whether a file does more than import and define names."""
    definitions = (
        ast.Import,
        ast.ImportFrom,
        ast.FunctionDef,
        ast.AsyncFunctionDef,
        ast.ClassDef,
        ast.Assign,
        ast.AnnAssign,
    )
    return any(
        not isinstance(node, definitions)
        and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        for node in tree.body
    )
