"""Estimator of `tf.contrib.learn` that adds the metrics of two classes to a model_fn."""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

import estimator_train.compat.v1 as v1
from estimator_train.extension import list_argument_names
from tf_contrib._types import Features
from tf_contrib.learn.estimators import Estimator
from tf_contrib.learn.heads.classes import create_probability_metrics
from tf_contrib.learn.keys import ModeKeys
from tf_contrib.learn.model_fns import ModelFnOps


def LogisticRegressor(
    model_fn: Callable[..., Any],
    thresholds: Sequence[float] | None = None,
    model_dir: str | None = None,
    config: v1.RunConfig | None = None,
    feature_engineering_fn: Callable[..., Any] | None = None,
) -> Estimator:
    """Creates an estimator of labels 0 and 1 that computes the metrics of their probabilities.

    Args:
      model_fn: Function of features, labels and mode, or also params, that returns probabilities of
        label 1, the loss and train_op.
      thresholds: Probabilities at which metrics are computed; by default 0.5.
      model_dir: Directory of the model.
      config: Settings of the run.
      feature_engineering_fn: Function that converts features and labels.
    """
    takes_params = "params" in list_argument_names(model_fn)

    def model_fn_with_metrics(
        features: Features, labels: tf.Tensor, mode: str, params: Any
    ) -> ModelFnOps:
        arguments = (features, labels, mode, *([params] if takes_params else []))
        probabilities, loss, train_op = model_fn(*arguments)
        metrics = {}
        if mode == ModeKeys.EVAL:
            metrics = create_probability_metrics(
                tf.cast(labels, tf.float32), probabilities, None, thresholds or (0.5,)
            )
        return ModelFnOps(mode, probabilities, loss, train_op, metrics)

    return Estimator(model_fn_with_metrics, model_dir, config, None, feature_engineering_fn)
