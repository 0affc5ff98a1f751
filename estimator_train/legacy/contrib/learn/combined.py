"""Wide and deep classifiers and regressors of `tf.contrib.learn`; see `canned`."""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

import estimator_train.compat.v1 as v1
from estimator_train.legacy.contrib.learn.canned import (
    Classifier,
    Regressor,
    deep,
    linear,
    of_today,
)


class DNNLinearCombinedClassifier(Classifier, v1.DNNLinearCombinedClassifier):
    """See `tf.estimator.DNNLinearCombinedClassifier`; arguments are those of 2017."""

    def __init__(
        self,
        model_dir: str | None = None,
        n_classes: int = 2,
        weight_column_name: str | None = None,
        linear_feature_columns: Sequence[Any] | None = None,
        linear_optimizer: Any = None,
        _joint_linear_weights: bool = False,
        dnn_feature_columns: Sequence[Any] | None = None,
        dnn_optimizer: Any = None,
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Callable[[Any], Any] = tf.nn.relu,
        dnn_dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        config: Any = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        embedding_lr_multipliers: Any = None,
        input_layer_min_slice_size: int | None = None,
        label_keys: Sequence[str] | None = None,
        fix_global_step_increment_bug: bool = False,
    ) -> None:
        given = of_today(
            locals(), linear_optimizer=linear(linear_feature_columns), dnn_optimizer=deep
        )
        super().__init__(**given)


class DNNLinearCombinedRegressor(Regressor, v1.DNNLinearCombinedRegressor):
    """See `tf.estimator.DNNLinearCombinedRegressor`; arguments are those of 2017."""

    def __init__(
        self,
        model_dir: str | None = None,
        weight_column_name: str | None = None,
        linear_feature_columns: Sequence[Any] | None = None,
        linear_optimizer: Any = None,
        _joint_linear_weights: bool = False,
        dnn_feature_columns: Sequence[Any] | None = None,
        dnn_optimizer: Any = None,
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Callable[[Any], Any] = tf.nn.relu,
        dnn_dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        label_dimension: int = 1,
        config: Any = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        embedding_lr_multipliers: Any = None,
        input_layer_min_slice_size: int | None = None,
        fix_global_step_increment_bug: bool = False,
    ) -> None:
        given = of_today(
            locals(), linear_optimizer=linear(linear_feature_columns), dnn_optimizer=deep
        )
        super().__init__(**given)
