"""The hooks of a training session: which there are, and in which order it calls them.

A session calls its hooks in the order of their list at every event (begin, after_create_session,
before_run, after_run, end). The order is that of `Place`:

  BEFORE_ALL       hooks that measure all others; each has an other end at AFTER_ALL.
  STEP_CLOCK       the step timeout, whose clock covers the work of all that follow.
  INPUT_START      what starts the input: before all that may save, as a saver hook writes a
                   checkpoint as soon as there is a session.
  INPUT_POSITION   what moves the input to where the checkpoint left it, once it is started.
  WORKERS_VOTE     synchronous workers wait here for each other, their variables read from the
                   checkpoint that the chief then replaces.
  POSITION_SAVING  workers that write no checkpoint save the position of their input.
  SETS_VARIABLES   hooks that set variables: what they set is in the checkpoint of the same step.
  CHECKPOINTS      the chief's saver hook, and what decides when it saves.
  MODEL_ON_CHIEF   model_fn's `training_chief_hooks`.
  EVENTS           steps per second, the history, summaries: of the chief as well; where a master
                   has workers, the history alone, and the others of worker 0.
  CALLER           the hooks given to `train`.
  LOSS             the check for NaN and the log of the loss.
  MODEL            model_fn's `training_hooks`.
  AFTER_ALL        the other ends of those that measure.

A `PlacedHook` may say another place than that of its giver's hooks.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import tensorflow as tf

from estimator_train.engine.context import EstimatorContext
from estimator_train.engine.graph.step_graph import Step
from estimator_train.engine.hook_types import Place, PlacedHook
from estimator_train.engine.inputs.start import start_hooks
from estimator_train.engine.run.standard_hooks import event_hooks, loss_hooks
from estimator_train.engine.run.training_checkpoints import TrainingCheckpoints
from estimator_train.lifecycle.step_timeout import StepTimeout, StepTimeoutHook


def session_hooks(
    context: EstimatorContext,
    step: Step,
    step_read: tf.Tensor,
    checkpoints: TrainingCheckpoints,
    callers_hooks: Sequence[Any],
    timeout: StepTimeout | None,
) -> list[Any]:
    """All hooks of a training session, in the order in which it calls them.

    Args:
      context: The estimator that is trained.
      step: The training step.
      step_read: Tensor of the global step before that step.
      checkpoints: What the training saves.
      callers_hooks: Hooks of the caller.
      timeout: The clock of steps, or None.
    """
    position = checkpoints.position
    chiefs = context.config.is_chief
    return in_order(
        {
            Place.STEP_CLOCK: [StepTimeoutHook(timeout)] if timeout else (),
            Place.INPUT_START: start_hooks(step.inputs),
            Place.INPUT_POSITION: position.hooks if position else (),
            Place.WORKERS_VOTE: step.inputs.voting_hooks,
            Place.POSITION_SAVING: position.saving_hooks if position else (),
            Place.CHECKPOINTS: checkpoints.hooks,
            Place.MODEL_ON_CHIEF: step.spec.training_chief_hooks if chiefs else (),
            Place.EVENTS: event_hooks(context, step, step_read),
            Place.CALLER: callers_hooks,
            Place.LOSS: loss_hooks(context, step, step_read, checkpoints.saver.wait),
            Place.MODEL: step.spec.training_hooks,
        }
    )


def in_order(hooks: dict[Place, Iterable[Any]]) -> list[Any]:
    """Hooks in the order of their places; those of one place stay in theirs.

    Args:
      hooks: The place of their giver, and hooks.
    """
    placed: list[tuple[Place, Any]] = []
    for givers_place, given in hooks.items():
        for hook in given:
            own = isinstance(hook, PlacedHook)
            placed.append(((own and hook.place) or givers_place, hook))
            if own and hook.other_end is not None:
                placed.append((hook.other_end.place or givers_place, hook.other_end))
    return [hook for _, hook in sorted(placed, key=lambda pair: pair[0])]


def measured(train_op: Any, hooks: Iterable[Any]) -> Any:
    """A step's operation with what hooks measure in the graph.

    Args:
      train_op: Operation or tensor that runs one training step.
      hooks: All hooks of the session.
    """
    for hook in hooks:
        if isinstance(hook, PlacedHook):
            train_op = hook.measured(train_op)
    return train_op
