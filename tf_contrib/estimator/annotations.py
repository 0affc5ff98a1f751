"""DNN estimators under the names that tf.contrib gave to those with annotations of layers.

TensorFlow 1.15 adds no annotation to their graphs: they are the estimators without annotations.
"""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

import estimator_train as est
import estimator_train.compat.v1 as v1
from tf_contrib._types import Column

_SUM = tf.compat.v1.losses.Reduction.SUM


def DNNClassifierWithLayerAnnotations(  # noqa: N802
    hidden_units: Sequence[int],
    feature_columns: Sequence[Column],
    model_dir: str | None = None,
    n_classes: int = 2,
    weight_column: Any = None,
    label_vocabulary: Sequence[str] | None = None,
    optimizer: Any = "Adagrad",
    activation_fn: Callable[..., tf.Tensor] = tf.nn.relu,
    dropout: float | None = None,
    input_layer_partitioner: Callable[..., Any] | None = None,
    config: est.RunConfig | None = None,
    warm_start_from: Any = None,
    loss_reduction: str = _SUM,
) -> v1.DNNClassifier:
    """Returns a `tf.compat.v1.estimator.DNNClassifier` of the same arguments."""
    return v1.DNNClassifier(**locals())


def DNNRegressorWithLayerAnnotations(  # noqa: N802
    hidden_units: Sequence[int],
    feature_columns: Sequence[Column],
    model_dir: str | None = None,
    label_dimension: int = 1,
    weight_column: Any = None,
    optimizer: Any = "Adagrad",
    activation_fn: Callable[..., tf.Tensor] = tf.nn.relu,
    dropout: float | None = None,
    input_layer_partitioner: Callable[..., Any] | None = None,
    config: est.RunConfig | None = None,
    warm_start_from: Any = None,
    loss_reduction: str = _SUM,
) -> v1.DNNRegressor:
    """Returns a `tf.compat.v1.estimator.DNNRegressor` of the same arguments."""
    return v1.DNNRegressor(**locals())
