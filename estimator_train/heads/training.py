"""The training operation of a head."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf
import tf_keras

from estimator_train.engine.job import convert_on_replica
from estimator_train.engine.tf_internals.modes import enter_eager_mode
from estimator_train.heads.keys import Optimizer
from estimator_train.optimizers.base import SCOPE, compute_gated_gradients, find_inner_optimizer
from estimator_train.optimizers.graph_optimizers import make_graph_optimizer

_DUPLICATING_STRATEGIES = (
    tf.compat.v1.distribute.experimental.CentralStorageStrategy,
    tf.compat.v1.distribute.experimental.ParameterServerStrategy,
)


def build_train_op(
    loss: tf.Tensor,
    optimizer: Optimizer,
    trainable_variables: Sequence[tf.Variable] | None,
    train_op_fn: Callable[[tf.Tensor], Any] | None,
    update_ops: Sequence[tf.Operation] | None,
    loss_reduction: str,
) -> Any:
    """Makes the operation that runs one training step.

    Args:
      loss: The loss to minimize.
      optimizer: A tf_keras optimizer, or None where train_op_fn is given. A legacy one, or one
        that defines `get_updates`, counts its steps in its `iterations`; any other counts them
        in the global step.
      trainable_variables: The variables the optimizer trains.
      train_op_fn: Function of the loss that returns the operation, or None.
      update_ops: Operations that run with the step.
      loss_reduction: How the loss was reduced over the batch.

    Raises:
      ValueError: Both or none of optimizer and train_op_fn are given, the optimizer is no
        tf_keras optimizer or has no trainable_variables, or these or update_ops are neither
        a list nor a tuple.
    """
    check_training_arguments(optimizer, train_op_fn)
    if train_op_fn is not None:
        with tf.name_scope(SCOPE):
            train_op = convert_on_replica(train_op_fn)(loss)
    else:
        train_op = _minimize(
            _scale_for_replicas(loss, loss_reduction), optimizer, trainable_variables
        )
    if update_ops is None:
        return train_op
    _check_list("update_ops", update_ops)
    with tf.name_scope(SCOPE):
        return tf.group(train_op, *update_ops)


def minimize_parts(
    loss: tf.Tensor,
    parts: Sequence[tuple[Any, Sequence[tf.Variable]]],
    loss_reduction: str,
) -> Any:
    """Makes the operation of a training step in which each part of a model has its own optimizer.

    Args:
      loss: The loss to minimize.
      parts: tf_keras optimizers with the variables they train. The first counts the step as in
        `build_train_op`, the others count for themselves.
      loss_reduction: How the loss was reduced over the batch.
    """
    loss = _scale_for_replicas(loss, loss_reduction)
    operations = []
    for number, (optimizer, variables) in enumerate(parts):
        if hasattr(optimizer, "get_updates"):
            operations.append(_call_get_updates(loss, optimizer, variables))
        else:
            step = _create_step_counter(optimizer) if number else None
            operations.append(_minimize(loss, optimizer, variables, step))
    return tf.group(*operations)


def check_training_arguments(
    optimizer: Optimizer, train_op_fn: Callable[[tf.Tensor], Any] | None
) -> None:
    """Checks that either an optimizer or a train_op_fn is given.

    Raises:
      ValueError: Both or none of optimizer and train_op_fn are given.
    """
    if optimizer is not None and train_op_fn is not None:
        raise ValueError("train_op_fn and optimizer cannot both be set.")
    if optimizer is None and train_op_fn is None:
        raise ValueError("train_op_fn and optimizer cannot both be None.")


def _create_step_counter(optimizer: Optimizer) -> tf.Variable:
    """Creates the counter of steps of an optimizer other than the model's first."""
    return tf.compat.v1.get_variable(
        f"{SCOPE}/{optimizer.name}/count",
        [],
        tf.int64,
        tf.compat.v1.zeros_initializer(),
        trainable=False,
        aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA,
    )


