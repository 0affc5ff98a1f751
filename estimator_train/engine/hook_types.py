"""Hooks and what they are called with: names for types, places, and bases of common kinds."""

import enum
from typing import Any, TypeAlias

import tensorflow as tf

from estimator_train.engine import tf_internals

Hook: TypeAlias = tf.compat.v1.train.SessionRunHook
RunArgs: TypeAlias = tf.compat.v1.train.SessionRunArgs
RunContext: TypeAlias = tf.compat.v1.train.SessionRunContext
RunValues: TypeAlias = tf.compat.v1.train.SessionRunValues
SaverHook: TypeAlias = tf.compat.v1.train.CheckpointSaverHook
Listener: TypeAlias = tf.compat.v1.train.CheckpointSaverListener


class PassiveHook(Hook):
    """A hook that need see no step: any number of them may run in a loop."""

    def steps_until_due(self, global_step: int) -> None:
        """No step is of interest by itself."""


class GlobalStepHook(Hook):
    """A hook whose run values are the global step before the step, an int64 scalar."""

    def begin(self) -> None:
        """Finds the global step."""
        self._step_read = tf_internals.global_step_read()

    def before_run(self, run_context: RunContext) -> RunArgs | None:
        """Asks for the global step."""
        del run_context
        return RunArgs(self._step_read)


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


class PlacedHook(Hook):
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


class EveryNStepsHook(PlacedHook):
    """A hook that counts steps, in loops as well as outside them, and acts at every n-th.

    Args:
      every: Steps from one action to the next.
    """

    def __init__(self, every: int) -> None:
        self._every = every
        self._step = 0

    def act(self, session: tf.compat.v1.Session) -> None:
        """Does what the hook is for; called when the count is a multiple of `every`."""
        raise NotImplementedError

    def steps_until_due(self, global_step: int) -> int:
        """Steps up to the next one after which it acts."""
        del global_step
        return self._every - self._step % self._every

    def after_loop(self, steps: int, loss: Any) -> None:
        """Counts steps that it did not see."""
        del loss
        self._step += steps

    def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
        """Counts a step, and acts if it is time."""
        del run_values
        self._step += 1
        if self._step % self._every == 0:
            self.act(run_context.session)
