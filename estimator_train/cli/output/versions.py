"""The versions of what is installed, from its metadata: nothing is imported for them."""

import platform

import estimator_train
from estimator_train.compat import installed


def report() -> str:
    """Returns the versions that a bug report needs, one a line: what `--version` prints."""
    return (
        f"estimator-train {estimator_train.__version__}\n"
        f"TensorFlow {installed.version('tensorflow') or 'is not installed'}\n"
        f"tf-keras {installed.version('tf-keras') or 'is not installed'}\n"
        f"Python {platform.python_version()}"
    )
