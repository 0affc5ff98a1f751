"""Stand-in for `tf.contrib.estimator`: heads, estimators and hooks under their old names."""

from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

import estimator_train as est
import estimator_train.compat.v1 as v1
from estimator_train import add_metrics
from estimator_train.experimental import (
    InMemoryEvaluatorHook,
    build_raw_supervised_input_receiver_fn,
    call_logit_fn,
    make_early_stopping_hook,
    make_stop_at_checkpoint_step_hook,
    stop_if_higher_hook,
    stop_if_lower_hook,
    stop_if_no_decrease_hook,
    stop_if_no_increase_hook,
)
from estimator_train.extension import (
    clip_gradients_by_norm,
    dnn_logit_fn_builder,
    forward_features,
    linear_logit_fn_builder,
    read_eval_metrics,
)
from tf_contrib._types import Optimizer
from tf_contrib.estimator.annotations import (
    DNNClassifierWithLayerAnnotations,
    DNNRegressorWithLayerAnnotations,
)
from tf_contrib.estimator.boosted_trees import (
    boosted_trees_classifier_train_in_memory,
    boosted_trees_regressor_train_in_memory,
)
from tf_contrib.estimator.heads import (
    binary_classification_head,
    logistic_regression_head,
    multi_class_head,
    multi_head,
    multi_label_head,
    poisson_regression_head,
    regression_head,
)
from tf_contrib.estimator.receivers import (
    build_supervised_input_receiver_fn_from_input_fn,
)
from tf_contrib.estimator.rnn_estimators import RNNClassifier, RNNEstimator
from tf_contrib.estimator.saved_model_estimator import SavedModelEstimator

__all__ = [
    "DNNClassifierWithLayerAnnotations",
    "DNNRegressorWithLayerAnnotations",
    "InMemoryEvaluatorHook",
    "RNNClassifier",
    "RNNEstimator",
    "SavedModelEstimator",
    "TowerOptimizer",
    "add_metrics",
    "binary_classification_head",
    "boosted_trees_classifier_train_in_memory",
    "boosted_trees_regressor_train_in_memory",
    "build_raw_supervised_input_receiver_fn",
    "build_supervised_input_receiver_fn_from_input_fn",
    "call_logit_fn",
    "clip_gradients_by_norm",
    "dnn_logit_fn_builder",
    "export_all_saved_models",
    "export_saved_model_for_mode",
    "forward_features",
    "linear_logit_fn_builder",
    "logistic_regression_head",
    "make_early_stopping_hook",
    "make_stop_at_checkpoint_step_hook",
    "multi_class_head",
    "multi_head",
    "multi_label_head",
    "poisson_regression_head",
    "read_eval_metrics",
    "regression_head",
    "replicate_model_fn",
    "stop_if_higher_hook",
    "stop_if_lower_hook",
    "stop_if_no_decrease_hook",
    "stop_if_no_increase_hook",
]

BaselineEstimator = v1.BaselineEstimator
DNNEstimator = v1.DNNEstimator
DNNLinearCombinedEstimator = v1.DNNLinearCombinedEstimator
LinearEstimator = v1.LinearEstimator


def export_saved_model_for_mode(
    estimator: est.Estimator,
    export_dir_base: str,
    input_receiver_fn: Callable[[], Any],
    assets_extra: Mapping[str, str] | None = None,
    as_text: bool = False,
    checkpoint_path: str | None = None,
    mode: str = est.ModeKeys.PREDICT,
) -> bytes:
    """Exports a SavedModel for one mode; see `Estimator.export_saved_model`."""
    return estimator.export_saved_model(
        export_dir_base, input_receiver_fn, assets_extra, as_text, checkpoint_path, mode
    )


def export_all_saved_models(
    estimator: est.Estimator,
    export_dir_base: str,
    input_receiver_fn_map: Mapping[str, Callable[[], Any]],
    assets_extra: Mapping[str, str] | None = None,
    as_text: bool = False,
    checkpoint_path: str | None = None,
) -> bytes:
    """See `Estimator.experimental_export_all_saved_models`."""
    return estimator.experimental_export_all_saved_models(
        export_dir_base, input_receiver_fn_map, assets_extra, as_text, checkpoint_path
    )


def replicate_model_fn(
    model_fn: Callable[..., Any],
    loss_reduction: str = tf.compat.v1.losses.Reduction.SUM_BY_NONZERO_WEIGHTS,
    devices: object = None,
) -> Callable[..., Any]:
    """Returns model_fn unchanged: set RunConfig(train_distribute=...) to train on several replicas.

    With a single replica, losses need no reduction and devices need no choice.
    """
    del loss_reduction, devices
    return model_fn


def TowerOptimizer(optimizer_or_optimizer_fn: Optimizer | Callable[[], Optimizer]) -> Optimizer:  # noqa: N802
    """Returns the given optimizer, without a wrapper: there is a single replica.

    Args:
      optimizer_or_optimizer_fn: Optimizer, or a function that returns one.
    """
    if isinstance(optimizer_or_optimizer_fn, tf.compat.v1.train.Optimizer):
        return optimizer_or_optimizer_fn
    return optimizer_or_optimizer_fn()
