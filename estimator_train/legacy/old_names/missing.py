"""Errors about names that TensorFlow has removed and that have no replacement here."""

import difflib
import sys
from collections.abc import Iterable
from typing import NoReturn

# Maps dotted names, and prefixes of dotted names, to their replacements.
_REPLACEMENTS = {
    "tensorflow.contrib.boosted_trees": "tf.estimator.BoostedTreesClassifier or Regressor",
    "tensorflow.contrib.cudnn_rnn": "tf.keras.layers.LSTM or GRU, which use cuDNN by themselves",
    **dict.fromkeys(
        ("tensorflow.contrib.bayesflow", "tensorflow.contrib.distributions"),
        "the package tensorflow-probability (`pip install tensorflow-probability`)",
    ),
    "tensorflow.contrib.tensor_forest": "the package tensorflow-decision-forests",
    "tensorflow.contrib.timeseries": (
        "tf.contrib.timeseries.ARRegressor, or a SequentialTimeSeriesModel of your own"
    ),
    **{
        f"tensorflow.contrib.timeseries.{path}{name}": (
            "tf.contrib.timeseries.StructuralEnsembleRegressor or ARRegressor, or a "
            "SequentialTimeSeriesModel of your own"
        )
        for path in ("", "python.timeseries.estimators.")
        for name in ("StateSpaceRegressor", "LSTMAutoRegressor")
    },
    "tensorflow.contrib.lite": "tf.lite",
    "tensorflow.contrib.tensorrt": "tf.experimental.tensorrt",
    "tensorflow.contrib.quantize": "the package tensorflow-model-optimization",
    "tensorflow.contrib.ffmpeg": "tf.audio",
    "tensorflow.contrib.hub": "the package tensorflow-hub",
    "tensorflow.tools.graph_transforms": "tf.compat.v1.graph_util",
    "tensorflow.models": (
        "a clone of the repository tensorflow/models in a folder `models`, and add the folder that "
        "contains `models` to PYTHONPATH"
    ),
}

# Public names that TensorFlow 1.15 or 2.15 had outside of tf.contrib and that do not exist here.
_REMOVED = (
    "app.flags",
    "config.experimental_list_devices",
    "data.experimental.MapVectorizationOptions",
    "data.experimental.StatsAggregator",
    "data.experimental.StatsOptions",
    "data.experimental.bytes_produced_stats",
    "data.experimental.latency_stats",
    "flags",
    "keras.experimental",
    "keras.utils",
    "keras.wrappers",
    "lite.experimental",
    "raw_ops",
    "tpu.experimental",
    "train.experimental",
)
# Folders of TensorFlow whose names were not compared, and one that people put there.
_NOT_PUBLIC = (
    *("compiler", "contrib", "core", "examples", "include", "models"),
    *("python", "pywrap_tensorflow", "tools"),
)


class MissingSymbol(AttributeError):
    """Error of a name of old TensorFlow that has no replacement."""


class MissingName:
    """Imported name that does not exist: each use except an `isinstance` check raises the error.

    Args:
      message: The text of the error.
    """

    def __init__(self, message: str) -> None:
        self._message = message

    def __getattr__(self, name: str) -> NoReturn:
        # Python itself asks for dunder names, e.g. when it copies an object.
        raise AttributeError(name) if name.startswith("__") else MissingSymbol(self._message)

    def __call__(self, *_: object, **__: object) -> NoReturn:
        """Raises MissingSymbol."""
        raise MissingSymbol(self._message)

    def __mro_entries__(self, bases: tuple[object, ...]) -> NoReturn:
        raise MissingSymbol(self._message)

    def __instancecheck__(self, instance: object) -> bool:
        return False

    def __subclasscheck__(self, subclass: type) -> bool:
        return False


def is_mistake(dotted: str) -> bool:
    """Returns whether the original TensorFlow lacks a missing name too.

    Args:
      dotted: The complete dotted name, which does not exist here.
    """
    root, *parts = dotted.split(".")
    while parts[:1] == ["compat"] and len(parts) > 1:
        parts = parts[2:]
    if root != "tensorflow" or not parts or parts[0] in _NOT_PUBLIC:
        return False
    name = ".".join(parts)
    is_private = any(part.startswith("_") for part in parts)
    return not is_private and not f"{name}.".startswith(tuple(f"{old}." for old in _REMOVED))


def make_error(dotted: str, existing: Iterable[str] = ()) -> MissingSymbol:
    """Makes the error of a missing name, which says what to use.

    Args:
      dotted: The complete dotted name.
      existing: The names that its module has, to suggest a similar one.
    """
    return MissingSymbol(f"{shorten(dotted)} {_describe(dotted, existing)}")


def _describe(dotted: str, existing: Iterable[str]) -> str:
    """Returns the text that follows the missing name in the message."""
    if dotted == "tensorflow.contrib":
        return "is TensorFlow 1's: `estimator-train run --tf1 SCRIPT` has it, `--tf2` has not."
    parts = dotted.split(".")
    for length in range(len(parts), 1, -1):
        instead = _REPLACEMENTS.get(".".join(parts[:length]))
        if instead:
            return f"does not exist any more. Use {instead}."
    close = difflib.get_close_matches(parts[-1], sorted(existing), n=1)
    if close:
        nearest = shorten(".".join([*parts[:-1], close[0]]))
        return f"does not exist. The nearest name is {nearest}."
    if dotted.startswith("tensorflow.contrib."):
        return "has no replacement here. TensorFlow 2 has no tf.contrib."
    library = parts[0]
    if library in sys.stdlib_module_names:
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        return f"does not exist in Python {version} and has no replacement here."
    if not library.startswith("tensorflow"):
        return f"does not exist in the installed {library} and has no replacement here."
    return "does not exist in this TensorFlow and has no replacement here."


def shorten(dotted: str) -> str:
    """Returns a dotted name as scripts write it, with `tf` instead of `tensorflow`."""
    is_public = dotted.startswith("tensorflow.") and not dotted.startswith("tensorflow.python.")
    return dotted.replace("tensorflow.", "tf.", 1) if is_public else dotted
