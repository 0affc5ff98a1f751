"""Combined linear and deep estimators of `tf.contrib.learn`; see `canned`."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

import estimator_train.compat.v1 as v1
from tf_contrib.learn.canned import (
    CannedEstimator,
    Classifier,
    Regressor,
    create_class_head,
    create_number_head,
)
from tf_contrib.learn.heads import Head
from tf_contrib.learn.model_fns import ModelFnOps
from tf_contrib.learn.networks import (
    DeepPart,
    LinearPart,
    build_combined_model,
)


def _prepare(head: Head, given: Mapping[str, Any]) -> tuple[Any, ...]:
    """Returns the arguments of CannedEstimator from those of a combined estimator.

    Raises:
      ValueError: There are no columns, or deep columns without hidden units.
    """
    wide, deep = given["linear_feature_columns"], given["dnn_feature_columns"]
    if not wide and not deep:
        raise ValueError("Either linear_feature_columns or dnn_feature_columns must be defined.")
    if deep and not given["dnn_hidden_units"]:
        raise ValueError("dnn_hidden_units must be defined for dnn_feature_columns.")
    is_joint = given["_joint_linear_weights"]
    linear = LinearPart(tuple(wide), given["linear_optimizer"], is_joint) if wide else None
    deep_part = None
    if deep:
        deep_part = DeepPart(
            tuple(deep),
            tuple(given["dnn_hidden_units"]),
            given["dnn_optimizer"],
            given["dnn_activation_fn"],
            given["dnn_dropout"],
            given.get("input_layer_min_slice_size"),
            given["embedding_lr_multipliers"] or {},
            separator="/",
        )
    counts_once, clip_norm = given["fix_global_step_increment_bug"], given["gradient_clip_norm"]

    def build(*arguments: Any) -> ModelFnOps:
        return build_combined_model(linear, deep_part, counts_once, head, clip_norm, *arguments)

    return build, given["model_dir"], given["config"], given["feature_engineering_fn"]


class DNNLinearCombinedClassifier(Classifier):
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
        super().__init__(*_prepare(create_class_head(locals()), locals()))


class DNNLinearCombinedRegressor(Regressor):
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
        super().__init__(*_prepare(create_number_head(locals()), locals()))


class DNNLinearCombinedEstimator(CannedEstimator):
    """Combined estimator with a head; others are those of `DNNLinearCombinedClassifier`."""

    def __init__(
        self,
        head: Head,
        model_dir: str | None = None,
        linear_feature_columns: Sequence[Any] | None = None,
        linear_optimizer: Any = None,
        _joint_linear_weights: bool = False,
        dnn_feature_columns: Sequence[Any] | None = None,
        dnn_optimizer: Any = None,
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Callable[[Any], Any] | None = None,
        dnn_dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        config: v1.RunConfig | None = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        embedding_lr_multipliers: Mapping[Any, float] | None = None,
        fix_global_step_increment_bug: bool = False,
        input_layer_partitioner: Any = None,
    ) -> None:
        dnn_activation_fn = dnn_activation_fn or tf.nn.relu
        super().__init__(*_prepare(head, locals()))
