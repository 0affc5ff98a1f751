"""The versions of installed packages, from their metadata, without importing them."""

import platform

import estimator_train
from estimator_train.bootstrap import installed


def format_versions() -> str:
    """Returns the text of `--version`: one line for each version that a bug report needs."""
    return (
        f"estimator-train {estimator_train.__version__}\n"
        f"TensorFlow {installed.find_version('tensorflow') or 'is not installed'}\n"
        f"tf-keras {installed.find_version('tf-keras') or 'is not installed'}\n"
        f"Python {platform.python_version()}"
    )
