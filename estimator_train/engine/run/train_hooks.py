"""The hooks of a training session, and the order in which the session calls them.

A session calls its hooks in the order of their list at every event (begin, after_create_session,
before_run, after_run, end). The order is that of `HookPhase`:

  BEFORE_ALL       hooks that measure all others; their closing hooks run in AFTER_ALL.
  STEP_CLOCK       the step timeout, whose clock covers the work of all later hooks.
  INPUT_START      starts the input: before all hooks that may save, as a saver hook writes a
                   checkpoint as soon as there is a session.
  INPUT_POSITION   moves the started input to the position of the restored checkpoint.
  WORKER_VOTE      synchronous workers wait here for each other, their variables restored from the
                   checkpoint that the chief then replaces.
  POSITION_SAVING  workers that write no checkpoint save the position of their input.
  SETS_VARIABLES   hooks that set variables, so that the checkpoint of the same step has the values.
  CHECKPOINTS      the chief's saver hook, and the schedule of its saves.
  MODEL_ON_CHIEF   model_fn's `training_chief_hooks`.
  EVENTS           steps per second, the history, summaries: of the chief; in a cluster with a
                   master and workers, the master has the history, and worker 0 the others.
  CALLER           the hooks given to `train`.
  LOSS             the check for NaN and the log of the loss.
  MODEL            model_fn's `training_hooks`.
  AFTER_ALL        the closing hooks of those that measure.

A `PhasedHook` may choose another phase.
"""

from collections.abc import Iterable, Sequence

import tensorflow as tf

from estimator_train.engine.context import EstimatorContext
from estimator_train.engine.graph.step_graph import Step
from estimator_train.engine.hook_types import Hook, HookPhase, InstrumentingHook, PhasedHook
from estimator_train.engine.inputs.start import start_hooks
from estimator_train.engine.loops.step_fetches import TrainOp
from estimator_train.engine.run.standard_hooks import standard_hooks
from estimator_train.engine.run.training_checkpoints import TrainingCheckpoints
from estimator_train.lifecycle.step_timeout import StepTimeout, StepTimeoutHook


def collect_hooks(
    context: EstimatorContext,
    step: Step,
    step_read: tf.Tensor,
    checkpoints: TrainingCheckpoints,
    callers_hooks: Sequence[Hook],
    timeout: StepTimeout | None,
) -> list[tuple[HookPhase, Hook]]:
    """Returns the hooks of a training session with their phases, in the order of the phases.

    The hook of a worker's coordinator is not among them.

    Args:
      context: The estimator that is trained.
      step: The training step.
      step_read: Tensor of the global step before that step.
      checkpoints: The checkpoints of the training.
      callers_hooks: Hooks of the caller.
      timeout: The time limit of steps, or None.
    """
    position = checkpoints.position
    is_chief = context.config.is_chief
    given: dict[HookPhase, Iterable[Hook]] = {
        HookPhase.STEP_CLOCK: [StepTimeoutHook(timeout)] if timeout else (),
        HookPhase.INPUT_START: start_hooks(step.inputs),
        HookPhase.INPUT_POSITION: position.restore_hooks if position else (),
        HookPhase.POSITION_SAVING: position.save_hooks if position else (),
        HookPhase.CHECKPOINTS: checkpoints.hooks,
        HookPhase.MODEL_ON_CHIEF: step.spec.training_chief_hooks if is_chief else (),
        **standard_hooks(context, step, step_read, checkpoints.saver.wait),
        HookPhase.CALLER: callers_hooks,
        HookPhase.MODEL: step.spec.training_hooks,
    }
    phased: list[tuple[HookPhase, Hook]] = []
    for phase, hooks in given.items():
        for hook in hooks:
            phased.append((_phase_of(hook, phase), hook))
            closing = hook.closing_hook if isinstance(hook, InstrumentingHook) else None
            if closing is not None:
                phased.append((_phase_of(closing, phase), closing))
    return sorted(phased, key=lambda pair: pair[0])


def _phase_of(hook: Hook, default_phase: HookPhase) -> HookPhase:
    phase = hook.phase if isinstance(hook, PhasedHook) else None
    return default_phase if phase is None else phase


def instrument(train_op: TrainOp, hooks: Iterable[Hook]) -> TrainOp:
    """Returns a train_op with the measuring operations of all hooks.

    Args:
      train_op: Operation or tensor that runs one training step.
      hooks: All hooks of the session.
    """
    for hook in hooks:
        if isinstance(hook, InstrumentingHook):
            train_op = hook.instrument(train_op)
    return train_op
