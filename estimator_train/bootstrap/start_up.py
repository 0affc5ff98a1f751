"""Start of a process: versions of libraries, seeds of tf_keras, garbage collection, log lines."""

import contextlib
import gc
import importlib.util
import logging
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from importlib import metadata
from importlib.machinery import ModuleSpec
from types import ModuleType, SimpleNamespace
from typing import Any

# The names under which each library is published; a machine has one of these installed.
_NAMES = {
    "tensorflow": ("tensorflow", "tensorflow-cpu", "tensorflow-macos", "tf-nightly"),
    "tf-keras": ("tf-keras", "tf-keras-nightly"),
}
_OLDEST = (2, 16)
_INSTALL = "pip install 'tensorflow>=2.16,<2.22' 'tf-keras>=2.16,<2.22'"
# Python 3.12 starts with a few hundred frozen objects.
_MAX_FROZEN_BY_PYTHON = 1_000
_OLDEST_GENERATION = 2
# Lines of TensorFlow's C++ libraries while they are loaded, by the file that logs them: oneDNN is
# on, there is no GPU, the processor has further instructions, a library is registered twice.
_NEEDS_NO_ACTION = re.compile(
    rb".*\b(port|cudart_stub|cpu_feature_guard|cuda_dnn|cuda_fft|cuda_blas|py_utils)\.cc:\d+\] "
    rb"|To enable the following instructions: "
    rb"|WARNING: All log messages before absl::InitializeLog"
)
ANY_LOADING_LINE = re.compile(rb"[IWE]\d{4} |" + _NEEDS_NO_ACTION.pattern)
_SEED_MODULE = "tf_keras.src.utils.tf_utils"


def find_version(package: str) -> str | None:
    """Returns the version of an installed package; None if it is not installed.

    Args:
      package: The package's name on the package index.
    """
    for name in _NAMES.get(package, (package,)):
        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return None


def find_version_problem() -> str | None:
    """Returns one line that says why the installed libraries are not supported, or None.

    A library that was installed without metadata passes the check.
    """
    found = {name: find_version(name) for name in _NAMES}
    for name, module in (("tensorflow", "tensorflow"), ("tf-keras", "tf_keras")):
        if found[name] is None and importlib.util.find_spec(module) is None:
            return f"estimator_train needs {name}, which is not installed: {_INSTALL}"
    tensorflow, keras = found["tensorflow"], found["tf-keras"]
    if tensorflow and _release(tensorflow) < _OLDEST:
        return (
            f"estimator_train needs TensorFlow 2.16 to 2.21, and {tensorflow} is installed, which "
            f"has tf.estimator itself: {_INSTALL}"
        )
    if tensorflow and keras and "dev" not in keras and _release(tensorflow) != _release(keras):
        major, minor = _release(tensorflow)
        return (
            f"estimator_train needs the tf-keras of TensorFlow {tensorflow}, and {keras} is "
            f"installed: pip install 'tf-keras=={major}.{minor}.*'"
        )
    return None


def warn_of_versions() -> None:
    """Issues a one-line warning if this package does not support the installed libraries."""
    text = find_version_problem()
    if text:
        warnings.warn(text, RuntimeWarning, stacklevel=4)


def _release(number: str) -> tuple[int, int]:
    major, minor = number.split(".")[:2]
    return int(major), int(minor)


def speed_up_full_collection() -> None:
    """Excludes all present objects from the next full garbage collection.

    The import of TensorFlow leaves about 450,000 objects. Soon afterwards Python searches all of
    them for garbage, mostly before the first training step: 0.2 to 0.3 seconds that free nothing.
    The objects stay collectable by later collections. This function does nothing if the program
    has frozen its objects, which `gc.unfreeze` would undo.
    """
    if gc.get_freeze_count() >= _MAX_FROZEN_BY_PYTHON:
        return
    gc.freeze()
    frozen = gc.get_freeze_count()

    def unfreeze(phase: str, info: dict[str, int]) -> None:
        nonlocal frozen
        if frozen and phase == "stop" and info["generation"] == _OLDEST_GENERATION:
            # Frozen objects can still end; the count is higher if the program froze more objects.
            if gc.get_freeze_count() <= frozen:
                gc.unfreeze()
            frozen = 0
            if gc.callbacks[-1] is unfreeze:  # Python would skip the next one after a removal.
                gc.callbacks.pop()

    gc.callbacks.append(unfreeze)


