"""Wide and deep classifiers and regressors of `tf.contrib.learn`; see `canned`."""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

import estimator_train.compat.v1 as v1
from estimator_train.legacy.contrib.learn.canned import (
    Classifier,
    Regressor,
    clipped,
    common,
    deep,
    linear,
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
        self._feature_engineering_fn = feature_engineering_fn
        super().__init__(
            label_keys=label_keys,
            n_classes=n_classes,
            model_dir=model_dir,
            linear_feature_columns=linear_feature_columns,
            linear_optimizer=clipped(
                linear_optimizer, linear(linear_feature_columns), gradient_clip_norm
            ),
            dnn_feature_columns=dnn_feature_columns,
            dnn_optimizer=clipped(dnn_optimizer, deep, gradient_clip_norm),
            dnn_hidden_units=dnn_hidden_units,
            dnn_activation_fn=dnn_activation_fn,
            dnn_dropout=dnn_dropout,
            **common(weight_column_name, config, enable_centered_bias),
        )


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
        self._feature_engineering_fn = feature_engineering_fn
        super().__init__(
            label_dimension=label_dimension,
            model_dir=model_dir,
            linear_feature_columns=linear_feature_columns,
            linear_optimizer=clipped(
                linear_optimizer, linear(linear_feature_columns), gradient_clip_norm
            ),
            dnn_feature_columns=dnn_feature_columns,
            dnn_optimizer=clipped(dnn_optimizer, deep, gradient_clip_norm),
            dnn_hidden_units=dnn_hidden_units,
            dnn_activation_fn=dnn_activation_fn,
            dnn_dropout=dnn_dropout,
            **common(weight_column_name, config, enable_centered_bias),
        )
