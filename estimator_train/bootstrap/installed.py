"""The installed versions of TensorFlow and tf-keras, and whether this package supports them."""

import importlib.util
import warnings
from importlib import metadata

# The names under which each library is published; a machine has one of these installed.
_NAMES = {
    "tensorflow": ("tensorflow", "tensorflow-cpu", "tensorflow-macos", "tf-nightly"),
    "tf-keras": ("tf-keras", "tf-keras-nightly"),
}
_OLDEST = (2, 16)
_INSTALL = "pip install 'tensorflow>=2.16,<2.22' 'tf-keras>=2.16,<2.22'"


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


def find_problem() -> str | None:
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


def warn() -> None:
    """Issues a one-line warning if this package does not support the installed libraries."""
    text = find_problem()
    if text:
        warnings.warn(text, RuntimeWarning, stacklevel=4)


def _release(number: str) -> tuple[int, int]:
    major, minor = number.split(".")[:2]
    return int(major), int(minor)