@contextlib.contextmanager
def pause_collection() -> Iterator[None]:
    """Collects no garbage until the context ends.

    While TensorFlow is imported Python would search all objects several times: 0.4 to 0.5 seconds
    that free nothing.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        speed_up_full_collection()
        if was_enabled:
            gc.enable()


@contextlib.contextmanager
def hide_loading_lines(pattern: re.Pattern[bytes] = _NEEDS_NO_ACTION) -> Iterator[None]:
    """Buffers standard error, and then writes the buffer without TensorFlow's loading lines.

    Some of the C++ libraries ignore TF_CPP_MIN_LOG_LEVEL while they are loaded.

    Args:
      pattern: Matches the beginning of the lines to leave out.
    """
    try:
        standard_error = os.dup(2)
    except OSError:  # It is closed.
        yield
        return
    if sys.stderr:
        sys.stderr.flush()
    with tempfile.TemporaryFile() as buffer:
        os.dup2(buffer.fileno(), 2)
        try:
            yield
        finally:
            if sys.stderr:
                sys.stderr.flush()
            os.dup2(standard_error, 2)
            os.close(standard_error)
            buffer.seek(0)
            for line in buffer:
                if not pattern.match(line):
                    os.write(2, line)


def drop_second_lines() -> None:
    """Makes TensorFlow's handler leave out lines that a handler of the root logger writes too.

    TensorFlow gives its logger a handler of its own if the root logger has none at that time.
    `absl.app.run` and `logging.basicConfig` later add one, and each line would come twice.
    """
    line = logging.makeLogRecord({"levelname": "INFO", "name": "tensorflow", "msg": "text"})
    for handler in logging.getLogger("tensorflow").handlers:
        if not isinstance(handler, logging.StreamHandler):
            continue
        is_tensorflows = handler.format(line) == "INFO:tensorflow:text"
        if is_tensorflows and not any(isinstance(f, _OnlyFirstLine) for f in handler.filters):
            handler.addFilter(_OnlyFirstLine(handler))


class _OnlyFirstLine(logging.Filter):
    """Filter of a handler that drops records which the root logger writes to the same stream.

    Args:
      handler: The handler.
    """

    def __init__(self, handler: "logging.StreamHandler[Any]") -> None:
        super().__init__()
        self._handler = handler

    def filter(self, record: logging.LogRecord) -> bool:
        logger = logging.getLogger(record.name)
        others = logging.getLogger().handlers if logger.propagate else []
        return not any(self._writes_too(other, record) for other in others)

    def _writes_too(self, other: logging.Handler, record: logging.LogRecord) -> bool:
        # absl's handler passes records on to another one.
        target = getattr(other, "python_handler", other)
        stream = getattr(target, "stream", None)
        return record.levelno >= other.level and _is_same_file(stream, self._handler.stream)


def _is_same_file(stream: Any, other: Any) -> bool:
    """Returns whether two streams write to one file or terminal, as standard output and error do.

    Hydra logs to standard output, TensorFlow to standard error.
    """
    if stream is other:
        return True
    try:
        return os.path.samestat(os.fstat(stream.fileno()), os.fstat(other.fileno()))
    except (AttributeError, OSError, ValueError):  # Not a file, or closed.
        return False


class _SeedFinder:
    """Finder that patches one module right after Python executes it."""

    def __init__(self, name: str) -> None:
        self._name = name

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self._name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_and_patch(module: ModuleType) -> None:
                execute(module)
                _patch_random(module)

            spec.loader.exec_module = execute_and_patch  # type: ignore[method-assign]
        return spec


def repair_keras_seeds(name: str = _SEED_MODULE) -> None:
    """Makes tf_keras 2.16 to 2.18 draw seeds on Python 3.12 and later, now or when it is imported.

    After `tf_keras.utils.set_random_seed` these versions call `random.randint(1, 1e9)`, which
    raises TypeError for a float since Python 3.12.

    Args:
      name: The module's name.
    """
    if sys.version_info < (3, 12):
        return
    if name in sys.modules:
        _patch_random(sys.modules[name])
    else:
        sys.meta_path.insert(0, _SeedFinder(name))


def _patch_random(module: ModuleType) -> None:
    """Makes `random.randint` in a module accept floats such as 1e9; it draws the same numbers.

    Args:
      module: A module that uses `seed`, `randint` and `Random` of `random`.
    """
    import random

    class Random(random.Random):
        def randint(self, a: float, b: float) -> int:
            return super().randint(int(a), int(b))

    module.__dict__["random"] = SimpleNamespace(
        seed=random.seed, Random=Random, randint=lambda a, b: random.randint(int(a), int(b))
    )
