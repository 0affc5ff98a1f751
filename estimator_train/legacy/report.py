"""Which names of TensorFlow an old codebase uses, and whether they exist; nothing is executed."""

import ast
import importlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from estimator_train.legacy import generation, trees
from estimator_train.legacy.reading import own_imports, symbols
from estimator_train.legacy.reading.python2 import python2_problem
from estimator_train.legacy.trees import missing
from estimator_train.legacy.trees.view import View

AS_IT_IS = "as it is"
STAND_IN = "stand-in"
MISSING = "missing"


class Symbol(NamedTuple):
    """A name that a file uses.

    Attributes:
      name: As scripts spell it.
      status: AS_IT_IS, STAND_IN or MISSING.
      lines: Where.
      hint: What to use, of a missing one.
      at_import: The line that an import of the file comes by for certain; 0 if there is none.
    """

    name: str
    status: str
    lines: list[int]
    hint: str
    at_import: int


class FileReport(NamedTuple):
    """What is known of one file.

    Attributes:
      path: The file.
      generation: TF1 or TF2.
      symbols: The names that it uses.
      problem: Why it cannot be read; empty if it can.
      import_problem: Why it cannot be imported; empty if nothing tells against it.
      command: How to run it, if it is a script.
    """

    path: str
    generation: str
    symbols: list[Symbol]
    problem: str
    import_problem: str
    command: str

    @property
    def is_covered(self) -> bool:
        """Whether all that it uses is there."""
        problem = self.problem or self.import_problem
        return not problem and all(symbol.status != MISSING for symbol in self.symbols)


def report(path: str) -> list[FileReport]:
    """Reads a script with the modules of its own that it imports, or all files of a directory.

    Args:
      path: The script or directory.

    Raises:
      FileNotFoundError: There is no such file or directory.
    """
    if not os.path.exists(path):
        raise FileNotFoundError(2, "No such file or directory", path)
    os.environ["TF_USE_LEGACY_KERAS"] = "1"
    tensorflow = importlib.import_module("tensorflow")
    files = _files(Path(path))
    parsed = {file: _parsed(file) for file in files}
    generations = _generations(path, {f: tree for f, (tree, _) in parsed.items() if tree})
    reports = []
    for file, (tree, problem) in parsed.items():
        chosen = generations.get(file) or generation.of_script(str(file), tensorflow)
        command = f"estimator-train run {file}" if tree and _is_script(tree) else ""
        found = _symbols(symbols.uses(tree) if tree else [], chosen)
        reports.append(FileReport(str(file), chosen, found, problem, "", command))
    problems = own_imports.problems(
        {_absolute(file): tree for file, (tree, _) in parsed.items()},
        {_absolute(file.path): _own_problem(file) for file in reports if _own_problem(file)},
        _absolute(path if os.path.isdir(path) else os.path.dirname(path)),
    )
    return [r._replace(import_problem=problems.get(_absolute(r.path), "")) for r in reports]


def _absolute(path: str | Path) -> Path:
    return Path(os.path.abspath(path))


def _own_problem(file: FileReport) -> str:
    """Why a file cannot be imported, by what is in itself; "" if nothing tells against it."""
    bad = [s for s in file.symbols if s.status == MISSING and s.at_import]
    first = min(bad, key=lambda symbol: symbol.at_import, default=None)
    return file.problem or (f"line {first.at_import}: {first.hint}" if first else "")


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        return sorted(path.rglob("*.py"))
    modules = (file for file, _ in generation.sources(str(path)))
    beside = path.resolve().parent
    own = (file for file in modules if file.is_relative_to(beside) and file != path.resolve())
    return [path, *(path.parent / file.relative_to(beside) for file in sorted(own))]


def _generations(path: str, files: Mapping[Path, ast.Module]) -> dict[Path, str]:
    """What files were written for: TF1 if one of the scripts that import them was.

    The modules of a package have one generation, whichever script imports them.
    """
    tensorflow = importlib.import_module("tensorflow")
    if Path(path, "__init__.py").exists():
        return dict.fromkeys(files, generation.of_package([*files.values()], tensorflow))
    named = {file.resolve(): file for file in files}
    found: dict[Path, str] = {}
    for script in (file for file, tree in files.items() if _is_script(tree)):
        chosen = generation.of_script(str(script), tensorflow)
        for source, _ in generation.sources(str(script)):
            file = named.get(source)
            if file and (file == script or found.get(file) != generation.TF1):
                found[file] = chosen
    return found


def _parsed(file: Path) -> tuple[ast.Module | None, str]:
    source = file.read_bytes()
    try:
        return ast.parse(source), ""
    except (SyntaxError, ValueError) as error:
        problem = f"line {getattr(error, 'lineno', 0)}: {error}"
        return None, python2_problem(source, error) or problem


def _symbols(uses: Sequence[symbols.Use], chosen: str) -> list[Symbol]:
    found: dict[str, list[symbols.Use]] = {}
    for use in uses:
        found.setdefault(use.symbol, []).append(use)
    return [_judged(name, where, chosen) for name, where in sorted(found.items())]


def _judged(dotted: str, uses: Sequence[symbols.Use], chosen: str) -> Symbol:
    status, hint = AS_IT_IS, ""
    try:
        for value in _steps(dotted, chosen):
            if _home(value).startswith("estimator_train."):
                status = STAND_IN
    except (AttributeError, ImportError) as error:
        status, hint = MISSING, str(error)
    lines = sorted({use.line for use in uses})
    at_import = next((use.line for use in uses if use.at_import), 0)
    return Symbol(missing.short(dotted), status, lines, hint, at_import)


def _steps(dotted: str, chosen: str) -> Iterator[Any]:
    """The objects along a dotted name; beyond a module or class nothing can be told."""
    root, *inner = dotted.split(".")
    value: Any = trees.tree(chosen).module(root)
    for name in inner:
        if not isinstance(value, ModuleType):
            return
        value = getattr(value, name)
        yield value


def _home(value: Any) -> str:
    """The module that an object comes from."""
    if isinstance(value, View):
        value = value._behind[0] if value._behind else value
    if isinstance(value, ModuleType):
        return value.__name__
    return str(getattr(value, "__module__", None))


def _is_script(tree: ast.Module) -> bool:
    """Whether a file does something by itself, more than to define and import."""
    passive = (
        ast.Import,
        ast.ImportFrom,
        ast.FunctionDef,
        ast.AsyncFunctionDef,
        ast.ClassDef,
        ast.Assign,
        ast.AnnAssign,
    )
    return any(
        not isinstance(node, passive)
        and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        for node in tree.body
    )
