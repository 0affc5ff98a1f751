"""What `--version` prints."""

import platform
from importlib import metadata

import estimator_train

# The names under which each library is published; a machine has one of them.
_TENSORFLOW = ("tensorflow", "tensorflow-cpu", "tensorflow-macos", "tf-nightly")
_TF_KERAS = ("tf-keras", "tf-keras-nightly")


def report() -> str:
    """Returns the versions that a bug report needs, one a line.

    They come from the metadata of what is installed: nothing is imported for them.
    """
    return (
        f"estimator-train {estimator_train.__version__}\n"
        f"TensorFlow {_installed(_TENSORFLOW)}\n"
        f"tf-keras {_installed(_TF_KERAS)}\n"
        f"Python {platform.python_version()}"
    )


def _installed(names: tuple[str, ...]) -> str:
    for name in names:
        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return "is not installed"
