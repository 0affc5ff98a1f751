"""Private model_fns and optimizers of tf.estimator's canned estimators."""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

import estimator_train as est
from estimator_train.canned.arguments import KerasChoice, V1Choice
from estimator_train.canned.models import Deep, Linear
from estimator_train.canned.specs import TrainedPart, make_model_fn, make_v1_model_fn

_Activation = Callable[[Any], Any]


def _dnn_model_fn(
    features: Any,
    labels: Any,
    mode: str,
    head: est.Head,
    hidden_units: Sequence[int],
    feature_columns: Sequence[Any],
    optimizer: Any = "Adagrad",
    activation_fn: _Activation = tf.nn.relu,
    dropout: float | None = None,
    input_layer_partitioner: Any = None,
    config: est.RunConfig | None = None,
    use_tpu: bool = False,
    batch_norm: bool = False,
) -> est.EstimatorSpec:
    del use_tpu
    part = Deep.build(feature_columns, hidden_units, activation_fn, dropout, batch_norm, v1=True)
    trained = [TrainedPart(part, V1Choice(optimizer, 0.05))]
    model_fn = make_v1_model_fn(head, trained, input_layer_partitioner, whole_in_scope=True)
    return model_fn(features, labels, mode, config or est.RunConfig())


def dnn_model_fn_v2(
    features: Any,
    labels: Any,
    mode: str,
    head: est.Head,
    hidden_units: Sequence[int],
    feature_columns: Sequence[Any],
    optimizer: Any = "Adagrad",
    activation_fn: _Activation = tf.nn.relu,
    dropout: float | None = None,
    config: est.RunConfig | None = None,
    use_tpu: bool = False,
    batch_norm: bool = False,
) -> est.EstimatorSpec:
    """Returns the spec of a deep neural network; see `DNNEstimator`."""
    del config, use_tpu
    part = Deep.build(feature_columns, hidden_units, activation_fn, dropout, batch_norm)
    model_fn = make_model_fn(head, [TrainedPart(part, KerasChoice(optimizer, 0.001))])
    return model_fn(features, labels, mode)


def _linear_model_fn(
    features: Any,
    labels: Any,
    mode: str,
    head: est.Head,
    feature_columns: Sequence[Any],
    optimizer: Any,
    partitioner: Any,
    config: est.RunConfig | None,
    sparse_combiner: str = "sum",
) -> est.EstimatorSpec:
    part = Linear.build(feature_columns, sparse_combiner, v1=True)
    trained = [TrainedPart(part, V1Choice(optimizer, 0.2))]
    model_fn = make_v1_model_fn(head, trained, partitioner, whole_in_scope=True)
    return model_fn(features, labels, mode, config or est.RunConfig())


def get_optimizer_instance_v2(opt: Any, learning_rate: float | None = None) -> Any:
    """Returns the tf_keras optimizer that an argument of a canned estimator describes."""
    return KerasChoice(opt, 0.001 if learning_rate is None else learning_rate).make()
