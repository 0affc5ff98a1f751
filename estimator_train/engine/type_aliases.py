"""Names of types that many signatures of the engine share."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import tensorflow as tf

# A tensor, or a structure of dicts, lists and tuples of tensors.
TensorStructure: TypeAlias = Any
# Returns a Dataset, a pair (features, labels) or features alone; takes any of mode, params, config
# and input_context.
InputFn: TypeAlias = Callable[..., Any]
Predictions: TypeAlias = tf.Tensor | Mapping[str, tf.Tensor]
PredictKeys: TypeAlias = Sequence[str] | str | None
# A dict, an HParams or another object, which the user's functions get as `params`.
Params: TypeAlias = Any
Strategy: TypeAlias = tf.distribute.Strategy | tf.compat.v1.distribute.Strategy
