"""Runs a script or module as Python itself would, for the names of its own time."""

import importlib
import importlib.machinery
import os
import sys
import types
from collections.abc import Sequence
from typing import Any, NamedTuple

from estimator_train.legacy import seeds, setup


class ScriptError(ValueError):
    """The script cannot be run: it is not there, not Python 3, or needs what is not installed."""


class Program(NamedTuple):
    """A program as Python would start it.

    Attributes:
      name: What `sys.argv` begins with.
      path: Its source file, absolute.
      code: That, compiled.
      spec: How it was found, if by its module's name.
      directory: What Python puts first on its path.
    """

    name: str
    path: str
    code: types.CodeType
    spec: Any
    directory: str


def script(path: str) -> Program:
    """A program by its file, or by the directory of its `__main__.py`.

    Raises:
      ScriptError: It does not exist, or is not Python 3.
    """
    if os.path.isdir(path):
        path = os.path.join(path, "__main__.py")
    try:
        with open(path, "rb") as file:
            source = file.read()
    except OSError as error:
        raise ScriptError(f"{path}: {error.strerror}. Is it the right directory?") from error
    full, directory = os.path.abspath(path), os.path.dirname(os.path.realpath(path))
    return Program(path, full, _compiled(source, full), None, directory)


def module(name: str) -> Program:
    """A program by its module's name, looked for from the working directory.

    Raises:
      ScriptError: It does not exist, or is not Python 3.
    """
    sys.path[0] = os.getcwd()
    spec = _found(name)
    if spec is not None and spec.submodule_search_locations is not None:
        spec = _found(f"{name}.__main__")
    if spec is None or spec.origin is None or not os.path.isfile(spec.origin):
        raise ScriptError(f"no module named '{name}' that can be run, in {os.getcwd()}.")
    with open(spec.origin, "rb") as file:
        code = _compiled(file.read(), spec.origin)
    return Program(spec.origin, spec.origin, code, spec, os.getcwd())


def _found(name: str) -> Any:
    """How a module is found, without an import of the packages around it; None if it is not.

    They are imported once they see the names of their time.
    """
    places, spec, parts = None, None, name.split(".")
    for length in range(1, len(parts) + 1):
        spec = importlib.machinery.PathFinder.find_spec(".".join(parts[:length]), places)
        if spec is None:
            return None
        places = spec.submodule_search_locations
        if places is None and length < len(parts):
            return None
    return spec


def run(
    program: Program,
    arguments: Sequence[str],
    choice: str | None = None,
    seed: int | None = None,
) -> int:
    """Runs a program to its end.

    Args:
      program: The program.
      arguments: Its arguments.
      choice: TF1 or TF2; None: told from its source.
      seed: Of all random numbers for which the program sets no seed; None: not seeded.

    Returns:
      The exit code: 0, or 1 after an error, of which the traceback is written.

    Raises:
      SystemExit: The program's own.
      ScriptError: It ended by a module that is not Python 3, or by the import of an installed
        package that lacks a part or was written for another TensorFlow.
    """
    sys.argv = [program.name, *arguments]
    sys.path[0] = program.directory
    main = types.ModuleType("__main__")
    spec = program.spec
    main.__dict__.update(
        __file__=program.path,
        __spec__=spec,
        __package__=spec.parent if spec else None,
        __loader__=spec.loader if spec else None,
        __cached__=None,
        __builtins__=__builtins__,
    )
    sys.modules["__main__"] = main
    if seed is not None:
        seeds.seed_python(seed)
    setup.install(program.directory, choice, source=program.path, seed=seed)
    try:
        if spec and spec.parent:
            importlib.import_module(spec.parent)
        exec(program.code, main.__dict__)
    except Exception as error:
        text = _explanation(error)
        if text:
            raise ScriptError(text) from error
        _write(error, program.path)
        return 1
    return 0


def _compiled(source: bytes, path: str) -> types.CodeType:
    try:
        return compile(source, path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        raise ScriptError(_explanation(error) or f"{path}: {error}.") from error


def _explanation(error: Exception) -> str | None:
    # Only now: the start of a program is not to wait.
    from estimator_train.legacy import explanations

    return explanations.explanation(error)


def _write(error: Exception, path: str) -> None:
    """Writes the traceback as Python would have, which starts in the script."""
    traceback = error.__traceback__
    while traceback and traceback.tb_frame.f_code.co_filename != path:
        traceback = traceback.tb_next
    traceback = _without_ours(traceback)
    sys.excepthook(type(error), error.with_traceback(traceback), traceback)


def _without_ours(traceback: types.TracebackType | None) -> types.TracebackType | None:
    """The same without the frames by which imports were answered."""
    own = os.path.dirname(__file__)
    kept = []
    while traceback:
        if os.path.dirname(traceback.tb_frame.f_code.co_filename) != own:
            kept.append(traceback)
        traceback = traceback.tb_next
    last: types.TracebackType | None = None
    for entry in reversed(kept):
        last = types.TracebackType(last, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return last
