"""Training: one graph, one monitored session, steps until a hook or the input ends them."""

import contextlib
import dataclasses
import gc
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import tensorflow as tf

from estimator_train.engine.checkpoints import warm_start
from estimator_train.engine.checkpoints.integrity import latest_checkpoint, wait_for_writes
from estimator_train.engine.checkpoints.memory_copy import drop_interim_copy
from estimator_train.engine.checkpoints.model_dir import lock_model_dir, repair_checkpoint_list
from estimator_train.engine.graph.step_graph import Step, build_step, open_model_graph
from estimator_train.engine.inputs.chunks import make_chunks
from estimator_train.engine.inputs.data_errors import explain_data_error
from estimator_train.engine.inputs.start import start_hooks
from estimator_train.engine.job import Job
from estimator_train.engine.loops.graph_loop import LoopFailedError
from estimator_train.engine.loops.step_runner import StepRunner
from estimator_train.engine.loops.training_loop import (
    LoopSettings,
    TrainingLoop,
    WorkerCoordinator,
)
from estimator_train.engine.run.failures import prepare_single_steps
from estimator_train.engine.run.standard_hooks import make_standard_hooks
from estimator_train.engine.run.training_checkpoints import TrainingCheckpoints
from estimator_train.engine.sessions.session import open_training_session
from estimator_train.engine.tf_internals import tf_hooks
from estimator_train.engine.tf_internals.sessions import shorten_errors
from estimator_train.engine.tf_internals.tf_hooks import make_timers_steady
from estimator_train.engine.together.strategies import make_graph_form
from estimator_train.engine.types import (
    Hook,
    HookPhase,
    InputFn,
    InstrumentingHook,
    Listener,
    Loss,
    PassiveHook,
    PhasedHook,
    PreModelHook,
    RunContext,
    RunValues,
    StepFetches,
)
from estimator_train.estimator_spec import ModeKeys
from estimator_train.goodput import process_clock
from estimator_train.lifecycle import preemption
from estimator_train.lifecycle.preemption import handle_preemption
from estimator_train.lifecycle.step_timeout import StepTimeout, StepTimeoutHook

_LOG = tf.get_logger()
# New objects between two collections while a graph is built, which has about 20 per operation.
_NEW_OBJECTS_OF_A_BUILD = 200_000
_MIDDLE_GENERATION = 1


class PreemptionHook(PassiveHook):
    """Hook that stops training after the step or loop in which a signal arrived."""

    def after_loop(self, steps: int, loss: Loss) -> bool:
        """Returns whether a signal arrived in the loop."""
        return preemption.is_requested()

    def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
        """Stops training if a signal arrived."""
        if preemption.is_requested():
            run_context.request_stop()


@contextlib.contextmanager
def save_on_signal(watch: preemption.Watch, model_dir: str) -> Iterator[list[Hook]]:
    """Raises Preempted on a signal, after the training in the context has saved a checkpoint.

    Args:
      watch: The watch for signals.
      model_dir: Directory of the checkpoints.

    Yields:
      Hooks for the session of the training.

    Raises:
      Preempted: A signal arrived.
    """
    with watch.defer():
        yield [PreemptionHook()]
    if watch.requested:
        path = latest_checkpoint(model_dir)
        saved = f"saved {path}" if path else "nothing was saved"
        raise preemption.Preempted(f"ended by a signal; {saved}")


class PostponedCollection:
    """Context of a call that builds a graph: garbage is collected when the call has ended.

    Nearly all new objects of a graph stay until then. Python would search them after every 700 of
    them, and all objects of the process several times: a seventh of the time of a large build.
    """

    def __enter__(self) -> "PostponedCollection":
        self._thresholds = gc.get_threshold()
        self._postpones = gc.isenabled() and 0 < self._thresholds[0] < _NEW_OBJECTS_OF_A_BUILD
        self._missed = 0
        if self._postpones:
            self._count_before = _count_new_objects()
            gc.set_threshold(_NEW_OBJECTS_OF_A_BUILD, *self._thresholds[1:])
        return self

    def end_build(self) -> None:
        """Lets Python collect as often as before."""
        if not self._postpones:
            return
        self._postpones = False
        if gc.get_threshold()[0] != _NEW_OBJECTS_OF_A_BUILD:  # The program has set others.
            return
        new = _count_new_objects() - self._count_before
        gc.set_threshold(*self._thresholds)
        self._missed = new // (self._thresholds[0] * max(self._thresholds[1], 1))

    def __exit__(self, *error: object) -> None:
        """Makes up for the collections; a full one follows now if Python finds it due."""
        self.end_build()
        for _ in range(self._missed):  # Python counts them; only the first finds new objects.
            gc.collect(_MIDDLE_GENERATION)
        if self._missed:
            # So many new objects make Python decide whether to search all objects.
            [set() for _ in range(2 * self._thresholds[0])]


