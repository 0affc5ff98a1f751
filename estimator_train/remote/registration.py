"""Registers schemes with TensorFlow; builds the library of C if the installation has not."""

import ctypes
import functools
import hashlib
import importlib.util
import os
import shutil
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import Any

import tensorflow as tf

from estimator_train.remote.callbacks import FileTable, watch_process_end
from estimator_train.remote.schemes import DRIVERS, find_driver, is_installed
from estimator_train.remote.store import set_options

_LIBRARY = "_estimator_train_remote"
_SOURCE = Path(__file__).with_name("filesystem.c")
# Read now: an upgrade may replace it while the callbacks of this process are the old ones.
_CONTENT = _SOURCE.read_bytes()
_DIGEST = hashlib.sha256(_CONTENT).hexdigest()[:16]
_FLAGS = ("-std=c11", "-O2", "-fPIC", "-shared", "-fvisibility=hidden")
_COMPILERS = ("cc", "gcc", "clang")


def find_built_library() -> str | None:
    """Returns the path of the library, if the installation built it or a process compiled it.

    A library that was built from another source has other callbacks, and would crash.
    """
    found = importlib.util.find_spec(_LIBRARY)
    built = Path(found.origin) if found and found.origin else None
    if built and built.exists() and _DIGEST.encode() in built.read_bytes():
        return str(built)
    compiled = _get_cache_path()
    return str(compiled) if compiled.exists() else None


@functools.cache
def find_or_compile_library() -> str:
    """Returns the path of the library, and compiles it if it is missing.

    Raises:
      ImportError: There is no C compiler, or it failed.
    """
    return find_built_library() or _compile()


