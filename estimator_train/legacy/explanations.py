"""One-line explanations of errors that end a program because something is missing or too old."""

import importlib.metadata
import re
import sys
import textwrap
import types
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement

from estimator_train.legacy import libraries
from estimator_train.legacy.imports import OWN_PACKAGES
from estimator_train.legacy.program_errors import describe_installation, explain_program_error
from estimator_train.legacy.reading.python2 import describe_python2
from estimator_train.legacy.reading.symbols import ROOTS

_TENSORFLOW = re.compile(r"(tensorflow|tf[-_]nightly)([-_](cpu|gpu))?")
_CONFLICTS = ("DistributionNotFound", "VersionConflict", "ContextualVersionConflict")
_PART = re.compile(r"cannot import name '(\w+)' from (?:partially initialized module )?'([\w.]+)'")
_COMPILED = re.compile(r"([^\s:'\"]+\.(?:so|dylib|dll|pyd)[.\d]*)\b")


def explain(error: Exception) -> str | None:
    """Returns one line that replaces the traceback; None if the program caused the error.

    Args:
      error: The error that ended the program.
    """
    error = _unwrap(error)
    if isinstance(error, SyntaxError) and error.filename:
        return _explain_syntax(error)
    if type(error).__name__ in _CONFLICTS:
        return (
            f"{error}: the script requires versions that are not installed. Run the module that "
            "the script starts: `estimator-train run -m MODULE`."
        )
    path = _find_failed_import(error.__traceback__)
    library = libraries.find_library(path) if path else None
    if library is None:
        return explain_program_error(error)
    package = _find_distribution(library, path)
    name = f"{package.name} {package.version}" if package else library.name
    return (
        _explain_compiled_part(error, name)
        or _explain_missing_module(error, library, name)
        or _explain_pin(error, package, name)
        or explain_program_error(error)
        or f"{name}: {_describe_failed_import(error, name)}."
    )


def _unwrap(error: Exception) -> Exception:
    """Returns the error that a library raised again with a longer text.

    gin raises every error as an object of a subclass with the same name and empty attributes.
    """
    inner = error.__context__
    while (
        error.__suppress_context__
        and isinstance(inner, Exception)
        and type(error).__bases__ == (type(inner),)
        and type(error).__name__ == type(inner).__name__
    ):
        error, inner = inner, inner.__context__
    return error


def _find_pin(package: importlib.metadata.Distribution) -> str | None:
    """Returns the requirement that excludes the installed TensorFlow, or None.

    A package does not exclude it if one of its requirements, such as that of an extra, accepts it.

    Args:
      package: The package; the requirements of its extras count too.
    """
    installed = _find_tensorflow_version()
    pin = None
    for text in package.requires or ():
        try:
            required = Requirement(text)
        except InvalidRequirement:
            continue
        if not _TENSORFLOW.fullmatch(required.name.lower()):
            continue
        if required.specifier.contains(installed, prereleases=True):
            return None
        pin = pin or f"{required.name}{required.specifier}"
    return pin


def describe_pin(path: str) -> str:
    """Returns a line about the TensorFlow that an installed package excludes, or "".

    Args:
      path: A folder of the package.
    """
    path = str(Path(path) / "__init__.py")
    library = libraries.find_library(path)
    package = _find_distribution(library, path) if library else None
    pin = _find_pin(package) if package else None
    if not package or not pin:
        return ""
    return (
        f"{package.name} {package.version} requires {pin}, and {_find_tensorflow_version()} is "
        "installed: pip keeps both only with --no-deps. The report above says which modules run."
    )


def _explain_syntax(error: SyntaxError) -> str:
    file = str(error.filename)
    try:
        problem = describe_python2(Path(file).read_bytes(), error)
    except OSError:
        problem = None
    return f"{file}, {problem or f'line {error.lineno}: {error.msg}.'}"


def _find_failed_import(traceback: types.TracebackType | None) -> str | None:
    """Returns the innermost file of an installed library whose import raised the error, or None.

    A module of an installed package that is the program itself (`run -m`) is no import.
    """
    found = None
    while traceback:
        frame = traceback.tb_frame
        library = libraries.find_library(frame.f_code.co_filename)
        is_import = (
            frame.f_code.co_name == "<module>" and frame.f_globals.get("__name__") != "__main__"
        )
        if library and is_import and not libraries.is_up_to_date(library):
            found = frame.f_code.co_filename
        traceback = traceback.tb_next
    return found


