"""EstimatorSpecs of canned models, of both generations; and logits for model_fns of users."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from estimator_train.canned.arguments import (
    Config,
    FeatureColumns,
    OptimizerChoice,
    Partitioner,
)
from estimator_train.canned.columns import Batch
from estimator_train.canned.models import Deep, Linear
from estimator_train.canned.sdca import LinearSDCA
from estimator_train.engine.job import call_with_known, convert_on_replica
from estimator_train.estimator_spec import EstimatorSpec, ModeKeys
from estimator_train.heads import Head
from estimator_train.heads.keys import FeatureTensors, Labels
from estimator_train.heads.training import minimize_parts
from estimator_train.heads.v1 import V1_HEADS
from estimator_train.run_config import RunConfig

_WIDE_SLICE_BYTES = 64 << 20

_v1 = tf.compat.v1
_LOG = tf.get_logger()


class TrainedPart(NamedTuple):
    """Part of a model with its optimizer.

    Attributes:
      part: Has a scope and computes logits, as `parts.Linear` does.
      optimizer: Trains the variables of that scope.
    """

    part: Any
    optimizer: OptimizerChoice


def make_model_fn(head: Head, trained: Sequence[TrainedPart]) -> Callable[..., EstimatorSpec]:
    """Returns the model_fn of a v2 estimator.

    Args:
      head: A `Head`.
      trained: The parts, whose logits are added up.
    """

    def model_fn(features: FeatureTensors, labels: Labels, mode: str) -> EstimatorSpec:
        _check_optimizers(trained, mode)
        batch = Batch(features)
        logits, updates = _compute_logits(batch, [part for part, _ in trained], head, mode)
        training = _make_training_arguments(head, trained) if mode == ModeKeys.TRAIN else {}
        return _create_spec(
            head, batch, mode, logits, labels, update_ops=updates or None, **training
        )

    return model_fn


def make_v1_model_fn(
    head: Head,
    trained: Sequence[TrainedPart],
    partitioner: Partitioner | None = None,
    *,
    whole_in_scope: bool = False,
) -> Callable[..., EstimatorSpec]:
    """Returns the model_fn of a v1 estimator.

    Args:
      head: A `Head`.
      trained: The parts, whose logits are added up.
      partitioner: Partitions the variables of columns; None for the default of `_spread`.
      whole_in_scope: Whether the whole model, not only its logits, is in the scope of its one
        part.
    """

    def model_fn(
        features: FeatureTensors, labels: Labels, mode: str, config: RunConfig
    ) -> EstimatorSpec:
        batch = Batch(features, v1=True)
        parts = [_spread(part, partitioner, config) for part, _ in trained]
        _check_optimizers(trained, mode)
        if not whole_in_scope:
            computed = _compute_logits(batch, parts, head, mode)
            return _make_v1_spec(head, batch, mode, computed, labels, trained)
        [part] = parts
        with _open_scope(part.scope):
            computed = part.logits(batch, head.logits_dimension, mode == ModeKeys.TRAIN)
            return _make_v1_spec(head, batch, mode, computed, labels, trained)

    return model_fn


def make_sdca_model_fn(
    head: Head,
    part: Linear,
    sdca: LinearSDCA,
    partitioner: Partitioner | None = None,
    *,
    v1: bool = False,
) -> Callable[..., EstimatorSpec]:
    """Returns the model_fn of a linear estimator that dual coordinate ascent trains.

    Args:
      head: A `Head` that passed the check of sdca.
      part: The linear model.
      sdca: The optimizer.
      partitioner: Partitions the variables of a v1 estimator; None for the default of `_spread`.
      v1: Whether it is a v1 estimator, which is in the part's scope as a whole.
    """
    no_scope = contextlib.nullcontext()

    def model_fn(
        features: FeatureTensors, labels: Labels, mode: str, config: RunConfig
    ) -> EstimatorSpec:
        batch = Batch(features, v1=v1)
        linear = _spread(part, partitioner, config) if v1 else part
        # tf.estimator 2.15 nests the scope twice if a v1 estimator has a v2 head.
        more = _open_scope(part.scope) if v1 and not isinstance(head, V1_HEADS) else no_scope
        with _open_scope(part.scope) as scope, more:
            model = linear.model(batch, head.logits_dimension)

        def train(loss: tf.Tensor) -> Any:
            return sdca.train_op(head, model, batch.features, labels)

        training = {"train_op_fn": train} if mode == ModeKeys.TRAIN else {}
        same_scope = _v1.variable_scope(scope, auxiliary_name_scope=False)
        same_names = tf.name_scope(scope.original_name_scope)
        with same_scope if v1 else no_scope, same_names if v1 else no_scope:
            return _create_spec(head, batch, mode, model.logits, labels, **training)

    return model_fn


def _check_optimizers(trained: Sequence[TrainedPart], mode: str) -> None:
    """Checks the optimizers before the network is built, in training only."""
    if mode == ModeKeys.TRAIN:
        for _, optimizer in trained:
            optimizer.check()


def _compute_logits(
    batch: Batch, parts: Sequence[Any], head: Head, mode: str
) -> tuple[tf.Tensor, list[Any]]:
    """Computes the sum of the parts' logits; returns it with their update operations."""
    logits, updates = [], []
    for part in parts:
        with _open_scope(part.scope):
            part_logits, part_updates = part.logits(
                batch, head.logits_dimension, mode == ModeKeys.TRAIN
            )
        logits.append(part_logits)
        updates += part_updates
    return functools.reduce(operator.add, logits), updates


