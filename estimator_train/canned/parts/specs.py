"""From the parts of a canned model to its EstimatorSpec, in either generation."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from estimator_train.canned.parts.columns import Batch
from estimator_train.canned.parts.models import Linear
from estimator_train.canned.parts.optimizer_arguments import OptimizerChoice
from estimator_train.canned.parts.partitioners import spread
from estimator_train.canned.parts.sdca import LinearSDCA
from estimator_train.engine.user_functions import user_function
from estimator_train.estimator_spec.spec import EstimatorSpec, ModeKeys
from estimator_train.heads.training import minimize_parts
from estimator_train.heads.v1 import V1_HEADS

_v1 = tf.compat.v1
_LOG = tf.get_logger()


class TrainedPart(NamedTuple):
    """A part of a model and what trains it.

    Attributes:
      part: Has a scope and makes logits, as `parts.Linear` does.
      optimizer: Trains the variables of that scope.
    """

    part: Any
    optimizer: OptimizerChoice


def model_fn_of(head: Any, trained: Sequence[TrainedPart]) -> Callable[..., EstimatorSpec]:
    """Returns the model_fn of a v2 estimator.

    Args:
      head: A `Head`.
      trained: The parts, whose logits are added up.
    """

    def model_fn(features: Any, labels: Any, mode: str) -> EstimatorSpec:
        _check_optimizers(trained, mode)
        batch = Batch(features)
        logits, updates = _logits(batch, [part for part, _ in trained], head, mode)
        return user_function(head.create_estimator_spec)(
            batch.features,
            mode,
            logits,
            labels=labels,
            update_ops=updates or None,
            **(_training(head, trained) if mode == ModeKeys.TRAIN else {}),
        )

    return model_fn


def v1_model_fn_of(
    head: Any,
    trained: Sequence[TrainedPart],
    partitioner: Any = None,
    *,
    whole_in_scope: bool = False,
) -> Callable[..., EstimatorSpec]:
    """Returns the model_fn of a v1 estimator.

    Args:
      head: A `Head`.
      trained: The parts, whose logits are added up.
      partitioner: Partitions the variables of columns; None for the default of `spread`.
      whole_in_scope: Whether not the logits alone but all of the model is in the scope of its
        part, of which there is one.
    """

    def model_fn(features: Any, labels: Any, mode: str, config: Any) -> EstimatorSpec:
        batch = Batch(features, v1=True)
        parts = [spread(part, partitioner, config) for part, _ in trained]
        _check_optimizers(trained, mode)
        if not whole_in_scope:
            made = _logits(batch, parts, head, mode)
            return _v1_spec(head, batch, mode, made, labels, trained)
        [part] = parts
        with _scope(part.scope):
            made = part.logits(batch, head.logits_dimension, mode == ModeKeys.TRAIN)
            return _v1_spec(head, batch, mode, made, labels, trained)

    return model_fn


def sdca_model_fn_of(
    head: Any, part: Linear, sdca: LinearSDCA, partitioner: Any = None, *, v1: bool = False
) -> Callable[..., EstimatorSpec]:
    """Returns the model_fn of a linear estimator that dual coordinate ascent trains.

    Args:
      head: A `Head` that passed the check of sdca.
      part: The linear model.
      sdca: Trains it.
      partitioner: Of a v1 estimator: partitions the variables; None for the default of `spread`.
      v1: Whether it is a v1 estimator, which is in the part's scope as a whole.
    """
    no_scope = contextlib.nullcontext()

    def model_fn(features: Any, labels: Any, mode: str, config: Any) -> EstimatorSpec:
        batch = Batch(features, v1=v1)
        linear = spread(part, partitioner, config) if v1 else part
        # tf.estimator 2.15 is in the scope once more where a v1 estimator has a head of v2.
        more = _scope(part.scope) if v1 and not isinstance(head, V1_HEADS) else no_scope
        with _scope(part.scope) as scope, more:
            model = linear.model(batch, head.logits_dimension)

        def train(loss: tf.Tensor) -> Any:
            del loss
            return sdca.train_op(head, model, batch.features, labels)

        at_home = _v1.variable_scope(scope, auxiliary_name_scope=False)
        with at_home if v1 else no_scope:
            return user_function(head.create_estimator_spec)(
                batch.features,
                mode,
                model.logits,
                labels=labels,
                **({"train_op_fn": train} if mode == ModeKeys.TRAIN else {}),
            )

    return model_fn


def _check_optimizers(trained: Sequence[TrainedPart], mode: str) -> None:
    """Has wrong optimizers refused before the network is built, in training only."""
    if mode == ModeKeys.TRAIN:
        for _, optimizer in trained:
            optimizer.check()


def _logits(
    batch: Batch, parts: Sequence[Any], head: Any, mode: str
) -> tuple[tf.Tensor, list[Any]]:
    """The sum of the parts' logits, and their update operations."""
    logits, updates = [], []
    for part in parts:
        with _scope(part.scope):
            made = part.logits(batch, head.logits_dimension, mode == ModeKeys.TRAIN)
        logits.append(made[0])
        updates += made[1]
    return (tf.add_n(logits) if len(logits) > 1 else logits[0]), updates


def _scope(name: str) -> Any:
    return _v1.variable_scope(name, use_resource=True)


def _training(head: Any, trained: Sequence[TrainedPart]) -> dict[str, Any]:
    """How a v2 head has to train the variables of the parts."""
    step = _v1.train.get_or_create_global_step()
    optimizers = [
        optimizer.make(None if number else step) for number, (_, optimizer) in enumerate(trained)
    ]
    variables = [_variables_in(part.scope) for part, _ in trained]
    _tell_of_others([variable for found in variables for variable in found])
    if len(trained) == 1:
        return {"optimizer": optimizers[0], "trainable_variables": variables[0]}
    pairs = list(zip(optimizers, variables, strict=True))
    return {"train_op_fn": lambda loss: minimize_parts(loss, pairs, head.loss_reduction)}


def _variables_in(scope: str) -> list[Any]:
    return _v1.get_collection(_v1.GraphKeys.TRAINABLE_VARIABLES, f"{scope}/")


def _tell_of_others(trained: Sequence[Any]) -> None:
    """Warns of variables that keep their initial values; tf.estimator 2.15 leaves them silently."""
    names = {variable.name for variable in trained}
    others = [v.op.name for v in _v1.trainable_variables() if v.name not in names]
    if others:
        _LOG.warning(
            "These variables are not trained: %s. Embeddings of tf.feature_column."
            "shared_embeddings belong to no part of a v2 model; the estimators of "
            "estimator_train.compat.v1 train them.",
            others,
        )


def _v1_spec(
    head: Any,
    batch: Batch,
    mode: str,
    made: tuple[tf.Tensor, list[Any]],
    labels: Any,
    trained: Sequence[TrainedPart],
) -> EstimatorSpec:
    """The spec of a v1 model, whose optimizers train the variables of their parts."""
    logits, updates = made

    def train(loss: tf.Tensor) -> Any:
        step = _v1.train.get_or_create_global_step()
        if len(trained) == 1:
            return trained[0].optimizer.make().minimize(loss, step)
        operations = [
            optimizer.make().minimize(loss, var_list=_variables_in(part.scope))
            for part, optimizer in trained
        ]
        with tf.control_dependencies(operations):
            return _v1.assign_add(step, 1)

    return user_function(head.create_estimator_spec)(
        batch.features,
        mode,
        logits,
        labels=labels,
        update_ops=updates or None,
        **({"train_op_fn": train} if mode == ModeKeys.TRAIN else {}),
    )
