"""`slim.learning.train`: a training loop under a `tf.compat.v1.train.Supervisor`."""

import dataclasses
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from tf_contrib._types import Feeds, Session, Step
from tf_contrib.slim.training_step import choose_step_kwargs, train_step

_v1 = tf.compat.v1
# Default of arguments for which None has a meaning: no operation, no step.
USE_DEFAULT = 0
_SECS_BETWEEN_LOOKS_AT_THE_STEP = 1
_SECS_FOR_SERVICES_TO_END = 120


def train(
    train_op: tf.Tensor | None,
    logdir: str | None,
    train_step_fn: Callable[..., tuple[Any, bool]] = train_step,
    train_step_kwargs: Mapping[str, Any] | int = USE_DEFAULT,
    log_every_n_steps: int | None = 1,
    graph: tf.Graph | None = None,
    master: str = "",
    is_chief: bool = True,
    global_step: Step | None = None,
    number_of_steps: int | None = None,
    init_op: Any = USE_DEFAULT,
    init_feed_dict: Feeds | None = None,
    local_init_op: Any = USE_DEFAULT,
    init_fn: Callable[[Session], None] | None = None,
    ready_op: Any = USE_DEFAULT,
    summary_op: Any = USE_DEFAULT,
    save_summaries_secs: float = 600,
    summary_writer: Any = USE_DEFAULT,
    startup_delay_steps: int = 0,
    saver: tf.compat.v1.train.Saver | None = None,
    save_interval_secs: float = 600,
    sync_optimizer: Any = None,
    session_config: tf.compat.v1.ConfigProto | None = None,
    session_wrapper: Callable[[Session], Session] | None = None,
    trace_every_n_steps: int | None = None,
    ignore_live_threads: bool = False,
) -> Any:
    """Trains under a `tf.compat.v1.train.Supervisor`.

    At least one step runs, also if `logdir` has a checkpoint of `number_of_steps` steps.

    Args:
      train_op: Operation of a step, which returns the loss.
      logdir: Directory of checkpoints and events; None: nothing is saved.
      train_step_fn: Function of a step; see `train_step`.
      train_step_kwargs: Last argument of `train_step_fn`; by default, see `train_step`.
      log_every_n_steps: Number of steps between two log lines; None or 0: no lines.
      graph: Graph; by default the default graph.
      master: Address of the session.
      is_chief: Whether this process initializes and saves.
      global_step: Global step; by default the global step of the graph.
      number_of_steps: Number of steps after which training ends; None: no end.
      init_op: Operation that initializes variables.
      init_feed_dict: Feeds of `init_op`.
      local_init_op: Operation that initializes local variables and tables.
      init_fn: Function of the session that initializes further.
      ready_op: Operation that returns the names of variables without values.
      summary_op: Summaries; None: no summaries.
      save_summaries_secs: Seconds between two summaries.
      summary_writer: Writer of the summaries; None: no events.
      startup_delay_steps: Global step for which a process that is not the chief waits.
      saver: Saver; by default one of all variables.
      save_interval_secs: Seconds between two checkpoints.
      sync_optimizer: SyncReplicasOptimizer, or a list of them.
      session_config: Options of the session.
      session_wrapper: Function that returns the session to use in place of one.
      trace_every_n_steps: Number of steps between two traces; None: no traces.
      ignore_live_threads: Whether threads may run on at the end.

    Returns:
      The loss of the last step.

    Raises:
      ValueError: There is no training operation, or arguments exclude each other.
    """
    if train_op is None:
        raise ValueError("train_op cannot be None.")
    if trace_every_n_steps is not None and logdir is None:
        raise ValueError("logdir cannot be None while trace_every_n_steps is given.")
    optimizers = _list_sync_optimizers(sync_optimizer, startup_delay_steps)
    task = _Task(is_chief, optimizers, startup_delay_steps, number_of_steps)
    intervals = {"should_log": log_every_n_steps, "should_trace": trace_every_n_steps}
    with (graph or _v1.get_default_graph()).as_default():
        step = _v1.train.get_or_create_global_step() if global_step is None else global_step
        kwargs = choose_step_kwargs(train_step_kwargs, step, number_of_steps, intervals, logdir)
        supervisor = _v1.train.Supervisor(
            graph=_v1.get_default_graph(),
            is_chief=is_chief,
            logdir=logdir,
            init_feed_dict=init_feed_dict,
            summary_op=choose(summary_op, _v1.summary.merge_all),
            summary_writer=choose(summary_writer, lambda: _v1.train.Supervisor.USE_DEFAULT),
            global_step=step,
            saver=saver or _v1.train.Saver(),
            save_summaries_secs=save_summaries_secs,
            save_model_secs=save_interval_secs,
            init_fn=init_fn,
            **_choose_init_ops(task, init_op, local_init_op, ready_op),
        )
        queues = task.make_queues()
    if supervisor.summary_writer is not None:
        kwargs["summary_writer"] = supervisor.summary_writer
    run_step = _bind_step(train_step_fn, train_op, step, kwargs)
    training = _SupervisedTraining(
        supervisor, run_step, task, queues, ignore_live_threads, session_wrapper
    )
    return training.run(master, session_config)


def _bind_step(
    train_step_fn: Callable[..., tuple[Any, bool]],
    train_op: tf.Tensor,
    step: Step,
    kwargs: Mapping[str, Any],
) -> Callable[[Session], tuple[Any, bool]]:
    """Returns a function of a session that runs a step."""
    return lambda session: train_step_fn(session, train_op, step, kwargs)


