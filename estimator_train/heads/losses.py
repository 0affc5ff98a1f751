"""Losses of a batch: calls of a loss_fn, weights, and the reduction to one number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf
import tf_keras

from estimator_train.engine.user_functions import call_with_known, list_argument_names
from estimator_train.heads import checks
from estimator_train.heads.types import LossFn

_Reduction = tf_keras.losses.Reduction
_REDUCTIONS = (_Reduction.AUTO, _Reduction.SUM, _Reduction.SUM_OVER_BATCH_SIZE)
_V1_REDUCTIONS = {
    _Reduction.AUTO: tf.compat.v1.losses.Reduction.SUM_OVER_BATCH_SIZE,
    _Reduction.SUM: tf.compat.v1.losses.Reduction.SUM,
    _Reduction.SUM_OVER_BATCH_SIZE: tf.compat.v1.losses.Reduction.SUM_OVER_BATCH_SIZE,
}
_LOSS_FN_ARGUMENTS = ("labels", "logits", "features", "loss_reduction")


def validate_reduction(reduction: str) -> str:
    """Returns a reduction of losses to a scalar.

    Raises:
      ValueError: It is not a `tf_keras.losses.Reduction`, or it is NONE.
    """
    if reduction not in _REDUCTIONS:
        raise ValueError(
            f"Invalid loss_reduction: {reduction}. See `tf.losses.Reduction` for valid options."
        )
    return reduction


def validate_v1_reduction(reduction: str) -> str:
    """Returns a reduction of losses to a scalar, for the heads of v1.

    Raises:
      ValueError: It is not a `tf.compat.v1.losses.Reduction`, or it is NONE.
    """
    valid = tf.compat.v1.losses.Reduction.all()
    if reduction not in valid or reduction == tf.compat.v1.losses.Reduction.NONE:
        raise ValueError(
            f"Invalid loss_reduction: {reduction}. See `tf.compat.v1.losses.Reduction`."
        )
    return reduction


def validate_loss_fn(loss_fn: LossFn | None) -> LossFn | None:
    """Returns a loss_fn that takes labels and logits, maybe features and loss_reduction.

    Raises:
      TypeError: It is not callable.
      ValueError: It takes other arguments.
    """
    if loss_fn is None:
        return None
    if not callable(loss_fn):
        raise TypeError(f"unsupported callable: loss_fn must be a function. Given: {loss_fn!r}")
    names = list_argument_names(loss_fn)
    for required in _LOSS_FN_ARGUMENTS[:2]:
        if required not in names:
            raise ValueError(f"loss_fn must contain argument: {required}. Given arguments: {names}")
    unexpected = [name for name in names if name not in _LOSS_FN_ARGUMENTS]
    if unexpected:
        raise ValueError(f"loss_fn has unexpected args: {unexpected}")
    return loss_fn


def call_loss_fn(
    loss_fn: LossFn,
    labels: tf.Tensor,
    logits: tf.Tensor,
    features: Mapping[str, Any] | None,
    loss_reduction: str,
    loss_dimension: int,
) -> tf.Tensor:
    """Returns a user's losses, of shape [D0, D1, ... DN, loss_dimension].

    Raises:
      ValueError: loss_fn did not return a tensor of numbers.
      InvalidArgumentError: It returned another shape.
    """
    batch = {"labels": labels, "logits": logits, "features": features}
    with tf.name_scope("call_loss_fn"):
        returned = call_with_known(loss_fn, {**batch, "loss_reduction": loss_reduction})
        loss = _to_tensor(returned, loss_dimension)
        return checks.validate_losses(loss, logits, loss_dimension)


def _to_tensor(returned: Any, loss_dimension: int) -> tf.Tensor:
    """Converts the result of a loss_fn to a tensor."""
    text = f"loss_fn must return Tensor of shape [D0, D1, ... DN, {loss_dimension}]. "
    try:
        loss = tf.convert_to_tensor(returned)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{text}Given: {returned!r}") from error
    if loss.dtype == tf.string:
        raise ValueError(f"{text}Given: {returned!r}")
    return loss


def reduce_losses(losses: tf.Tensor, weights: tf.Tensor | None, reduction: str) -> tf.Tensor:
    """Returns the losses of a batch as one number.

    Args:
      losses: Float tensor with one loss for each example or logit.
      weights: Factors of the losses, or None.
      reduction: SUM, or SUM_OVER_BATCH_SIZE or AUTO: the sum divided by the number of losses;
        or one of `tf.compat.v1.losses.Reduction`.
    """
    # v1 optimizers read from this function whether to average over the replicas of a strategy.
    return tf.compat.v1.losses.compute_weighted_loss(
        losses,
        weights=1.0 if weights is None else weights,
        reduction=_V1_REDUCTIONS.get(reduction, reduction),
        loss_collection=None,
    )


def collect_loss(loss: tf.Tensor) -> tf.Tensor:
    """Adds a loss to the graph's collection LOSSES, which programs read, and returns it."""
    tf.compat.v1.losses.add_loss(loss)
    return loss


def add_regularization(
    loss: tf.Tensor, regularization_losses: Sequence[tf.Tensor] | None
) -> tf.Tensor:
    """Returns the loss with the regularization losses added."""
    if not regularization_losses:
        return loss
    return loss + tf.add_n(regularization_losses)
