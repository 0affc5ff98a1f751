"""`install()`, one line in a script in place of the runner."""

import os
import sys

from estimator_train.legacy import setup


def install(generation: str | None = None) -> None:
    """Lets the calling script, and its own modules, see the TensorFlow of their time.

    As `estimator-train run` does, but from within: call it before the first `import tensorflow`.
    So do installed libraries that use what TensorFlow has lost; others see it as it is.

    Args:
      generation: "tf1" or "tf2": the TensorFlow that the script was written for; by default that
        is told from its source.

    Raises:
      ValueError: generation is something else.
      RuntimeError: TensorFlow is imported already, with Keras 3 as its Keras.
    """
    if generation not in (None, "tf1", "tf2"):
        raise ValueError(f"generation must be 'tf1' or 'tf2', or None to tell it: {generation!r}.")
    source = sys._getframe(1).f_globals.get("__file__")
    directory = os.path.dirname(os.path.realpath(source)) if source else os.getcwd()
    setup.install(directory, generation, source)
