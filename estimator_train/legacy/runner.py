"""Runs a script or module as `python` would, with the names that it was written for."""

import importlib
import importlib.machinery
import linecache
import os
import sys
import types
from collections.abc import Sequence
from traceback import print_exception
from typing import NamedTuple

from estimator_train.legacy import libraries, preparation, seeds
from estimator_train.legacy.reading import notebooks
from estimator_train.legacy.reading.slice_lists import compile_source


class ScriptError(ValueError):
    """Error of a script that does not exist, is not Python 3, or needs a missing package."""


class Program(NamedTuple):
    """A program that is ready to run.

    Attributes:
      name: The first element of `sys.argv`.
      path: The source file, absolute.
      code: The compiled source.
      spec: The spec of a module that was found by its name; None for a script.
      directory: The first element of `sys.path`.
    """

    name: str
    path: str
    code: types.CodeType
    spec: importlib.machinery.ModuleSpec | None
    directory: str


def load_script(path: str) -> Program:
    """Compiles a script, the code cells of a notebook, or the `__main__.py` of a directory.

    Raises:
      ScriptError: The file does not exist or is not Python 3.
    """
    if os.path.isdir(path):
        path = os.path.join(path, "__main__.py")
    try:
        source = notebooks.read_source(path)
    except OSError as error:
        raise ScriptError(f"{path}: {error.strerror}. Is it the right directory?") from error
    except SyntaxError as error:
        raise ScriptError(f"{path}: {error.msg}.") from error
    full, directory = os.path.abspath(path), os.path.dirname(os.path.realpath(path))
    if path.endswith(notebooks.SUFFIX):
        # Tracebacks quote lines of the cells, not of the notebook's JSON.
        lines = source.decode().splitlines(keepends=True)
        linecache.cache[full] = (len(source), None, lines, full)
    return Program(path, full, _compile(source, full), None, directory)


def load_module(name: str) -> Program:
    """Compiles a module that is found from the working directory.

    Raises:
      ScriptError: The module does not exist or is not Python 3.
    """
    sys.path[0] = os.getcwd()
    spec = _find_spec(name)
    if spec is not None and spec.submodule_search_locations is not None:
        spec = _find_spec(f"{name}.__main__")
    if spec is None or spec.origin is None or not os.path.isfile(spec.origin):
        raise ScriptError(f"no runnable module named '{name}' in {os.getcwd()}.")
    with open(spec.origin, "rb") as file:
        code = _compile(file.read(), spec.origin)
    return Program(spec.origin, spec.origin, code, spec, os.getcwd())


def _find_spec(name: str) -> importlib.machinery.ModuleSpec | None:
    """Finds a module without importing its packages; returns None if it does not exist.

    The packages are imported later, after the redirection of their imports.
    """
    folders: Sequence[str] | None = None
    spec, parts = None, name.split(".")
    for length in range(1, len(parts) + 1):
        try:
            spec = importlib.machinery.PathFinder.find_spec(".".join(parts[:length]), folders)
        except KeyError:
            # A folder without __init__.py inside another one asks its parent, not imported yet.
            folders = [os.path.join(folder, parts[length - 1]) for folder in folders or ()]
            continue
        if spec is None:
            return None
        locations = spec.submodule_search_locations
        if locations is None and length < len(parts):
            return None
        folders = getattr(locations, "_path", locations)
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
      arguments: The arguments of the program.
      choice: TF1 or TF2; None: detect it from the source.
      seed: Seed of all random numbers for which the program sets no seed; None: do not seed.

    Returns:
      The exit code: 0, or 1 after an error whose traceback was printed.

    Raises:
      SystemExit: Raised by the program.
      ScriptError: The program imported a module that is not Python 3, or an installed package that
        is incomplete or was written for another TensorFlow.
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
    # An installed program such as pytest runs a codebase, whose source decides the generation.
    source = None if libraries.find_library(program.path) else program.path
    preparation.install(program.directory, choice, source=source, seed=seed)
    try:
        if spec and spec.parent:
            importlib.import_module(spec.parent)
        exec(program.code, main.__dict__)
    except Exception as error:
        text = _explain(error)
        if text:
            raise ScriptError(text) from error
        _print_traceback(error, program.path)
        return 1
    return 0


def _compile(source: bytes, path: str) -> types.CodeType:
    try:
        return compile_source(source, path)
    except (SyntaxError, ValueError) as error:
        raise ScriptError(_explain(error) or f"{path}: {error}.") from error


def _explain(error: Exception) -> str | None:
    # Imported here so that a program starts faster.
    from estimator_train.legacy import explanations

    return explanations.explain(error)


def _print_traceback(error: Exception, path: str) -> None:
    """Prints the traceback that `python` would print, which starts in the script."""
    traceback = error.__traceback__
    while traceback and traceback.tb_frame.f_code.co_filename != path:
        traceback = traceback.tb_next
    traceback = _drop_import_frames(traceback)
    error.__traceback__ = traceback
    if sys.excepthook is sys.__excepthook__:
        # Finds the lines of a notebook, which Python's own hook reads from the file.
        print_exception(error)
    else:
        sys.excepthook(type(error), error, traceback)


def _drop_import_frames(traceback: types.TracebackType | None) -> types.TracebackType | None:
    """Returns the traceback without frames that find old names or define those of tf.contrib."""
    this_folder = os.path.dirname(__file__)
    contrib = os.path.join(os.path.dirname(os.path.dirname(this_folder)), "tf_contrib")
    own_folders = (f"{this_folder}{os.sep}", f"{contrib}{os.sep}")
    entries = []
    while traceback:
        if not traceback.tb_frame.f_code.co_filename.startswith(own_folders):
            entries.append(traceback)
        traceback = traceback.tb_next
    last: types.TracebackType | None = None
    for entry in reversed(entries):
        last = types.TracebackType(last, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return last
