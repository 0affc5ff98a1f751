"""One-line explanations of errors at which a program ends because it lacks something.

These are a removed name of TensorFlow or of another library, a module that is not installed, a file
that does not exist, a download, a compiled operation and a device.
"""

import ast
import errno
import importlib.metadata
import os
import re
import sys
import types
import urllib.error
from pathlib import Path

from estimator_train.legacy import libraries
from estimator_train.legacy.codebase import is_codebase_file
from estimator_train.legacy.imports import OWN_TREES, ROOTS
from estimator_train.legacy.old_names.missing import MissingSymbol
from estimator_train.legacy.reading import notebooks, own_imports

# Packages with another name than their module; the last ones were modules of Python until 3.13.
_PACKAGES = {
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python",
    "dateutil": "python-dateutil",
    "distutils": "setuptools",
    "git": "GitPython",
    "gin": "gin-config",
    "google.auth": "google-auth",
    "google.cloud.bigquery": "google-cloud-bigquery",
    "google.cloud.logging": "google-cloud-logging",
    "google.cloud.storage": "google-cloud-storage",
    "google.oauth2": "google-auth",
    "google.protobuf": "protobuf",
    "PIL": "pillow",
    "pkg_resources": "setuptools<81",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "tree": "dm-tree",
    "sonnet": "dm-sonnet",
    "yaml": "PyYAML",
    "audioop": "audioop-lts",
    **{
        name: f"standard-{name}"
        for name in ("aifc", "asynchat", "asyncore", "chunk", "imghdr", "sndhdr", "telnetlib", "uu")
    },
}
_NO_FILE = re.compile(r"(\S+); No such file or directory")
_NO_MATCH = re.compile(r"Failed to find any matching files for (\S+)")
_NO_LIBRARY = re.compile(r"([^\s:'\"]+\.(?:so|dylib|dll))\b")
_NO_NAME = re.compile(r"cannot import name '(\w+)' from '([\w.]+)'")
_NOT_INSTALLED = re.compile(r"([\w.]+)\.(\w+) does not exist in the installed ")
_NO_DOWNLOAD = re.compile(r"URL fetch failure on (\S+): None")
_NO_SERVER = ("ConnectionError", "MaxRetryError", "NewConnectionError", "NameResolutionError")
# The versions that have a removed name, or a name below it.
_VERSIONS = {
    "pandas.Panel": "pandas<0.25",
    "scipy.misc": "scipy<1.3",
    "scipy.misc.central_diff_weights": "scipy<1.12",
    "scipy.misc.derivative": "scipy<1.12",
    "tensorflow_hub.Module": "tensorflow-hub<0.13",
}
_ARRAY_CONVERSION = "only 0-dimensional arrays can be converted to Python scalars"
_DEVICE = re.compile(
    r"Cannot assign a device for operation (\S+?):.*?(device:(?:GPU|TPU):\d+)", re.S
)


def explain_program_error(error: Exception) -> str | None:
    """Returns one line that says what the program lacks, or None.

    Args:
      error: The error that ended the program.
    """
    place = _find_place(error.__traceback__)
    text = (
        _describe_other_version(error)
        or _describe_missing_name(error)
        or _describe_missing_module(error)
        or _describe_missing_download(error)
        or _describe_missing_file(error)
        or _describe_missing_device(error)
        or _describe_array_conversion(error)
    )
    return f"{place}: {text}" if place and text else None


def describe_installation(module: str) -> str:
    """Returns how to install a module that is missing.

    Args:
      module: The dotted name of the module.
    """
    names = module.split(".")
    paths = (".".join(names[:count]) for count in range(len(names), 0, -1))
    package = next((_PACKAGES[path] for path in paths if path in _PACKAGES), None)
    return f"run `pip install '{package}'`" if package else "`pip install` it"


def _find_place(traceback: types.TracebackType | None) -> str | None:
    """Returns the file and line of the program at which the error occurred."""
    place = None
    while traceback:
        path = traceback.tb_frame.f_code.co_filename
        if is_codebase_file(path):
            place = f"{os.path.relpath(path)}, line {traceback.tb_lineno}"
        traceback = traceback.tb_next
    return place


def _describe_missing_name(error: Exception) -> str | None:
    is_import = isinstance(error, ImportError) and not isinstance(error, ModuleNotFoundError)
    if isinstance(error, MissingSymbol) or (is_import and error.__suppress_context__):
        text = str(error)
        if text.startswith(("tf.", "tensorflow")):
            return f"{text} `estimator-train check` lists all such names of a codebase."
        return text
    return None


def _describe_missing_module(error: Exception) -> str | None:
    if not isinstance(error, ModuleNotFoundError) or not error.name:
        return None
    if error.name.partition(".")[0] in ROOTS and not str(error).startswith("No module named"):
        return str(error)
    own = _find_own_package(error.name, error.__traceback__)
    if own == error.name:
        return f"add the folder that contains the program's package {own} to PYTHONPATH."
    if own:
        return (
            f"the program's own package {own} has no module {error.name}. Add its file, or put the "
            "folder of the version that has it first on PYTHONPATH."
        )
    others = _find_other_missing_modules(error.name, error.__traceback__)
    text = (
        f"the module {error.name} is not installed: {describe_installation(error.name)}, or add "
        "the folder that contains it to PYTHONPATH."
    )
    return f"{text} Also not installed: {', '.join(others)}." if others else text