def _count_new_objects() -> int:
    """Returns the number of objects since an unknown time, by the present threshold of a build."""
    collections: int = sum(generation["collections"] for generation in gc.get_stats())
    return gc.get_count()[0] + _NEW_OBJECTS_OF_A_BUILD * collections


def train(
    job: Job,
    input_fn: InputFn,
    hooks: Sequence[Hook],
    saving_listeners: Sequence[Listener],
) -> np.generic | None:
    """Trains until a hook stops training or the input ends.

    Args:
      job: The call of `train`.
      input_fn: The user's input_fn.
      hooks: Hooks of the caller.
      saving_listeners: Listeners of the checkpoints.

    Returns:
      The loss of the last step as a NumPy scalar, or None if there was no step.
    """
    with (
        process_clock.measure_training(job.model_dir),
        shorten_errors(explain_data_error),
        lock_model_dir(job.config),
        handle_preemption(job.config.preemption) as watch,
    ):
        on_signal: contextlib.AbstractContextManager[list[Hook]] = contextlib.nullcontext([])
        if watch:
            on_signal = save_on_signal(watch, job.model_dir)
        with on_signal as signal_hooks:
            if job.config.is_chief:
                repair_checkpoint_list(job.model_dir)

            def train_once(retry_hooks: Sequence[Hook]) -> np.generic | None:
                all_hooks = [*hooks, *signal_hooks, *retry_hooks]
                try:
                    with PostponedCollection() as collection:
                        return _train_with_fallback(
                            job, input_fn, all_hooks, saving_listeners, collection
                        )
                except Exception as error:
                    # A program that catches the error trains on from its checkpoint. An error of
                    # TensorFlow may come from a worker that was killed: the copy still counts.
                    if not isinstance(error, tf.errors.OpError):
                        drop_interim_copy()
                    raise
                finally:
                    # An error while the session opens leaves the write of the first checkpoint.
                    wait_for_writes(job.model_dir)

            if job.warm_start:
                loss = warm_start.train_with_retry(job.warm_start, train_once)
            else:
                loss = train_once([])
    if loss is None:
        _LOG.warning(
            "Training made no steps: the input is empty, or a hook stopped it before the first."
        )
    return loss


def _train_with_fallback(
    job: Job,
    input_fn: InputFn,
    hooks: Sequence[Hook],
    saving_listeners: Sequence[Listener],
    collection: PostponedCollection,
) -> np.generic | None:
    """Trains; trains again in single steps if the runtime could not run a loop; see `train`."""
    try:
        return _train_in_new_graph(job, input_fn, hooks, saving_listeners, collection)
    except LoopFailedError as failure:
        hooks = [*hooks, *prepare_single_steps(job, failure)]
    # The handler of the error would keep its graph and session.
    return _train_in_new_graph(job, input_fn, hooks, saving_listeners, collection)


def _train_in_new_graph(
    job: Job,
    input_fn: InputFn,
    hooks: Sequence[Hook],
    saving_listeners: Sequence[Listener],
    collection: PostponedCollection,
) -> np.generic | None:
    """Builds the graph of a training, opens a session and trains; see `train`."""
    config, together = job.config, job.together
    strategy = make_graph_form(config.train_distribute, config) if config.train_distribute else None
    with open_model_graph(job, together.make_placement()):
        step = _build_training_step(job, input_fn, hooks, strategy)
        fetches = _find_fetches(step)
        _show_loss(step.spec.loss)
        coordinator = together.make_coordinator(strategy, step.inputs.has_next)
        checkpoints = TrainingCheckpoints(
            job, step, strategy, coordinator, input_fn, hooks, saving_listeners
        )
        timeout = together.make_step_timeout()
        hooks = [*hooks, checkpoints.goodput]
        phased = _collect_hooks(job, step, fetches, checkpoints, hooks, timeout)
        all_hooks = _sort_hooks(phased)
        make_timers_steady(all_hooks)
        fetches = _instrument(fetches, all_hooks)
        together.combine_transfers(fetches)
        loops = _make_loops(job, step, strategy, fetches, all_hooks, coordinator)
        coordinator.prepare(loops, all_hooks)
        phased += [(HookPhase.INPUT_START, hook) for hook in loops.hooks]
        phased += [(HookPhase.WORKER_VOTE, hook) for hook in coordinator.hooks]
        all_hooks = _sort_hooks(phased)
        saver = checkpoints.saver
        session = open_training_session(
            job, step.spec.scaffold, strategy, all_hooks, checkpoints.set_restored
        )
        collection.end_build()
        runner = StepRunner(loops, all_hooks, coordinator, timeout, together.shares_global_step)
        return runner.run(session, saver.join_writer)


