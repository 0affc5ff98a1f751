"""The library of C: built at installation, or compiled at its first use."""

import functools
import hashlib
import importlib.util
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

_LIBRARY = "_estimator_train_remote"
_SOURCE = Path(__file__).with_name("filesystem.c")
# Read now: an upgrade may replace it while the callbacks of this process are the old ones.
_CONTENT = _SOURCE.read_bytes()
_DIGEST = hashlib.sha256(_CONTENT).hexdigest()[:16]
_FLAGS = ("-std=c11", "-O2", "-fPIC", "-shared", "-fvisibility=hidden")
_COMPILERS = ("cc", "gcc", "clang")


def find_built() -> str | None:
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
def find_or_compile() -> str:
    """Returns the path of the library, and compiles it if it is missing.

    Raises:
      ImportError: There is no C compiler, or it failed.
    """
    return find_built() or _compile()


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
