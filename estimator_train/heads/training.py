"""The training operation of a head."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf
import tf_keras


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
        optimizer: A tf_keras optimizer, or None where train_op_fn is given.
        trainable_variables: The variables the optimizer trains.
        train_op_fn: Function of the loss that returns the operation, or None.
        update_ops: Operations that run with the step.
        loss_reduction: How the loss was reduced over the batch.

    Raises:
        ValueError: Both or none of optimizer and train_op_fn are given, the optimizer is no
            tf_keras optimizer, or it has no trainable_variables.
    """
    check_one_way(optimizer, train_op_fn)
    with tf.name_scope("training"):
        if train_op_fn is not None:
            train_op = train_op_fn(loss)
        else:
            train_op = _minimize(loss, optimizer, trainable_variables)
        if update_ops is not None:
            train_op = tf.group(train_op, *update_ops)
    return train_op


def check_one_way(optimizer: Any, train_op_fn: Callable[[tf.Tensor], Any] | None) -> None:
    """Makes sure that there is one way to train.

    Raises:
        ValueError: Both or none of optimizer and train_op_fn are given.
    """
    if optimizer is not None and train_op_fn is not None:
        raise ValueError("train_op_fn and optimizer cannot both be set.")
    if optimizer is None and train_op_fn is None:
        raise ValueError("train_op_fn and optimizer cannot both be None.")


def _minimize(
    loss: tf.Tensor, optimizer: Any, trainable_variables: Sequence[tf.Variable] | None
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
    return tf.group(*optimizer.get_updates(loss, list(trainable_variables)))