def _explain_compiled_part(error: Exception, name: str) -> str | None:
    """Explains a compiled part that is missing or was built for another Python or TensorFlow."""
    text = str(error).splitlines()[0] if str(error) else ""
    file = _COMPILED.search(text)
    if file and (isinstance(error, ImportError) or type(error).__name__ == "NotFoundError"):
        return (
            f"{name}: its compiled part {file[1]} cannot be loaded "
            f"({text.replace(file[1], '').strip(': ')}). Install a build of it for Python "
            f"{sys.version_info.major}.{sys.version_info.minor} and TensorFlow "
            f"{_find_tensorflow_version()}, or build it from source."
        )
    return None


def _explain_missing_module(error: Exception, library: libraries.Library, name: str) -> str | None:
    """Explains the import of a module that is not installed."""
    part = _PART.match(str(error)) if isinstance(error, ImportError) else None
    missing = error.name if isinstance(error, ModuleNotFoundError) else None
    if part and part[1].startswith("_"):
        missing = f"{part[2]}.{part[1]}"
    root = (missing or "").partition(".")[0]
    if root == library.name:
        return (
            f"{name} is installed without its module {missing}. If that is a compiled part, "
            "install a build for this Python or build it from source; otherwise try another "
            "version."
        )
    if root and root not in ROOTS:
        return (
            f"{name} needs the module {missing}, which is not installed: "
            f"{describe_installation(root)}."
        )
    return None


def _explain_pin(
    error: Exception, package: importlib.metadata.Distribution | None, name: str
) -> str | None:
    """Explains a package that was written for another TensorFlow."""
    pin = _find_pin(package) if package else None
    if not pin or not _find_cause(error, name).startswith("TensorFlow"):
        return None
    return (
        f"{name} requires {pin}, and {_describe_failed_import(error, name)}, or run "
        "`estimator-train check` on its folder to see which of its modules run."
    )


def _describe_failed_import(error: Exception, name: str) -> str:
    text = textwrap.shorten(f"{type(error).__name__}: {error}", 200, placeholder=" ...")
    return (
        f"its import fails with {_find_cause(error, name)} ({text}). Install another version of "
        f"{name.split()[0]}"
    )


def _find_cause(error: Exception, name: str) -> str:
    """Returns the package whose version broke an import, with its version; usually TensorFlow.

    Args:
      error: The error of the import.
      name: The package that is imported, with its version.
    """
    tensorflow = f"TensorFlow {_find_tensorflow_version()}"
    module = None
    if isinstance(error, AttributeError) and isinstance(error.obj, types.ModuleType):
        module = error.obj
    elif isinstance(error, ImportError) and (part := _PART.match(str(error))):
        module = sys.modules.get(part[2].partition(".")[0])
    else:
        # The innermost frame is that of the function that raised the error.
        traceback = error.__traceback__
        while traceback and traceback.tb_next:
            traceback = traceback.tb_next
        importer = traceback.tb_frame.f_globals.get("__name__", "") if traceback else ""
        module = sys.modules.get(importer.partition(".")[0])
    root = module.__name__.partition(".")[0] if module else ""
    if root in sys.stdlib_module_names:
        return f"Python {sys.version_info.major}.{sys.version_info.minor}"
    file = getattr(sys.modules.get(root), "__file__", None)
    library = libraries.find_library(file) if file else None
    if library is None or library.name in ROOTS or library.name in OWN_PACKAGES:
        return tensorflow
    package = _find_distribution(library, file)
    cause = f"{package.name} {package.version}" if package else library.name
    return tensorflow if cause == name else cause


def _find_distribution(
    library: libraries.Library, path: str | None
) -> importlib.metadata.Distribution | None:
    """Returns the package that installed a library, or None.

    Args:
      library: The library.
      path: A file of it. Several packages share a namespace such as `google`.
    """
    found = []
    for package in importlib.metadata.distributions(path=[library.folder]):
        names = (package.read_text("top_level.txt") or "").split()
        files = {file.parts[0] for file in package.files or ()} if not names else set(names)
        if {library.name, f"{library.name}.py"} & set(files):
            found.append(package)
    owners = (
        package
        for package in found
        if any(str(package.locate_file(file)) == path for file in package.files or ())
    )
    return next(owners, found[0] if found else None)


def _find_tensorflow_version() -> str:
    tensorflow = sys.modules.get("tensorflow")
    return tensorflow.__version__ if tensorflow else importlib.metadata.version("tensorflow")
