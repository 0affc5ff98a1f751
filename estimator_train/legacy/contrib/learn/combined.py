"""Combined linear and deep estimators of `tf.contrib.learn`; see `canned`."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

import estimator_train.compat.v1 as v1
from estimator_train.legacy.contrib.learn.canned import (
    Classifier,
    Regressor,
    convert_arguments,
    create_deep_optimizer,
    create_linear_optimizer_fn,
)


class DNNLinearCombinedClassifier(Classifier, v1.DNNLinearCombinedClassifier):
    """Classifier of `tf.estimator.DNNLinearCombinedClassifier` with the arguments of 2017."""

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
        config: v1.RunConfig | None = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        embedding_lr_multipliers: Mapping[Any, float] | None = None,
        input_layer_min_slice_size: int | None = None,
        label_keys: Sequence[str] | None = None,
        fix_global_step_increment_bug: bool = False,
    ) -> None:
        arguments = convert_arguments(
            locals(),
            linear_optimizer=create_linear_optimizer_fn(linear_feature_columns),
            dnn_optimizer=create_deep_optimizer,
        )
        super().__init__(**arguments)


class DNNLinearCombinedRegressor(Regressor, v1.DNNLinearCombinedRegressor):
    """Regressor of `tf.estimator.DNNLinearCombinedRegressor` with the arguments of 2017."""

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
        config: v1.RunConfig | None = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        embedding_lr_multipliers: Mapping[Any, float] | None = None,
        input_layer_min_slice_size: int | None = None,
        fix_global_step_increment_bug: bool = False,
    ) -> None:
        arguments = convert_arguments(
            locals(),
            linear_optimizer=create_linear_optimizer_fn(linear_feature_columns),
            dnn_optimizer=create_deep_optimizer,
        )
        super().__init__(**arguments)