def _open_scope(name: str) -> Any:
    return _v1.variable_scope(name, use_resource=True)


def _make_training_arguments(head: Head, trained: Sequence[TrainedPart]) -> dict[str, Any]:
    """Returns the arguments with which a v2 head trains the variables of the parts."""
    step = _v1.train.get_or_create_global_step()
    optimizers = [
        optimizer.make(None if number else step) for number, (_, optimizer) in enumerate(trained)
    ]
    variables = [_get_variables_in(part.scope) for part, _ in trained]
    _warn_of_untrained([variable for found in variables for variable in found])
    if len(trained) == 1:
        return {"optimizer": optimizers[0], "trainable_variables": variables[0]}
    pairs = list(zip(optimizers, variables, strict=True))
    return {"train_op_fn": lambda loss: minimize_parts(loss, pairs, head.loss_reduction)}


def _get_variables_in(scope: str) -> list[Any]:
    return _v1.get_collection(_v1.GraphKeys.TRAINABLE_VARIABLES, f"{scope}/")


def _warn_of_untrained(trained: Sequence[Any]) -> None:
    """Warns of variables that no optimizer trains, which tf.estimator 2.15 does not report."""
    names = {variable.name for variable in trained}
    others = [v.op.name for v in _v1.trainable_variables() if v.name not in names]
    if others:
        _LOG.warning(
            "These variables are not trained: %s. Embeddings of tf.feature_column."
            "shared_embeddings belong to no part of a v2 model; the estimators of "
            "estimator_train.compat.v1 train them.",
            others,
        )


def _make_v1_spec(
    head: Head,
    batch: Batch,
    mode: str,
    computed: tuple[tf.Tensor, list[Any]],
    labels: Labels,
    trained: Sequence[TrainedPart],
) -> EstimatorSpec:
    """Returns the spec of a v1 model, whose optimizers train the variables of their parts."""
    logits, updates = computed

    def train(loss: tf.Tensor) -> Any:
        step = _v1.train.get_or_create_global_step()
        if len(trained) == 1:
            return trained[0].optimizer.make().minimize(loss, step)
        operations = [
            optimizer.make().minimize(loss, var_list=_get_variables_in(part.scope))
            for part, optimizer in trained
        ]
        with tf.control_dependencies(operations):
            return _v1.assign_add(step, 1)

    training = {"train_op_fn": train} if mode == ModeKeys.TRAIN else {}
    return _create_spec(head, batch, mode, logits, labels, update_ops=updates or None, **training)


def _create_spec(
    head: Head, batch: Batch, mode: str, logits: tf.Tensor, labels: Labels, **arguments: Any
) -> EstimatorSpec:
    """Calls the head, which may be the user's; see `Head.create_estimator_spec`."""
    create = convert_on_replica(head.create_estimator_spec)
    return create(batch.features, mode, logits, labels=labels, **arguments)


def _spread(part: Any, given: Partitioner | None, config: RunConfig) -> Any:
    """Returns a part of a model with its variables spread over the config's parameter servers.

    Args:
      part: The part.
      given: The partitioner of weights and embeddings of columns; by default slices have
        64 MiB or more. Slices of hidden layers have 256 KiB or more.
      config: The RunConfig.
    """
    servers = max(1, config.num_ps_replicas)
    make = tf.compat.v1.min_max_variable_partitioner
    columns = given or make(max_partitions=servers, min_slice_size=_WIDE_SLICE_BYTES)
    if isinstance(part, Linear):
        return dataclasses.replace(part, partitioner=columns)
    if isinstance(part, Deep):
        layers = make(max_partitions=servers)
        return dataclasses.replace(part, input_partitioner=columns, hidden_partitioner=layers)
    return part


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
