"""TensorFlow's insides: paths that scripts import and that have moved since.

The paths are those that old scripts name; this package itself imports none of them.
"""

import pkgutil
from collections.abc import Callable
from typing import Any

_V1 = "tensorflow:compat.v1"
_TPU = "estimator_train.tpu"

MODULES = {
    "tensorflow.python": ("tensorflow.python",),
    "tensorflow.python.layers": (f"{_V1}.layers",),
    **{
        f"tensorflow.python.layers.{name}": (f"{_V1}.layers",)
        for name in ("base", "convolutional", "core", "layers", "normalization", "pooling")
    },
    "tensorflow.python.layers.utils": ("tf_keras:utils",),
    "tensorflow.python.ops.rnn_cell": (f"{_V1}.nn.rnn_cell",),
    "tensorflow.python.ops.rnn_cell_impl": (f"{_V1}.nn.rnn_cell",),
    "tensorflow.python.training.learning_rate_decay": (f"{_V1}.train",),
    "tensorflow.python.training.tracking": ("tensorflow.python.trackable",),
    "tensorflow.python.training.checkpointable": ("tensorflow.python.trackable",),
    "tensorflow.python.tpu.tpu_config": (_TPU,),
    "tensorflow.python.tpu.tpu_context": (_TPU,),
    "tensorflow.python.tpu.tpu_estimator": (_TPU,),
    # The copy of Keras in TensorFlow is dead: no converter takes its models.
    "tensorflow.python.keras": ("tensorflow:keras", "tf_keras.src"),
}
_COLUMNS = "tensorflow.python.feature_column.feature_column"
_COLUMN_CLASSES = [
    "BucketizedColumn",
    "CrossedColumn",
    "EmbeddingColumn",
    "HashedCategoricalColumn",
    "IdentityCategoricalColumn",
    "IndicatorColumn",
    "NumericColumn",
    "SharedEmbeddingColumn",
    "VocabularyFileCategoricalColumn",
    "VocabularyListCategoricalColumn",
    "WeightedCategoricalColumn",
]
NAMES: dict[str, str | Callable[[], Any]] = {
    # What tf.feature_column makes today: scripts ask whether a column is one of these.
    **{
        f"{module}._{name}": f"{_COLUMNS}_v2:{name}"
        for name in _COLUMN_CLASSES
        for module in (_COLUMNS, f"{_COLUMNS}_lib")
    },
    "tensorflow.python.util.nest.is_sequence": "tensorflow:nest.is_nested",
    "tensorflow.python.util.nest.is_sequence_or_composite": "tensorflow:nest.is_nested",
    "tensorflow.python.keras.preprocessing.sequence.pad_sequences": (
        "tf_keras:utils.pad_sequences"
    ),
}
# Where a name that has left its private module is looked for.
_PUBLIC = ("", ".nn", ".train", ".nn.rnn_cell", ".losses", ".feature_column", ".saved_model")


def public_path(name: str) -> str:
    """The path below `tensorflow.compat.v1` of a name that has left its private module.

    Raises:
      AttributeError: The name does not exist.
    """
    if not name.startswith("_"):
        for path in _PUBLIC:
            if hasattr(pkgutil.resolve_name(f"{_V1}{path}"), name):
                return f"{path}.{name}".lstrip(".")
    raise AttributeError(name)


def public_name(name: str) -> Any:
    """The object of such a name.

    Raises:
      AttributeError: The name does not exist.
    """
    return pkgutil.resolve_name(f"{_V1}.{public_path(name)}")