def _build_training_step(
    job: Job,
    input_fn: InputFn,
    hooks: Sequence[Hook],
    strategy: tf.distribute.Strategy | None,
) -> Step:
    """Builds the training step in the default graph, its variables warm-started if asked for."""
    for hook in hooks:
        if isinstance(hook, PreModelHook):
            hook.before_model()
    step = build_step(job, input_fn, ModeKeys.TRAIN, strategy)
    if job.warm_start:
        warm_start.apply(job.warm_start, latest_checkpoint(job.model_dir))
    job.together.keep_broadcasts(step.global_step, step.spec.scaffold.init_feed_dict or {})
    return step


def _find_fetches(step: Step) -> StepFetches:
    """Returns the tensors of a step; adds reads of the global step to the default graph."""
    train_op = step.spec.train_op
    before = tf_hooks.read_step_before_increment(step.global_step, train_op)
    primary = getattr(step.global_step, "values", (step.global_step,))[0]
    with tf.control_dependencies([train_op]):
        after = primary.read_value()
    return StepFetches(train_op, step.spec.loss, before, after, step.batch_size)


def _collect_hooks(
    job: Job,
    step: Step,
    fetches: StepFetches,
    checkpoints: TrainingCheckpoints,
    callers_hooks: Sequence[Hook],
    timeout: StepTimeout | None,
) -> list[tuple[HookPhase, Hook]]:
    """Returns the hooks of a training session with their phases.

    Those of the loop and of a worker's coordinator are not among them.

    Args:
      job: The call of `train`.
      step: The training step.
      fetches: The tensors of the step.
      checkpoints: The checkpoints of the training.
      callers_hooks: Hooks of the caller.
      timeout: The time limit of steps, or None.
    """
    position = checkpoints.position
    is_chief = job.config.is_chief
    given: dict[HookPhase, Iterable[Hook]] = {
        HookPhase.STEP_CLOCK: [StepTimeoutHook(timeout)] if timeout else (),
        HookPhase.INPUT_START: start_hooks(step.inputs),
        HookPhase.INPUT_POSITION: position.restore_hooks if position else (),
        HookPhase.POSITION_SAVING: position.save_hooks if position else (),
        HookPhase.CHECKPOINTS: checkpoints.hooks,
        HookPhase.MODEL_ON_CHIEF: step.spec.training_chief_hooks if is_chief else (),
        **make_standard_hooks(job, step, fetches, checkpoints.saver.wait),
        HookPhase.CALLER: callers_hooks,
        HookPhase.MODEL: step.spec.training_hooks,
    }
    phased: list[tuple[HookPhase, Hook]] = []
    for phase, hooks in given.items():
        for hook in hooks:
            phased.append((_find_phase(hook, phase), hook))
            closing = hook.closing_hook if isinstance(hook, InstrumentingHook) else None
            if closing is not None:
                phased.append((_find_phase(closing, phase), closing))
    return phased


def _sort_hooks(phased: Iterable[tuple[HookPhase, Hook]]) -> list[Hook]:
    """Returns hooks in the order of their phases."""
    return [hook for _, hook in sorted(phased, key=lambda pair: pair[0])]


def _make_loops(
    job: Job,
    step: Step,
    strategy: tf.distribute.Strategy | None,
    fetches: StepFetches,
    hooks: Sequence[Hook],
    coordinator: WorkerCoordinator,
) -> TrainingLoop:
    """Returns the loop of a training; with a vote if synchronous workers decide when it ends."""
    config, together = job.config, job.together
    settings = LoopSettings(together.steps_per_call, config.xla, together.device)
    if ModeKeys.TRAIN in job.failed_loops:
        settings = LoopSettings(steps_per_call=1)
    # Replicas read a batch each, and a chunk has one batch for each step.
    chunks = make_chunks(step.inputs) if settings.xla and not strategy else None
    return TrainingLoop(fetches, hooks, settings, coordinator.build_loop_vote(), chunks)


def _find_phase(hook: Hook, default_phase: HookPhase) -> HookPhase:
    phase = hook.phase if isinstance(hook, PhasedHook) else None
    return default_phase if phase is None else phase


def _instrument(fetches: StepFetches, hooks: Iterable[Hook]) -> StepFetches:
    """Returns a step with the measuring operations of all hooks."""
    train_op = fetches.train_op
    for hook in hooks:
        if isinstance(hook, InstrumentingHook):
            train_op = hook.instrument(train_op)
    return dataclasses.replace(fetches, train_op=train_op)


def _show_loss(loss: tf.Tensor) -> None:
    """Adds the loss to its collection and, unless model_fn did, to the summaries."""
    tf.compat.v1.add_to_collection(tf.compat.v1.GraphKeys.LOSSES, loss)
    summaries = tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.SUMMARIES)
    if not any(summary.op.name == "loss" for summary in summaries):
        tf.compat.v1.summary.scalar("loss", loss)
