"""Reads the command of a Python program: its interpreter, its file, and the packages it imports."""

import ast
import dataclasses
import importlib.machinery
import os
import re
import shutil
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

# Letters of options, of which the last may take a value: the rest of the word or the next word.
_SHORT_OPTIONS = re.compile(r"^-([^-cmWX]*)([cmWX]?)(.*)$")
_LONG_OPTION_WITH_VALUE = "--check-hash-based-pycs"
_SETTERS = ("os.environ.setdefault", "os.putenv", "os.environ.update", "os.environ.pop")


@dataclasses.dataclass(frozen=True)
class PythonProgram:
    """Program that a Python interpreter runs.

    Attributes:
      interpreter: The interpreter and its options.
      module: Name of the module for `-m`; "" for a script.
      script: Path of the script; "" for a module.
      arguments: Arguments of the program.
    """

    interpreter: Sequence[str]
    module: str
    script: str
    arguments: Sequence[str]


@dataclasses.dataclass
class Imports:
    """What a program imports before it runs.

    Attributes:
      packages: Names of installed modules, in the order of the imports.
      variables: Environment variables that the program sets to constants.
      obstacle: Place of a statement that sets an environment variable to another value; "" if
        there is none.
    """

    packages: dict[str, None] = dataclasses.field(default_factory=dict)
    variables: dict[str, str] = dataclasses.field(default_factory=dict)
    obstacle: str = ""


def parse_command(command: Sequence[str]) -> PythonProgram | None:
    """Returns the program of a command; None if it is no Python script or module.

    Args:
      command: The program and its arguments.
    """
    if not os.path.basename(command[0]).startswith("python"):
        interpreter = _find_interpreter(command[0])
        if interpreter is None:
            return None
        return PythonProgram(interpreter, "", str(shutil.which(command[0])), command[1:])
    options, words = [command[0]], list(command[1:])
    while words and words[0] != "-":
        word = words.pop(0)
        if not word.startswith("-"):
            return PythonProgram(options, "", word, words)
        [(flags, option, value)] = _SHORT_OPTIONS.findall(word)
        if option == "c":
            return None
        if option == "m":
            options += [f"-{flags}"] if flags else []
            module, *arguments = [value, *words] if value else words or [""]
            return PythonProgram(options, module, "", arguments) if module else None
        options.append(word)
        if word == _LONG_OPTION_WITH_VALUE or (option and not value):
            options += words[:1]
            words = words[1:]
    return None


def _find_interpreter(name: str) -> list[str] | None:
    """Returns the interpreter in the first line of a command such as `estimator-train`."""
    path = shutil.which(name)
    if path is None:
        return None
    with open(path, "rb") as file:
        first = file.readline(1000)
    words = first.decode(errors="replace").removeprefix("#!").split()
    is_python = first.startswith(b"#!") and os.path.basename(words[0]).startswith("python")
    return words if is_python else None


def find_imports(program: PythonProgram, paths: Sequence[str]) -> Imports:
    """Finds the installed packages that a program imports, without running any of its code.

    It reads the program's own modules, and follows their imports; these modules are not imported.

    Args:
      program: The program.
      paths: The module search path of the program.
    """
    found = Imports()
    path = program.script or _find_source(program.module, paths)
    seen: set[str] = set()
    queue = [path] if path else []
    if program.module and _is_installed(program.module, paths):
        found.packages[program.module.partition(".")[0]] = None
        queue = []
    while queue:
        path = queue.pop(0)
        if path in seen:
            continue
        seen.add(path)
        try:
            tree = ast.parse(Path(path).read_bytes())
        except (OSError, SyntaxError, ValueError):
            continue  # The program itself raises the error.
        _read_variables(tree, path, found)
        for name in _list_imported_names(tree):
            if _is_installed(name, paths):
                found.packages[name] = None
            elif source := _find_source(name, paths):
                queue.append(source)
    return found


def _list_imported_names(tree: ast.AST) -> Iterator[str]:
    """Yields the absolute names of modules that a file imports, also within functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


def _find_source(name: str, paths: Sequence[str]) -> str | None:
    """Returns the file of a module without importing it or its packages."""
    search: Sequence[str] | None = paths
    spec = None
    for part in name.split("."):
        spec = importlib.machinery.PathFinder.find_spec(part, search) if search else None
        if spec is None:
            return None
        search = spec.submodule_search_locations
    origin = spec.origin if spec else None
    return origin if origin and origin.endswith(".py") else None


def _is_installed(name: str, paths: Sequence[str]) -> bool:
    """Returns whether a module is part of Python or of an installed package."""
    top = name.partition(".")[0]
    if top in sys.stdlib_module_names or top in ("estimator_train", "tf_contrib"):
        return True
    spec = importlib.machinery.PathFinder.find_spec(top, list(paths))
    places = [spec.origin, *(spec.submodule_search_locations or ())] if spec else []
    installed = tuple(sysconfig.get_path(key) + os.sep for key in ("purelib", "platlib", "stdlib"))
    return any(place and place.startswith(installed) for place in places)


def _read_variables(tree: ast.Module, path: str, found: Imports) -> None:
    """Reads the environment variables that the statements of a module set."""
    for statement in tree.body:
        constants = _list_constants(statement)
        if constants is None:
            found.obstacle = found.obstacle or f"{path}:{statement.lineno}"
        else:
            found.variables.update(constants)


def _list_constants(statement: ast.stmt) -> Mapping[str, str] | None:
    """Returns the variables that a statement sets; None if their values are not constants."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {}
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Subscript):
        target = statement.targets[0]
        if ast.unparse(target.value) == "os.environ":
            return _find_constant_pair(target.slice, statement.value)
    call = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(call, ast.Call) and ast.unparse(call.func) == "os.environ.setdefault":
        return _find_constant_pair(*call.args) if len(call.args) == 2 else None
    is_setter = any(
        (isinstance(node, ast.Call) and ast.unparse(node.func) in _SETTERS)
        or (isinstance(node, ast.Assign) and "os.environ[" in ast.unparse(node.targets[0]))
        for node in ast.walk(statement)
    )
    if is_setter and not _is_main_block(statement):
        return None
    return {}


def _is_main_block(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.If) and "__name__" in ast.unparse(statement.test)


def _find_constant_pair(name: ast.expr, value: ast.expr) -> Mapping[str, str] | None:
    if isinstance(name, ast.Constant) and isinstance(value, ast.Constant):
        return {str(name.value): str(value.value)}
    return None
