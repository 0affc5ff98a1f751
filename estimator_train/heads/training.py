"""The training operation of a head."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf
import tf_keras

from estimator_train.engine.user_functions import user_function
from estimator_train.optimizers.base import SCOPE, gated_gradients
from estimator_train.optimizers.graph_optimizers import graph_optimizer
from estimator_train.optimizers.state import inner_optimizer

_KEEP_VARIABLES_APART = (
    tf.compat.v1.distribute.experimental.CentralStorageStrategy,
    tf.compat.v1.distribute.experimental.ParameterServerStrategy,
)


def train_op_of(
    loss: tf.Tensor,
    optimizer: Any,
    trainable_variables: Sequence[tf.Variable] | None,
    train_op_fn: Callable[[tf.Tensor], Any] | None,
    update_ops: Sequence[tf.Operation] | None,
    loss_reduction: str,
) -> Any:
    """Makes the operation that runs one training step.

    Args:
      loss: The loss to minimize.
      optimizer: A tf_keras optimizer, or None where train_op_fn is given. A legacy one, or one
        with a `get_updates` of its own, counts its steps in its `iterations`, another one in
        the global step.
      trainable_variables: The variables the optimizer trains.
      train_op_fn: Function of the loss that returns the operation, or None.
      update_ops: Operations that run with the step.
      loss_reduction: How the loss was reduced over the batch.

    Raises:
      ValueError: Both or none of optimizer and train_op_fn are given, the optimizer is no
        tf_keras optimizer or has no trainable_variables, or these or update_ops are neither
        a list nor a tuple.
    """
    check_one_way(optimizer, train_op_fn)
    if train_op_fn is not None:
        with tf.name_scope(SCOPE):
            train_op = user_function(train_op_fn)(loss)
    else:
        train_op = _minimize(_replica_share(loss, loss_reduction), optimizer, trainable_variables)
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
        `train_op_of`, the others count for themselves.
      loss_reduction: How the loss was reduced over the batch.
    """
    loss = _replica_share(loss, loss_reduction)
    operations = []
    for number, (optimizer, variables) in enumerate(parts):
        if hasattr(optimizer, "get_updates"):
            operations.append(_own_updates(loss, optimizer, variables))
        else:
            step = _own_count(optimizer) if number else None
            operations.append(_minimize(loss, optimizer, variables, step))
    return tf.group(*operations)


def check_one_way(optimizer: Any, train_op_fn: Callable[[tf.Tensor], Any] | None) -> None:
    """Makes sure that there is one way to train.

    Raises:
      ValueError: Both or none of optimizer and train_op_fn are given.
    """
    if optimizer is not None and train_op_fn is not None:
        raise ValueError("train_op_fn and optimizer cannot both be set.")
    if optimizer is None and train_op_fn is None:
        raise ValueError("train_op_fn and optimizer cannot both be None.")


def _own_count(optimizer: Any) -> tf.Variable:
    """A count of the steps of an optimizer that is not the model's first."""
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
    optimizer: Any,
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
            return _own_updates(loss, optimizer, variables)
    if step is None:
        step = tf.compat.v1.train.get_or_create_global_step()
    if _is_of_a_graph(optimizer):
        return _minimize_in_graph(loss, optimizer, variables, step)
    with tf.__internal__.eager_context.eager_mode():
        settings = graph_optimizer(optimizer)
    return settings.minimize(loss, variables, step).operation


def _check_list(name: str, value: Any) -> None:
    """Raises a ValueError if an argument is neither a list nor a tuple."""
    if not isinstance(value, (list, tuple)):
        raise ValueError(f"{name} should be a list or a tuple. Given type: {type(value)}.")


def _own_updates(loss: tf.Tensor, optimizer: Any, variables: Sequence[tf.Variable]) -> Any:
    """A step of an optimizer with `get_updates`: of a legacy one, or of one that defines it."""
    updates = optimizer.get_updates(loss, variables)[0]
    if isinstance(tf.distribute.get_strategy(), _KEEP_VARIABLES_APART):
        _forget_twins()
    return updates


def _forget_twins() -> None:
    """Leaves one of two objects for the same variable among the graph's global variables.

    These strategies enter an optimizer's slots as they are and wrapped; no Saver takes two.
    """
    entered = tf.compat.v1.get_collection_ref(tf.compat.v1.GraphKeys.GLOBAL_VARIABLES)
    entered[:] = {id(variable.handle): variable for variable in entered}.values()


def _is_of_a_graph(optimizer: tf_keras.optimizers.Optimizer) -> bool:
    """Whether a new optimizer was made in a graph, as by a model_fn."""
    return all(hasattr(variable, "graph") for variable in optimizer.variables)


def _minimize_in_graph(
    loss: tf.Tensor,
    optimizer: tf_keras.optimizers.Optimizer,
    variables: Sequence[tf.Variable],
    step: tf.Variable,
) -> Any:
    """A step of a new optimizer of this graph, which counts on the order of eager execution.

    A tf.function keeps that order; it is called once for all replicas.
    """
    if inner_optimizer(optimizer) is not optimizer:
        raise ValueError(
            "A LossScaleOptimizer that is made in a graph scales tf_keras.optimizers.legacy "
            f"optimizers alone. Given: {type(optimizer)} of {type(inner_optimizer(optimizer))}."
        )
    pairs = zip(gated_gradients(loss, variables), variables, strict=True)
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


def _replica_share(loss: tf.Tensor, loss_reduction: str) -> tf.Tensor:
    """The loss whose gradients, summed over replicas, are those of the mean of their losses."""
    replicas = tf.distribute.get_strategy().num_replicas_in_sync
    if replicas == 1 or loss_reduction != tf_keras.losses.Reduction.SUM_OVER_BATCH_SIZE:
        return loss
    return loss / replicas