def _minimize(
    loss: tf.Tensor,
    optimizer: Optimizer,
    trainable_variables: Sequence[tf.Variable] | None,
    step: tf.Variable | None = None,
) -> tf.Operation:
    if not isinstance(
        optimizer, (tf_keras.optimizers.Optimizer, tf_keras.optimizers.legacy.Optimizer)
    ):
        raise ValueError(
            "The given optimizer is not a tf.keras.optimizers.Optimizer instance. Received "
            f"optimizer of type {type(optimizer)}. For a tf.compat.v1 optimizer give train_op_fn="
            "lambda loss: optimizer.minimize(loss, tf.compat.v1.train.get_global_step())."
        )
    if trainable_variables is None:
        raise ValueError(f"trainable_variables cannot be None. Given {trainable_variables}")
    _check_list("trainable_variables", trainable_variables)
    variables = list(trainable_variables)
    if hasattr(optimizer, "get_updates"):
        with tf.name_scope(SCOPE):
            return _call_get_updates(loss, optimizer, variables)
    if step is None:
        step = tf.compat.v1.train.get_or_create_global_step()
    if _is_graph_optimizer(optimizer):
        return _minimize_in_graph(loss, optimizer, variables, step)
    with enter_eager_mode():
        settings = make_graph_optimizer(optimizer)
    return settings.minimize(loss, variables, step).operation


def _check_list(name: str, value: Any) -> None:
    """Raises a ValueError if an argument is neither a list nor a tuple."""
    if not isinstance(value, (list, tuple)):
        raise ValueError(f"{name} should be a list or a tuple. Given type: {type(value)}.")


def _call_get_updates(
    loss: tf.Tensor, optimizer: Optimizer, variables: Sequence[tf.Variable]
) -> Any:
    """Returns a step of a legacy optimizer, or of one that defines `get_updates`."""
    updates = optimizer.get_updates(loss, variables)[0]
    if isinstance(tf.distribute.get_strategy(), _DUPLICATING_STRATEGIES):
        _drop_duplicate_variables()
    return updates


def _drop_duplicate_variables() -> None:
    """Removes duplicates from the graph's global variables.

    These strategies add an optimizer's slots wrapped and unwrapped; a Saver rejects duplicates.
    """
    entered = tf.compat.v1.get_collection_ref(tf.compat.v1.GraphKeys.GLOBAL_VARIABLES)
    entered[:] = {id(variable.handle): variable for variable in entered}.values()


def _is_graph_optimizer(optimizer: tf_keras.optimizers.Optimizer) -> bool:
    """Returns whether a new optimizer was created in a graph, as in a model_fn."""
    return all(hasattr(variable, "graph") for variable in optimizer.variables)


def _minimize_in_graph(
    loss: tf.Tensor,
    optimizer: tf_keras.optimizers.Optimizer,
    variables: Sequence[tf.Variable],
    step: tf.Variable,
) -> Any:
    """Builds a step of a new optimizer of this graph, which needs the order of eager execution.

    A tf.function keeps that order; it is called once for all replicas.
    """
    inner = find_inner_optimizer(optimizer)
    if inner is not optimizer:
        raise ValueError(
            "A LossScaleOptimizer that is made in a graph scales tf_keras.optimizers.legacy "
            f"optimizers alone. Given: {type(optimizer)} of {type(inner)}."
        )
    pairs = zip(compute_gated_gradients(loss, variables), variables, strict=True)
    found = [(gradient, variable) for gradient, variable in pairs if gradient is not None]
    if not found:
        raise ValueError(f"The loss depends on none of the trainable_variables {variables}.")
    gradients, trained = zip(*found, strict=True)
    with tf.name_scope(f"{SCOPE}/{optimizer.name}"):
        optimizer.build(trained)

    def apply(gradients: Sequence[tf.Tensor]) -> None:
        # Weight decay needs no gradient, but must not come before the loss has read the variable.
        with tf.control_dependencies(gradients):
            optimizer.apply_gradients(zip(gradients, trained, strict=True))

    def on_all_replicas(strategy: tf.distribute.Strategy, gradients: Any) -> tf.Tensor:
        @tf.function(autograph=False)
        def apply_in_order(gradients: Any) -> tf.Tensor:
            strategy.run(apply, args=(gradients,))
            return tf.constant(True)

        applied = apply_in_order(gradients)
        if optimizer.iterations is step:
            return applied
        with tf.control_dependencies([applied]):
            return step.assign_add(1)

    context = tf.distribute.get_replica_context()
    return context.merge_call(on_all_replicas, args=(gradients,))


def _scale_for_replicas(loss: tf.Tensor, loss_reduction: str) -> tf.Tensor:
    """Divides a mean loss by the number of replicas, whose gradients are summed."""
    replicas = tf.distribute.get_strategy().num_replicas_in_sync
    if replicas == 1 or loss_reduction != tf_keras.losses.Reduction.SUM_OVER_BATCH_SIZE:
        return loss
    return loss / replicas
