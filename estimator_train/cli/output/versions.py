"""The versions of what is installed, from its metadata: nothing is imported for them."""

import platform
from importlib import metadata

import estimator_train

# The names under which a library is published, where it has several; a machine has one of them.
_NAMES = {
    "tensorflow": ("tensorflow", "tensorflow-cpu", "tensorflow-macos", "tf-nightly"),
    "tf-keras": ("tf-keras", "tf-keras-nightly"),
}


def report() -> str:
    """Returns the versions that a bug report needs, one a line: what `--version` prints."""
    return (
        f"estimator-train {estimator_train.__version__}\n"
        f"TensorFlow {installed('tensorflow') or 'is not installed'}\n"
        f"tf-keras {installed('tf-keras') or 'is not installed'}\n"
        f"Python {platform.python_version()}"
    )


def installed(package: str) -> str | None:
    """Returns the version of an installed package; None if it is not installed.

    Args:
      package: Its name on the package index.
    """
    for name in _NAMES.get(package, (package,)):
        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return None
