"""Errors of a program whose cause is not in it, in one line: what is wrong and what to do."""

import importlib.metadata
import re
import sys
import types
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement

from estimator_train.legacy import libraries
from estimator_train.legacy.reading.python2 import python2_problem
from estimator_train.legacy.reading.symbols import ROOTS

_TENSORFLOW = re.compile(r"(tensorflow|tf[-_]nightly)([-_](cpu|gpu))?")
_CONFLICTS = ("DistributionNotFound", "VersionConflict", "ContextualVersionConflict")
_PART = re.compile(r"cannot import name '(\w+)' from (?:partially initialized module )?'([\w.]+)'")
_COMPILED = re.compile(r"([^\s:'\"]+\.(?:so|dylib|dll|pyd)[.\d]*)\b")


def explanation(error: Exception) -> str | None:
    """What a user is told instead of a traceback; None where the program itself is at fault.

    Args:
      error: What ended the program.
    """
    if isinstance(error, SyntaxError) and error.filename:
        return _syntax(error)
    if type(error).__name__ in _CONFLICTS:
        return (
            f"{error}: the script asks for versions that are not installed. Run the module that "
            "it starts instead: `estimator-train run -m MODULE`."
        )
    library = _importing(error.__traceback__)
    if library is None:
        return None
    package = _distribution(library)
    name = f"{package.name} {package.version}" if package else library.name
    return (
        _compiled(error, name) or _incomplete(error, library, name) or _pinned(error, package, name)
    )


def pin(package: importlib.metadata.Distribution) -> str | None:
    """The requirement by which a package excludes the TensorFlow that is installed.

    Args:
      package: The package; also what it requires for one of its extras is looked at.
    """
    installed = _version_of_tensorflow()
    for text in package.requires or ():
        try:
            wanted = Requirement(text)
        except InvalidRequirement:
            continue
        is_it = _TENSORFLOW.fullmatch(wanted.name.lower())
        if is_it and not wanted.specifier.contains(installed, prereleases=True):
            return f"{wanted.name}{wanted.specifier}"
    return None


def pin_of(path: str) -> str:
    """What to know of the installed package that a file or folder is of; "" if nothing is."""
    library = libraries.library_of(str(Path(path) / "__init__.py"))
    package = _distribution(library) if library else None
    wanted = pin(package) if package else None
    if not package or not wanted:
        return ""
    return (
        f"{package.name} {package.version} asks for {wanted}, and {_version_of_tensorflow()} is "
        "installed: pip keeps both only with --no-deps. What of it runs is told above."
    )


def _syntax(error: SyntaxError) -> str:
    file = str(error.filename)
    try:
        problem = python2_problem(Path(file).read_bytes(), error)
    except OSError:
        problem = None
    return f"{file}, {problem or f'line {error.lineno}: {error.msg}.'}"


def _importing(traceback: types.TracebackType | None) -> libraries.Library | None:
    """The installed library in whose import an error was raised, the innermost one."""
    found = None
    while traceback:
        code = traceback.tb_frame.f_code
        library = libraries.library_of(code.co_filename)
        if library and code.co_name == "<module>" and not libraries.is_as_it_is(library):
            found = library
        traceback = traceback.tb_next
    return found


def _compiled(error: Exception, name: str) -> str | None:
    """About a compiled part of a package that is not there, or was built for something else."""
    text = str(error).splitlines()[0] if str(error) else ""
    file = _COMPILED.search(text)
    if file and (isinstance(error, ImportError) or type(error).__name__ == "NotFoundError"):
        return (
            f"{name}: its compiled part {file[1]} cannot be loaded "
            f"({text.replace(file[1], '').strip(': ')}). Install a build of it for Python "
            f"{sys.version_info.major}.{sys.version_info.minor} and TensorFlow "
            f"{_version_of_tensorflow()}, or build it from source."
        )
    return None


def _incomplete(error: Exception, library: libraries.Library, name: str) -> str | None:
    """About a module that a package imports and that is not installed."""
    part = _PART.match(str(error)) if isinstance(error, ImportError) else None
    missing = error.name if isinstance(error, ModuleNotFoundError) else None
    if part and part[1].startswith("_"):
        missing = f"{part[2]}.{part[1]}"
    root = (missing or "").partition(".")[0]
    if root == library.name:
        return (
            f"{name} is installed without its module {missing}. If that is a compiled part, "
            "install a build for this Python or build it from source; else another version has it."
        )
    if root and root not in ROOTS:
        return f"{name} needs the module {missing}, which is not installed: `pip install` it."
    return None


def _pinned(
    error: Exception, package: importlib.metadata.Distribution | None, name: str
) -> str | None:
    """About a package that was written for another TensorFlow."""
    wanted = pin(package) if package else None
    if not wanted:
        return None
    text = f"{type(error).__name__}: {error}".splitlines()[0]
    return (
        f"{name} asks for {wanted}, and with TensorFlow {_version_of_tensorflow()} its import "
        f"fails ({text}). Install a later version of it, or see by `estimator-train check` on its "
        "folder which of its modules do run."
    )


def _distribution(library: libraries.Library) -> importlib.metadata.Distribution | None:
    """The package that brought an installed library."""
    for package in importlib.metadata.distributions(path=[library.folder]):
        names = (package.read_text("top_level.txt") or "").split()
        files = {file.parts[0] for file in package.files or ()} if not names else set(names)
        if {library.name, f"{library.name}.py"} & set(files):
            return package
    return None


def _version_of_tensorflow() -> str:
    tensorflow = sys.modules.get("tensorflow")
    return tensorflow.__version__ if tensorflow else importlib.metadata.version("tensorflow")
