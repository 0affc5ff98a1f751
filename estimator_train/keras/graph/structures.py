"""Types of values that are nested, or that only TensorFlow knows."""

from typing import Any, TypeAlias

# One value, or lists, tuples and dicts of them: tensors, TensorSpecs, metrics, sample weights.
Structure: TypeAlias = Any
# An object whose variables a checkpoint holds by attribute names: an optimizer, a layer, a list.
Trackable: TypeAlias = Any
# An optimizer of tf_keras, legacy or new, or of tf.compat.v1.train; or a name or config of one.
Optimizer: TypeAlias = Any
