"""Types of the arguments of heads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeAlias

import tensorflow as tf
import tf_keras

TensorLike: TypeAlias = tf.types.experimental.TensorLike
# `MultiHead` takes a dict of labels by the names of its heads.
Labels: TypeAlias = tf.types.experimental.TensorLike | tf.SparseTensor
FeatureTensors: TypeAlias = Mapping[str, tf.Tensor | tf.SparseTensor]
LossFn: TypeAlias = Callable[..., TensorLike]
KerasOptimizer: TypeAlias = tf_keras.optimizers.Optimizer | tf_keras.optimizers.legacy.Optimizer
Optimizer: TypeAlias = KerasOptimizer | tf.compat.v1.train.Optimizer


class NumericColumn(Protocol):
    """Column of `tf.feature_column.numeric_column`."""

    key: str
    normalizer_fn: Callable[[tf.Tensor], tf.Tensor] | None
    parse_example_spec: Mapping[str, Any]


# Name of the feature with the weights of examples, or its column.
WeightColumn: TypeAlias = str | NumericColumn | None
