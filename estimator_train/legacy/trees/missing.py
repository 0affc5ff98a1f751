"""The message about a name that today's TensorFlow has lost and that has no stand-in."""

import difflib
from collections.abc import Iterable

# Dotted names, and those that stand before all names below, to what to use.
_INSTEAD = {
    "tensorflow.contrib.boosted_trees": "tf.estimator.BoostedTreesClassifier or its sisters",
    "tensorflow.contrib.cudnn_rnn": "tf.keras.layers.LSTM or GRU, which use cuDNN by themselves",
    "tensorflow.contrib.distributions": "the package tensorflow-probability",
    "tensorflow.contrib.bayesflow": "the package tensorflow-probability",
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
    "tensorflow.contrib.tfprof": "tf.compat.v1.profiler",
    "tensorflow.contrib.linear_optimizer": "tf.train.FtrlOptimizer",
    "tensorflow.contrib.ffmpeg": "tf.audio",
    "tensorflow.contrib.graph_editor": "tf.graph_util",
    "tensorflow.contrib.hub": "the package tensorflow-hub",
    "tensorflow.data.experimental.CheckpointInputPipelineHook": (
        "RunConfig(save_input_position=True)"
    ),
    "tensorflow.tools.graph_transforms": "tf.compat.v1.graph_util",
}


class MissingSymbol(AttributeError):
    """A name of old TensorFlow that has no stand-in."""


def missing(dotted: str, there_are: Iterable[str] = ()) -> MissingSymbol:
    """The error of a missing name: what it is and what to use.

    Args:
      dotted: The name, beginning with the root module's.
      there_are: The names beside it, to find one that is spelt alike.
    """
    return MissingSymbol(f"{short(dotted)} {description(dotted, there_are)}")


def description(dotted: str, there_are: Iterable[str] = ()) -> str:
    """The text that follows a missing name in a message; arguments as for `missing`."""
    if dotted == "tensorflow.contrib":
        return "is TensorFlow 1's: `estimator-train run --tf1 SCRIPT` has it, and `--tf2` has not."
    parts = dotted.split(".")
    for length in range(len(parts), 1, -1):
        instead = _INSTEAD.get(".".join(parts[:length]))
        if instead:
            return f"does not exist any more. Use {instead}."
    close = difflib.get_close_matches(parts[-1], sorted(there_are), n=1)
    if close:
        nearest = short(".".join([*parts[:-1], close[0]]))
        return f"does not exist any more, or never did. The nearest name is {nearest}."
    if dotted.startswith("tensorflow.contrib."):
        return "has no stand-in here. tf.contrib itself is gone since TensorFlow 2."
    return "does not exist in this TensorFlow, and has no stand-in here."


def short(dotted: str) -> str:
    """A dotted name as scripts spell it, `tf` for `tensorflow`."""
    public = dotted.startswith("tensorflow.") and not dotted.startswith("tensorflow.python.")
    return dotted.replace("tensorflow.", "tf.", 1) if public else dotted
