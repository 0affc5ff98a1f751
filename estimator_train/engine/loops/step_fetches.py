"""The tensors of one training step, and of the vote after it."""

from __future__ import annotations

import dataclasses
from typing import TypeAlias

import tensorflow as tf

TrainOp: TypeAlias = tf.Operation | tf.Tensor


@dataclasses.dataclass(frozen=True)
class StepFetches:
    """What a session call fetches to run one training step.

    Attributes:
      train_op: Operation or tensor that runs the step.
      loss: The loss of the step, a scalar.
      step_read: The global step before the step, an int64 scalar.
      step_after: The global step after the step, an int64 scalar.
      batch_size: Number of examples in the step, an integer scalar, or None.
    """

    train_op: TrainOp
    loss: tf.Tensor
    step_read: tf.Tensor
    step_after: tf.Tensor
    batch_size: tf.Tensor | None = None


@dataclasses.dataclass(frozen=True)
class LoopVote:
    """Tensors by which synchronous workers decide after each step whether their loop continues.

    Attributes:
      has_next: Whether this worker has input for one more step, a bool scalar of the step's graph.
      ballot: Two bool scalars that the loop replaces: `has_next`, and whether this worker wants
        another step.
      result: Whether all workers answered True to each, bool [2].
    """

    has_next: tf.Tensor
    ballot: tuple[tf.Tensor, tf.Tensor]
    result: tf.Tensor
