"""Types that the parts of the engine share: inputs, the tensors of a step, and hooks."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import tensorflow as tf

from estimator_train.engine.tf_internals import tf_hooks

# A tensor, or a structure of dicts, lists and tuples of tensors.
TensorStructure: TypeAlias = Any
# Returns a Dataset, a pair (features, labels) or features alone; takes any of mode, params, config
# and input_context.
InputFn: TypeAlias = Callable[..., Any]
Predictions: TypeAlias = tf.Tensor | Mapping[str, tf.Tensor]
PredictKeys: TypeAlias = Sequence[str] | str | None
# A dict, an HParams or another object, which the user's functions get as `params`.
Params: TypeAlias = Any
Strategy: TypeAlias = tf.distribute.Strategy | tf.compat.v1.distribute.Strategy
TrainOp: TypeAlias = tf.Operation | tf.Tensor
Hook: TypeAlias = tf.compat.v1.train.SessionRunHook
RunArgs: TypeAlias = tf.compat.v1.train.SessionRunArgs
RunContext: TypeAlias = tf.compat.v1.train.SessionRunContext
RunValues: TypeAlias = tf.compat.v1.train.SessionRunValues
SaverHook: TypeAlias = tf.compat.v1.train.CheckpointSaverHook
Listener: TypeAlias = tf.compat.v1.train.CheckpointSaverListener
# Changes the definition of operations in place; also receives these operations in their graph.
Rewrite: TypeAlias = Callable[[tf.compat.v1.GraphDef, Collection[tf.Operation]], None]
# The loss of the last step of a loop, a scalar.
Loss: TypeAlias = np.generic


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
      wants_step: Whether this worker wants another step, a bool scalar that the loop replaces.
      result: Whether all workers have input for one more step, and whether all also want it, bool
        [2].
      rewrite: Function that makes sums over workers fewer in the loop's copy of the step.
    """

    wants_step: tf.Tensor
    result: tf.Tensor
    rewrite: Rewrite


class PassiveHook(Hook):
    """Hook that need not see any step: any number of steps may run in a loop."""

    def steps_until_due(self, global_step: int) -> None:
        """Returns None: the hook waits for no step."""


class GlobalStepHook(Hook):
    """Hook whose run values are the global step before the step, an int64 scalar."""

    def begin(self) -> None:
        """Finds the read of the global step."""
        self._step_read = tf_hooks.find_global_step_read()

    def before_run(self, run_context: RunContext) -> RunArgs | None:
        """Requests the global step."""
        del run_context
        return RunArgs(self._step_read)


class HookPhase(enum.IntEnum):
    """Position of a hook in its session, which calls hooks in this order at every event.

    Attributes:
      BEFORE_ALL: Hooks that measure all others; their closing hooks run in AFTER_ALL.
      STEP_CLOCK: The step timeout, whose clock covers the work of all later hooks.
      INPUT_START: Starts the input: before all hooks that may save, as a saver hook writes a
        checkpoint as soon as there is a session.
      INPUT_POSITION: Moves the started input to the position of the restored checkpoint.
      WORKER_VOTE: Synchronous workers wait here for each other, their variables restored from the
        checkpoint that the chief then replaces.
      POSITION_SAVING: Workers that write no checkpoint save the position of their input.
      SETS_VARIABLES: Hooks that set variables, so that the checkpoint of the same step has the
        values.
      CHECKPOINTS: The chief's saver hook, and the schedule of its saves.
      MODEL_ON_CHIEF: The model_fn's `training_chief_hooks`.
      EVENTS: Steps per second, the history, summaries: of the chief; in a cluster with a master and
        workers, the master has the history, and worker 0 the others.
      CALLER: The hooks given to `train`.
      LOSS: The check for NaN and the log of the loss.
      MODEL: The model_fn's `training_hooks`.
      AFTER_ALL: The closing hooks of those that measure.
    """

    BEFORE_ALL = enum.auto()
    STEP_CLOCK = enum.auto()
    INPUT_START = enum.auto()
    INPUT_POSITION = enum.auto()
    WORKER_VOTE = enum.auto()
    POSITION_SAVING = enum.auto()
    SETS_VARIABLES = enum.auto()
    CHECKPOINTS = enum.auto()
    MODEL_ON_CHIEF = enum.auto()
    EVENTS = enum.auto()
    CALLER = enum.auto()
    LOSS = enum.auto()
    MODEL = enum.auto()
    AFTER_ALL = enum.auto()


class PhasedHook(Hook):
    """Hook of a caller or a model_fn that chooses its phase.

    Attributes:
      phase: The phase; None for the phase of all hooks of that caller or model_fn.
    """

    phase: HookPhase | None = None


class PreModelHook(PhasedHook):
    """Hook that acts in the training graph before model_fn is called."""

    def before_model(self) -> None:
        """Runs in the training graph, right before input_fn and model_fn are called."""
        raise NotImplementedError


class InstrumentingHook(PhasedHook):
    """Hook that measures a step from inside the graph.

    Attributes:
      closing_hook: Hook of a later phase that is added with this one; None for no such hook.
    """

    closing_hook: PhasedHook | None = None

    def instrument(self, train_op: tf.Operation | tf.Tensor) -> tf.Operation | tf.Tensor:
        """Returns the train_op with measuring operations; called before loops are built.

        Args:
          train_op: Operation or tensor that runs one training step.
        """
        raise NotImplementedError


class EveryNStepsHook(PhasedHook):
    """Hook that counts steps, in loops and outside them, and acts at every n-th.

    Args:
      every: Number of steps from one action to the next.
    """

    def __init__(self, every: int) -> None:
        self._every = every
        self._step = 0

    def act(self, session: tf.compat.v1.Session) -> None:
        """Performs the action; called when the count is a multiple of `every`."""
        raise NotImplementedError

    def steps_until_due(self, global_step: int) -> int:
        """Returns the number of steps up to the next action."""
        del global_step
        return self._every - self._step % self._every

    def after_loop(self, steps: int, loss: Loss) -> None:
        """Counts the steps of a loop."""
        del loss
        self._step += steps

    def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
        """Counts a step, and acts if one is due."""
        del run_values
        self._step += 1
        if self._step % self._every == 0:
            self.act(run_context.session)