def _find_own_package(module: str, traceback: types.TracebackType | None) -> str | None:
    """Returns the package of the program that lacks a module, or None.

    Args:
      module: The dotted name of the missing module.
      traceback: The traceback of the import.
    """
    root = module.partition(".")[0]
    loaded = sys.modules.get(root)
    if loaded is not None:
        folders = list(getattr(loaded, "__path__", ()))
        return root if any(is_codebase_file(folder) for folder in folders) else None
    files = _list_program_files(traceback)
    return root if any(os.path.basename(os.path.dirname(f)) == root for f in files) else None


def _find_other_missing_modules(module: str, traceback: types.TracebackType | None) -> list[str]:
    """Returns the top-level modules that the program imports and that are not installed either.

    Args:
      module: The dotted name of the module whose import failed.
      traceback: The traceback of the import, which names the files that are read.
    """
    found = set()
    for path in _list_program_files(traceback):
        try:
            tree = ast.parse(notebooks.read_source(path))
        except (OSError, SyntaxError, ValueError):
            continue
        for needed in own_imports.find_imports(Path(path), tree):
            root = needed.name.partition(".")[0]
            if not needed.folder and root not in ROOTS and not own_imports.is_installed(root):
                found.add(root)
    return sorted(found - {module.partition(".")[0]})


def _list_program_files(traceback: types.TracebackType | None) -> list[str]:
    """Returns the files of the program in a traceback."""
    paths = []
    while traceback:
        paths.append(traceback.tb_frame.f_code.co_filename)
        traceback = traceback.tb_next
    return [path for path in dict.fromkeys(paths) if is_codebase_file(path)]


def _describe_other_version(error: Exception) -> str | None:
    """Describes a name that the installed version of a library does not have."""
    module, name = "", ""
    if isinstance(error, (AttributeError, ImportError)) and (
        found := _NOT_INSTALLED.match(str(error))
    ):
        module, name = found.groups()
    elif isinstance(error, AttributeError) and isinstance(error.obj, types.ModuleType):
        module, name = error.obj.__name__, error.name or ""
    elif isinstance(error, ImportError) and (found := _NO_NAME.match(str(error))):
        name, module = found.groups()
    root = module.partition(".")[0]
    file = getattr(sys.modules.get(root), "__file__", None)
    if root in OWN_TREES or not file or not libraries.find_library(file):
        return None
    package = _find_package(root)
    if package is None:
        return None
    version = importlib.metadata.version(package)
    names = (f"{module}.{name}", module)
    wanted = next((_VERSIONS[dotted] for dotted in names if dotted in _VERSIONS), None)
    advice = (
        f"Install a version that has it: `pip install '{wanted}'`."
        if wanted
        else "Install the version that the program was written for, as its requirements may say."
    )
    return f"{package} {version} has no {module}.{name}. {advice}"


def _find_package(module: str) -> str | None:
    """Returns the name of the installed package that has a top-level module; None without one."""
    for name in importlib.metadata.packages_distributions().get(module, ()):
        return name
    # Python 3.10 knows only the modules of packages that list them.
    for package in importlib.metadata.distributions():
        if any(file.parts[0] == module for file in package.files or ()):
            return package.name
    return None


def _describe_missing_download(error: Exception) -> str | None:
    """Describes a download from a server that this machine cannot reach."""
    found = _NO_DOWNLOAD.search(str(error))
    is_unreachable = type(error) is urllib.error.URLError or (
        type(error).__name__ in _NO_SERVER
        and type(error).__module__.partition(".")[0] in ("requests", "urllib3")
    )
    if not found and not is_unreachable:
        return None
    what = found[1] if found else "a file"
    return (
        f"the program downloads {what}, and this machine cannot reach the server ({error}). "
        "Download the file elsewhere, and put it where the program looks for it."
    )


def _describe_missing_file(error: Exception) -> str | None:
    text = str(error)
    library = _NO_LIBRARY.search(text.partition("\n")[0])
    is_tensorflow = type(error).__module__.startswith("tensorflow.")
    if library and is_tensorflow:
        return (
            f"the compiled operation {library[1]} cannot be loaded. Build it from source for the "
            "installed TensorFlow."
        )
    found = _NO_FILE.search(text) or _NO_MATCH.search(text) if is_tensorflow else None
    if isinstance(error, OSError) and error.errno == errno.ENOENT and error.filename:
        name = os.fsdecode(error.filename)
    elif found:
        name = found[1]
    else:
        return None
    return (
        f"{name} does not exist, or the directory to write it to. Relative paths start in the "
        "working directory."
    )


def _describe_missing_device(error: Exception) -> str | None:
    if isinstance(error, RuntimeError) and str(error).startswith("Cannot find any TPU"):
        return str(error)
    found = _DEVICE.search(str(error))
    if not found:
        return None
    return (
        f"the program needs {found[2]}, on which it places {found[1]}, and this machine has none. "
        "Set allow_soft_placement=True in its ConfigProto, or choose another device."
    )


def _describe_array_conversion(error: Exception) -> str | None:
    """Describes `float(array)` or `int(array)` of an array of shape [1] or [1, 1]."""
    if not isinstance(error, TypeError) or str(error) != _ARRAY_CONVERSION:
        return None
    return (
        f"{error}, since NumPy 2.4. Use the element, such as array[0], or run "
        "`pip install 'numpy<2.4'`."
    )
