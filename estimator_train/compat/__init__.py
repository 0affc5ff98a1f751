"""Compatibility with programs that use the names of tf.estimator.

`compat.v1` has the names of `tf.compat.v1.estimator`. `compat.install()` shows an old program the
TensorFlow that it was written for.
"""

import importlib.util
import os
import sys

__all__ = ["install"]


def install(generation: str | None = None) -> None:
    """Shows the calling program and its modules the TensorFlow that they were written for.

    Does the same as `estimator-train run`. Call it before the first `import tensorflow`. Installed
    libraries that use names which TensorFlow has removed see those names too; other libraries see
    the installed TensorFlow.

    Args:
      generation: "tf1" or "tf2", the TensorFlow that the program was written for; None: read it
        from the program's source.

    Raises:
      ValueError: `generation` has another value.
      RuntimeError: The program has already imported TensorFlow with Keras 3 as `tf.keras`.
      ModuleNotFoundError: This installation lacks the folder `estimator_train/legacy`.
    """
    if generation not in (None, "tf1", "tf2"):
        raise ValueError(
            f"generation must be 'tf1', 'tf2', or None to read it from the source: {generation!r}."
        )
    require_legacy("estimator_train.compat.install()")
    from estimator_train.legacy import preparation

    source = sys._getframe(1).f_globals.get("__file__")
    directory = os.path.dirname(os.path.realpath(source)) if source else os.getcwd()
    preparation.install(directory, generation, source)


def require_legacy(feature: str) -> None:
    """Raises an error that names the folder `estimator_train/legacy` if it is missing.

    The folder is an annex: only `install` and the commands `check` and `run` need it.

    Args:
      feature: The function or command that needs the folder, for the error.

    Raises:
      ModuleNotFoundError: The folder is missing.
    """
    if not has_legacy():
        raise ModuleNotFoundError(
            f"{feature} needs the folder estimator_train/legacy, which this installation lacks. "
            "Reinstall the complete package estimator-train.",
            name="estimator_train.legacy",
        )


def has_legacy() -> bool:
    """Returns whether this installation has the folder `estimator_train/legacy`."""
    spec = importlib.util.find_spec("estimator_train.legacy")
    # A folder without `__init__.py` has no origin.
    return spec is not None and spec.origin is not None
