"""Errors and warnings for programs that were written for Keras 2 and run with Keras 3.

Since TensorFlow 2.16, `tf.keras` is Keras 3 unless TF_USE_LEGACY_KERAS is set.
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
# Not a string: a saved graph includes the collections that strings name.
_ALLOWED = ("estimator_train", "keras 3")


class Keras3Error(TypeError, ValueError):
    """Error for a model_fn or input_fn that needs Keras 2 while `tf.keras` is Keras 3."""


def allow_keras_3() -> None:
    """Marks the default graph as that of a Keras 3 model: its errors and names are its own."""
    tf.compat.v1.add_to_collection(_ALLOWED, True)


def is_allowed(graph: tf.Graph) -> bool:
    """Returns whether a graph is that of a Keras 3 model."""
    return bool(graph.get_collection(_ALLOWED))


def explain_keras_3_error(function: str, error: Exception) -> None:
    """Raises Keras3Error if Keras 3 caused an error of a user's function.

    Args:
      function: The name of the function, for the message ("model_fn").
      error: The error that the function raised.

    Raises:
      Keras3Error: Keras 3 raised the error, or lacks an attribute; the cause is the error.
    """
    if not isinstance(error, Keras3Error) and _is_caused_by_keras_3(error):
        raise Keras3Error(
            f"{function} uses Keras 3, and programs of tf.estimator are written for Keras 2. "
            f"{_WAYS_OUT} Keras 3 said: {type(error).__name__}: {error}"
        ) from error


def warn_of_keras_3_variables() -> None:
    """Warns once if layers of Keras 3 created variables of the default graph.

    Keras 3 numbers layers across graphs: a variable that is named "dense" in the training is named
    "dense_1" in the evaluation after it.
    """
    global _warned
    if _warned or not _is_loaded() or is_allowed(tf.compat.v1.get_default_graph()):
        return
    folder = os.path.dirname(str(sys.modules["keras"].__file__)) + os.sep
    for variable in tf.compat.v1.global_variables():
        frames = variable.op.traceback or ()  # An imported operation has none.
        if any(frame.filename.startswith(folder) for frame in frames):
            _warned = True
            _LOG.warning(
                "The variable '%s' was created by Keras 3, which numbers layers across graphs: a "
                "checkpoint may not fit the next graph of this process. %s",
                variable.op.name,
                _WAYS_OUT,
            )
            return


def _is_loaded() -> bool:
    return getattr(sys.modules.get("keras"), "__version__", "").startswith("3.")


def _is_caused_by_keras_3(error: Exception) -> bool:
    if not _is_loaded() or is_allowed(tf.compat.v1.get_default_graph()):
        return False
    owner = getattr(error, "obj", None)  # The object that lacks the attribute of an AttributeError.
    return (
        "not available with Keras 3" in str(error)
        or _is_in_keras(getattr(owner, "__name__", ""))
        or _is_in_keras(type(owner).__module__)
        or any(_is_in_keras(name) for name in _list_modules(error.__traceback__))
    )


def _is_in_keras(module: Any) -> bool:
    return str(module).partition(".")[0] == "keras"


def _list_modules(traceback: TracebackType | None) -> Iterator[str]:
    while traceback is not None:
        yield traceback.tb_frame.f_globals.get("__name__", "")
        traceback = traceback.tb_next