def _get_cache_path() -> Path:
    """Returns the place of the compiled library: a new source has another one."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(cache) / "estimator_train" / f"remote-{os.uname().machine}-{_DIGEST}.so"


def _compile() -> str:
    compiler = next((name for name in _COMPILERS if shutil.which(name)), None)
    if compiler is None:
        raise ImportError(
            "Remote paths need a library of C, which this installation lacks, and no C compiler is "
            "installed to build it. Install a wheel of estimator-train for this platform, or a "
            "compiler: apt-get install gcc libc6-dev"
        )
    target = _get_cache_path()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        folder = tempfile.mkdtemp(dir=target.parent)
    except OSError:  # No home, or one that cannot be written: compile for this process.
        folder = tempfile.mkdtemp(prefix="estimator_train-")
        target = Path(folder) / "remote.so"
    unfinished = os.path.join(folder, "unfinished.so")
    command = [compiler, *_FLAGS, f'-DREMOTE_SOURCE="{_DIGEST}"', "-o", unfinished]
    command += ["-x", "c", "-", "-lpthread"]
    answer = subprocess.run(command, input=_CONTENT, capture_output=True)
    if answer.returncode:
        shutil.rmtree(folder, ignore_errors=True)
        lines = answer.stderr.decode(errors="replace").strip().splitlines() or [
            f"exit code {answer.returncode}"
        ]
        raise ImportError(f"{compiler} cannot build {_SOURCE}: {lines[0]}")
    os.replace(unfinished, target)  # Another process may have been faster.
    if target.parent != Path(folder):
        os.rmdir(folder)
    return str(target)


# Over all open files, with the blocks that are read ahead.
_MAX_READ_BYTES = 256 << 20
_MAX_BLOCK_BYTES = 8 << 20
# Functions of CPython in the order of `Interpreter` in filesystem.c.
_INTERPRETER = (
    "PyGILState_Check",
    "PyEval_SaveThread",
    "PyEval_RestoreThread",
    "PyGILState_Ensure",
    "PyGILState_Release",
    "PyErr_CheckSignals",
    "PyErr_Fetch",
    "PyErr_Restore",
    "Py_AddPendingCall",
    "PyEval_GetFrame",
    "PyFrame_GetCode",
    "PyObject_GetAttrString",
    "PyUnicode_AsUTF8",
    "Py_DecRef",
)
_lock = threading.Lock()
_loaded: list[Any] = []  # The library, the functions that it calls, and its path.


def register(*schemes: str, **options: Any) -> None:
    """Lets TensorFlow open paths of further schemes, through fsspec.

    Estimators, `input_fns` and the commands do so for the paths that they are given, and for `s3`,
    `hdfs` and Azure's schemes if their drivers are installed. Other programs call this function
    once, before their first path:

        estimator_train.remote.register("s3", endpoint_url="http://127.0.0.1:9000")

    Args:
      *schemes: Names of schemes: "s3", "az", "hdfs", "sftp", or another one that fsspec knows.
      **options: Arguments of fsspec's file system, such as `endpoint_url` of s3fs. They win over
        the environment variables `S3_ENDPOINT`, `S3_USE_HTTPS`, `S3_VERIFY_SSL`, `AWS_REGION` and
        `AWS_ENDPOINT_URL`, and are ignored after the first use of a path.

    Raises:
      ImportError: fsspec or the driver of a scheme is not installed, or the library of C is missing
        and there is no compiler.
      ValueError: fsspec knows no such scheme.
    """
    for scheme in schemes:
        check_driver(scheme)
        if options:
            set_options(scheme, options)
    _register(schemes, find_or_compile_library())


def register_installed() -> None:
    """Registers the schemes of old TensorFlow whose drivers are installed.

    It does nothing if the library of C is not built yet, or if tensorflow-io is installed, which
    registers the same schemes and refuses those that exist.
    """
    if not importlib.util.find_spec("fsspec") or importlib.util.find_spec("tensorflow_io"):
        return
    installed = [scheme for scheme, driver in DRIVERS.items() if is_installed(driver)]
    path = find_built_library() if installed else None
    if path:
        _register(installed, path)


def is_registered(scheme: str) -> bool:
    """Returns whether TensorFlow opens paths of a scheme."""
    return scheme in tf.io.gfile.get_registered_schemes()


def check_driver(scheme: str) -> None:
    """Checks that a scheme has a driver, and that it is installed.

    Raises:
      ImportError: It is not installed.
      ValueError: fsspec knows no such scheme.
    """
    if not importlib.util.find_spec("fsspec"):
        known = DRIVERS.get(scheme)
        package = known.package if known else "estimator-train[remote]"
        raise ImportError(f"{scheme}:// needs a package: pip install '{package}'")
    driver = find_driver(scheme)
    if driver is None:
        raise ValueError(
            f"No file system is known for {scheme}://. TensorFlow has "
            f"{', '.join(sorted(filter(None, tf.io.gfile.get_registered_schemes())))}; "
            f"estimator_train adds {', '.join(DRIVERS)} and those of fsspec."
        )
    if not is_installed(driver):
        raise ImportError(f"{scheme}:// needs a package: pip install '{driver.package}'")


def _register(schemes: Any, path: str) -> None:
    with _lock:
        new = [scheme for scheme in dict.fromkeys(schemes) if not is_registered(scheme)]
        if not new:
            return
        if not _loaded:
            _load(path)
        _loaded[0].remote_set_schemes(",".join(new).encode())
        # The library that was loaded, also if another one has been built since.
        tf.experimental.register_filesystem_plugin(_loaded[-1])


def _load(path: str) -> None:
    """Loads the library and gives it the functions of Python."""
    loaded = ctypes.CDLL(path)
    loaded.remote_allocate.restype = ctypes.c_void_p
    loaded.remote_allocate.argtypes = [ctypes.c_size_t]
    loaded.remote_set_up.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_uint64] * 3
    loaded.remote_call_count.restype = ctypes.c_int64
    loaded.remote_send_buffer.argtypes = [ctypes.c_int64]
    files = FileTable(loaded.remote_allocate, loaded.remote_send_buffer)
    callbacks = files.make_callbacks()
    framework = ctypes.CDLL(_find_framework())
    interpreter = (ctypes.c_void_p * len(_INTERPRETER))(
        *(ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p) for name in _INTERPRETER)
    )
    loaded.remote_set_up(
        ctypes.addressof(callbacks),
        interpreter,
        ctypes.cast(framework.TF_SetStatus, ctypes.c_void_p),
        threading.main_thread().ident,
        _MAX_READ_BYTES,
        _MAX_BLOCK_BYTES,
    )
    _loaded[:] = [loaded, files, callbacks, framework, path]
    watch_process_end(loaded, files)


def _find_framework() -> str:
    folder = tf.sysconfig.get_lib()
    names = ("libtensorflow_framework.so.2", "libtensorflow_framework.2.dylib")
    return next(path for name in names if os.path.exists(path := os.path.join(folder, name)))
