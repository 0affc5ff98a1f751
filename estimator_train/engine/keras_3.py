"""Keras 3 in a program of tf.estimator, which was written for Keras 2: told where it is in the way.

From TensorFlow 2.16 on `tf.keras` is Keras 3, unless the environment says otherwise.
"""

import os
import sys
from collections.abc import Iterator
from types import TracebackType
from typing import Any

import tensorflow as tf

_LOG = tf.get_logger()
_WAYS_OUT = (
    "Set the environment variable TF_USE_LEGACY_KERAS=1 before TensorFlow is first imported, which "
    "makes tf.keras be Keras 2 (importing estimator_train before TensorFlow sets it), or start the "
    "program with `estimator-train run`."
)
_warned = False


class Keras3Error(TypeError, ValueError):
    """A model_fn or input_fn needs Keras 2 where `tf.keras` is Keras 3."""


def explain(what: str, error: Exception) -> None:
    """Says so where an error comes of Keras 3.

    Args:
      what: What was called, for the message ("model_fn").
      error: The error that it raised.

    Raises:
      Keras3Error: Keras 3 raised the error, or lacks what it was asked for; the cause is the error.
    """
    if not isinstance(error, Keras3Error) and _comes_of_keras_3(error):
        raise Keras3Error(
            f"{what} uses Keras 3, and programs of tf.estimator are written for Keras 2. "
            f"{_WAYS_OUT} Keras 3 said: {type(error).__name__}: {error}"
        ) from error


def warn_of_variables() -> None:
    """Says once that layers of Keras 3 made variables of the default graph.

    Keras 3 counts the names of layers on from graph to graph, so that the variables of an
    evaluation are named "dense_1" where those of the training before it are named "dense".
    """
    global _warned
    if _warned or not _is_loaded():
        return
    folder = os.path.dirname(str(sys.modules["keras"].__file__)) + os.sep
    for variable in tf.compat.v1.global_variables():
        if any(frame.filename.startswith(folder) for frame in variable.op.traceback):
            _warned = True
            _LOG.warning(
                "The variable '%s' was made by Keras 3, which names layers anew in each graph, so "
                "that a checkpoint may not fit the next graph of this process. %s",
                variable.op.name,
                _WAYS_OUT,
            )
            return


def _is_loaded() -> bool:
    return getattr(sys.modules.get("keras"), "__version__", "").startswith("3.")


def _comes_of_keras_3(error: Exception) -> bool:
    if not _is_loaded():
        return False
    asked = getattr(error, "obj", None)  # Of an AttributeError: what lacks the attribute.
    return (
        "not available with Keras 3" in str(error)
        or _is_of_keras(getattr(asked, "__name__", ""))
        or _is_of_keras(type(asked).__module__)
        or any(_is_of_keras(name) for name in _modules(error.__traceback__))
    )


def _is_of_keras(module: Any) -> bool:
    return str(module).partition(".")[0] == "keras"


def _modules(traceback: TracebackType | None) -> Iterator[str]:
    while traceback is not None:
        yield traceback.tb_frame.f_globals.get("__name__", "")
        traceback = traceback.tb_next