@dataclasses.dataclass(frozen=True)
class _Queues:
    """Queues of SyncReplicasOptimizers, which the chief fills.

    Attributes:
      runners: Their queue runners.
      tokens: Operations that put the first tokens into them.
    """

    runners: Sequence[Any]
    tokens: Sequence[tf.Operation]


@dataclasses.dataclass(frozen=True)
class _Task:
    """Part of this process in the training. See `train`.

    Attributes:
      is_chief: Whether this process initializes and saves.
      optimizers: SyncReplicasOptimizers.
      startup_delay_steps: Global step for which a process that is not the chief waits.
      number_of_steps: Number of steps after which training ends, or None.
    """

    is_chief: bool
    optimizers: Sequence[Any]
    startup_delay_steps: int
    number_of_steps: int | None

    @property
    def delay(self) -> int:
        """The global step to wait for; 0 to begin without delay."""
        if self.is_chief:
            return 0
        return min(self.startup_delay_steps, self.number_of_steps or self.startup_delay_steps)

    def make_queues(self) -> _Queues:
        """Adds the operations of the queues that this process fills to the default graph."""
        filled = self.optimizers if self.is_chief else ()
        return _Queues(
            [optimizer.get_chief_queue_runner() for optimizer in filled],
            [optimizer.get_init_tokens_op() for optimizer in filled],
        )


@dataclasses.dataclass(frozen=True)
class _SupervisedTraining:
    """Steps in the sessions of a Supervisor.

    Attributes:
      supervisor: The Supervisor.
      run_step: Function of a session that runs a step; returns the loss, and whether training ends.
      task: The part of this process.
      queues: Queues that this process fills.
      ignore_live_threads: Whether threads may run on at the end.
      session_wrapper: Function that returns the session to use in place of one.
    """

    supervisor: tf.compat.v1.train.Supervisor
    run_step: Callable[[Session], tuple[Any, bool]]
    task: _Task
    queues: _Queues
    ignore_live_threads: bool
    session_wrapper: Callable[[Session], Session] | None

    def run(self, master: str, config: tf.compat.v1.ConfigProto | None) -> Any:
        """Trains in a session, in another one after a parameter server was restarted.

        Returns:
          The loss of the last step.
        """
        while True:
            try:
                with self.supervisor.managed_session(
                    master, config=config, start_standard_services=False
                ) as session:
                    return self._train_in(session)
            except tf.errors.AbortedError:
                _v1.logging.info("Retrying training!")

    def _train_in(self, session: Session) -> Any:
        _v1.logging.info("Starting Session.")
        session = self.session_wrapper(session) if self.session_wrapper else session
        step = self.supervisor.global_step
        # Only a chief with a directory has a path.
        saves = self.supervisor.save_path is not None
        services = self.supervisor.start_standard_services(session) if saves else None
        while self.task.delay and session.run(step) < self.task.delay:
            time.sleep(_SECS_BETWEEN_LOOKS_AT_THE_STEP)
        _v1.logging.info("Starting Queues.")
        threads = list(self.supervisor.start_queue_runners(session))
        if self.queues.runners:
            threads += self.supervisor.start_queue_runners(session, self.queues.runners)
        session.run(self.queues.tokens)
        loss = self._run_steps(session)
        if saves:
            # A checkpoint that a service still writes would become the latest one.
            self.supervisor.request_stop()
            for service in services or ():
                service.join(_SECS_FOR_SERVICES_TO_END)
            _v1.logging.info("Finished training! Saving model to disk.")
            self.supervisor.saver.save(session, self.supervisor.save_path, global_step=step)
        self.supervisor.stop(threads, True, self.ignore_live_threads)
        return loss

    def _run_steps(self, session: Session) -> Any:
        """Runs steps until one ends the training or the input ends; returns the last loss."""
        loss = None
        try:
            while not self.supervisor.should_stop():
                loss, should_stop = self.run_step(session)
                if should_stop:
                    _v1.logging.info("Stopping Training.")
                    self.supervisor.request_stop()
        except tf.errors.OutOfRangeError as error:
            _v1.logging.info("Caught OutOfRangeError. Stopping Training. %s", error)
        return loss


def choose(value: Any, make_default: Callable[[], Any]) -> Any:
    """Returns an argument, or its default if the program gives none."""
    return make_default() if isinstance(value, int) and value == USE_DEFAULT else value


def _list_sync_optimizers(optimizers: Any, startup_delay_steps: int) -> Sequence[Any]:
    if optimizers is None:
        return []
    if startup_delay_steps > 0:
        raise ValueError("startup_delay_steps must be 0 while sync_optimizer is given.")
    found = optimizers if isinstance(optimizers, list) else [optimizers]
    for one in found:
        if not isinstance(one, _v1.train.SyncReplicasOptimizer):
            raise ValueError(f"sync_optimizer must be a SyncReplicasOptimizer, not {one!r}.")
    return found


def _choose_init_ops(
    task: _Task, init_op: Any, local_init_op: Any, ready_op: Any
) -> dict[str, Any]:
    """Returns the arguments of the Supervisor that initialize variables; see `train`."""
    with tf.name_scope("init_ops"):
        local = choose(
            local_init_op,
            lambda: tf.group(_v1.local_variables_initializer(), _v1.tables_initializer()),
        )
        steps = [
            optimizer.chief_init_op if task.is_chief else optimizer.local_step_init_op
            for optimizer in task.optimizers
        ]
        ready = [optimizer.ready_for_local_init_op for optimizer in task.optimizers]
        return {
            "init_op": choose(init_op, _v1.global_variables_initializer),
            "local_init_op": tf.group(local, *steps) if steps else local,
            "ready_op": choose(ready_op, _v1.report_uninitialized_variables),
            "ready_for_local_init_op": tf.concat(ready, 0) if ready else None,
        }
