"""Functions from features to logits, for model_fns that users write."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_train.canned.parts.argument_types import Config, FeatureColumns, Partitioner
from estimator_train.canned.parts.columns import Batch
from estimator_train.canned.parts.models import Deep, Linear
from estimator_train.engine.user_functions import call_with_known
from estimator_train.estimator_spec.spec import ModeKeys
from estimator_train.heads.types import FeatureTensors


def call_logit_fn(
    logit_fn: Callable[..., Any], features: FeatureTensors, mode: str, params: Any, config: Config
) -> Any:
    """Calls a function of `features` and any of `mode`, `params` and `config`.

    Args:
      logit_fn: The function.
      features: The batch's features.
      mode: A `ModeKeys` value.
      params: Hyper-parameters.
      config: A RunConfig.

    Returns:
      The logits it returned: a tensor, or a dict of head name to tensor.

    Raises:
      ValueError: It returned something else.
    """
    available = {"features": features, "mode": mode, "params": params, "config": config}
    logits = call_with_known(logit_fn, available)
    found = logits if isinstance(logits, Mapping) else {"logits": logits}
    if not all(isinstance(key, str) and tf.is_tensor(value) for key, value in found.items()):
        raise ValueError(
            "logit_fn should return a Tensor or a dictionary mapping strings to Tensors.  "
            f"logit_fn returned: {logits}"
        )
    return logits


def linear_logit_fn_builder(
    units: int, feature_columns: FeatureColumns, sparse_combiner: str = "sum"
) -> Callable[[Any], tf.Tensor]:
    """Returns a function of `features` that computes the logits of a linear model.

    Its variables are named after the scope in which it is called. An example has `units` logits,
    and the other arguments are those of `LinearEstimator`.

    Raises:
      TypeError: units is not an integer.
      ValueError: A column is wrong.
    """
    part = Linear.build(feature_columns, sparse_combiner, v1=True)
    units = operator.index(units)

    def linear_logit_fn(features: FeatureTensors) -> tf.Tensor:
        return part.logits(Batch(features, v1=True), units, training=False).tensor

    return linear_logit_fn


def dnn_logit_fn_builder(
    units: int,
    hidden_units: Sequence[int],
    feature_columns: FeatureColumns,
    activation_fn: Callable[[Any], Any],
    dropout: float | None,
    input_layer_partitioner: Partitioner | None,
    batch_norm: bool,
) -> Callable[[Any, str], tf.Tensor]:
    """Returns a function of `features` and `mode` that computes the logits of a network.

    Its variables are named after the scope in which it is called; updates of batch norm are in
    the collection UPDATE_OPS. An example has `units` logits. An `input_layer_partitioner`
    partitions the embeddings. The other arguments are those of `DNNEstimator`.

    Raises:
      ValueError, TypeError: units is not an int; and as `DNNEstimator`.
    """
    part = Deep.build(
        feature_columns,
        hidden_units,
        activation_fn,
        dropout,
        batch_norm,
        v1=True,
        input_partitioner=input_layer_partitioner,
    )
    if not isinstance(units, int):
        raise ValueError(f"units must be an int.  Given type: {type(units)}")
    units = int(units)  # A bool is not a valid size of a variable.

    def dnn_logit_fn(features: FeatureTensors, mode: str) -> tf.Tensor:
        batch = Batch(features, v1=True)
        return part.logits(batch, units, mode == ModeKeys.TRAIN).tensor

    return dnn_logit_fn
