"""The distribution `estimator-train-shim`: all programs of an environment see tf.estimator.

Its `.pth` file makes each start of Python import `_estimator_train_shim`, a copy of
`bootstrap/import_hook.py`. The hook shows the modules that `modules.py` finds.
"""

import base64
import contextlib
import hashlib
import os
import sysconfig
from importlib import metadata
from pathlib import Path

import estimator_train
from estimator_train.bootstrap import import_hook, start_up

NAME = "estimator-train-shim"
_FILES = "estimator_train_shim"
_MODULE = f"_{_FILES}"
_INSTALL = "\n\ninstall().show_attributes()\n"
_METADATA = """Metadata-Version: 2.1
Name: {name}
Version: {version}
Summary: Shows the tf.estimator of estimator-train to all programs of an environment.
"""
_WHEEL = (
    "Wheel-Version: 1.0\nGenerator: estimator-train\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
)


class ShimError(ValueError):
    """Error of an environment that cannot take the shim."""


def find_shims() -> dict[Path, str]:
    """Returns the version of the shim of each folder of installed packages that has one."""
    found: dict[Path, str] = {}
    for distribution in metadata.distributions(name=NAME):
        folder = Path(str(distribution.locate_file(""))).resolve()
        found.setdefault(folder, distribution.version)
    return found


def install_shim() -> Path:
    """Writes the shim into this environment, in place of an older version.

    Returns:
      The folder.

    Raises:
      ShimError: The environment has TensorFlow with its own tf.estimator, has a shim in another
        folder, or cannot be written.
    """
    problem = start_up.find_version_problem()
    if problem:
        raise ShimError(problem)
    folder = _find_folder()
    others = [str(other) for other in find_shims() if other != folder]
    if others:
        raise ShimError(
            f"{NAME} is already installed in {others[0]}. Remove it first: "
            "`estimator-train install-shim --remove`."
        )
    remove_shim()
    files = _make_files()
    try:
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        _delete(folder, files)
        raise ShimError(f"{folder} cannot be written: {error.strerror}.") from error
    return folder


def remove_shim() -> list[Path]:
    """Deletes the shims of this environment; returns their folders.

    Raises:
      ShimError: A folder cannot be written.
    """
    shims = find_shims()
    for folder, version in shims.items():
        try:
            _delete(folder, _make_files(version))
        except OSError as error:
            raise ShimError(f"{folder} cannot be written: {error.strerror}.") from error
    return list(shims)


def _find_folder() -> Path:
    return Path(sysconfig.get_path("purelib")).resolve()


def _make_files(version: str = estimator_train.__version__) -> dict[str, str]:
    """Returns the text of each file of the shim. The last one is the one that starts it."""
    about = f"{_FILES}-{version}.dist-info"
    hook = Path(import_hook.__file__).read_text(encoding="utf-8")
    files = {
        f"{_MODULE}.py": hook + _INSTALL,
        f"{about}/METADATA": _METADATA.format(name=NAME, version=version),
        f"{about}/WHEEL": _WHEEL,
        f"{about}/INSTALLER": "estimator-train\n",
        f"{about}/RECORD": "",
        f"{_FILES}.pth": f"import {_MODULE}\n",
    }
    files[f"{about}/RECORD"] = "".join(
        f"{name},{_hash(text)},{len(text.encode())}\n" if text else f"{name},,\n"
        for name, text in files.items()
    )
    return files


def _hash(text: str) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest())
    return f"sha256={digest.decode().rstrip('=')}"


def _delete(folder: Path, files: dict[str, str]) -> None:
    """Deletes files, first the one that starts the shim, and their folder."""
    compiled = [path.relative_to(folder) for path in folder.glob(f"__pycache__/{_MODULE}.*.pyc")]
    for name in [*reversed(files), *map(str, compiled)]:
        with contextlib.suppress(NotADirectoryError):
            (folder / name).unlink(missing_ok=True)
    for inner in {os.path.dirname(name) for name in files} - {""}:
        if (folder / inner).is_dir():
            (folder / inner).rmdir()
