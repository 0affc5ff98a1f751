"""Hooks that say where they stand among the others of a training session."""

import enum
from typing import Any

import tensorflow as tf


class Place(enum.IntEnum):
    """Where a hook stands; a session calls its hooks in this order, at every event.

    `engine.run.train_hooks` says why the order is this one.
    """

    BEFORE_ALL = enum.auto()
    STEP_CLOCK = enum.auto()
    INPUT_START = enum.auto()
    INPUT_POSITION = enum.auto()
    WORKERS_VOTE = enum.auto()
    POSITION_SAVING = enum.auto()
    SETS_VARIABLES = enum.auto()
    CHECKPOINTS = enum.auto()
    MODEL_ON_CHIEF = enum.auto()
    EVENTS = enum.auto()
    CALLER = enum.auto()
    LOSS = enum.auto()
    MODEL = enum.auto()
    AFTER_ALL = enum.auto()


class PlacedHook(tf.compat.v1.train.SessionRunHook):
    """A hook that a caller or a model_fn gives, with a place of its own and a say in the graph.

    Attributes:
      place: Where it stands; None leaves it where its giver's hooks stand.
      other_end: A hook that is added with it, in a place of its own, or None.
    """

    place: Place | None = None
    other_end: "PlacedHook | None" = None

    def before_model(self) -> None:
        """Is told, in the graph of training, that model_fn is called next."""

    def measured(self, train_op: Any) -> Any:
        """What a step runs in place of `train_op`; called before loops are built of it.

        Args:
          train_op: Operation or tensor that runs one training step.
        """
        return train_op
