"""Registers schemes with TensorFlow."""

import ctypes
import importlib.util
import os
import threading
from typing import Any

import tensorflow as tf

from estimator_train.remote import library, process_end
from estimator_train.remote.callbacks import FileTable
from estimator_train.remote.schemes import DRIVERS, find_driver, is_installed
from estimator_train.remote.store import set_options

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
    _register(schemes, library.find_or_compile())


def register_installed() -> None:
    """Registers the schemes of old TensorFlow whose drivers are installed.

    It does nothing if the library of C is not built yet, or if tensorflow-io is installed, which
    registers the same schemes and refuses those that exist.
    """
    if not importlib.util.find_spec("fsspec") or importlib.util.find_spec("tensorflow_io"):
        return
    installed = [scheme for scheme, driver in DRIVERS.items() if is_installed(driver)]
    path = library.find_built() if installed else None
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
    process_end.watch(loaded, files)


def _find_framework() -> str:
    folder = tf.sysconfig.get_lib()
    names = ("libtensorflow_framework.so.2", "libtensorflow_framework.2.dylib")
    return next(path for name in names if os.path.exists(path := os.path.join(folder, name)))
