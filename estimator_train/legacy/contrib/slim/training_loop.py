"""`slim.learning.train`: a training loop under a `tf.compat.v1.train.Supervisor`."""

import dataclasses
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_train.legacy.contrib._types import Feeds, Session, Step

_v1 = tf.compat.v1
# Default of arguments for which None has a meaning: no operation, no step.
USE_DEFAULT = 0
_SECS_BETWEEN_LOOKS_AT_THE_STEP = 1
_SECS_FOR_SERVICES_TO_END = 120


def train_step(
    sess: Session, train_op: tf.Tensor, global_step: Step, train_step_kwargs: Mapping[str, Any]
) -> tuple[Any, bool]:
    """Runs one training step.

    Args:
      sess: Session.
      train_op: Operation of a step, which returns the loss.
      global_step: Global step.
      train_step_kwargs: Tensors `should_stop`, `should_log` and `should_trace`, and `logdir` for
        traces; each is optional.

    Returns:
      The loss, and whether training ends.
    """

    def holds(name: str) -> bool:
        return name in train_step_kwargs and bool(sess.run(train_step_kwargs[name]))

    started = time.time()
    options = metadata = None
    if holds("should_trace"):
        options = _v1.RunOptions(trace_level=_v1.RunOptions.FULL_TRACE)
        metadata = _v1.RunMetadata()
    loss, step = sess.run([train_op, global_step], options=options, run_metadata=metadata)
    seconds = time.time() - started
    if metadata is not None:
        _write_trace(metadata, train_step_kwargs["logdir"], int(step))
    if holds("should_log"):
        _v1.logging.info("global step %d: loss = %.4f (%.3f sec/step)", step, loss, seconds)
    return loss, holds("should_stop")


def _write_trace(metadata: tf.compat.v1.RunMetadata, logdir: str, step: int) -> None:
    """Writes the times of the operations of a step, in the format of chrome://tracing."""
    path = os.path.join(logdir, f"tf_trace-{step}.json")
    _v1.logging.info("Writing trace to %s", path)
    events = [
        {
            "name": node.node_name,
            "ph": "X",
            "pid": number,
            "tid": node.thread_id,
            "ts": node.all_start_micros,
            "dur": node.all_end_rel_micros,
        }
        for number, device in enumerate(metadata.step_stats.dev_stats)
        for node in device.node_stats
    ]
    with tf.io.gfile.GFile(path, "w") as file:
        file.write(json.dumps({"traceEvents": events}))


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
    with (graph or _v1.get_default_graph()).as_default() as default_graph:
        step = _v1.train.get_or_create_global_step() if global_step is None else global_step
        step_kwargs = _choose_step_kwargs(
            train_step_kwargs,
            step,
            number_of_steps,
            {"should_log": log_every_n_steps, "should_trace": trace_every_n_steps},
            logdir,
        )
        supervisor = _v1.train.Supervisor(
            graph=default_graph,
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
            **_choose_init_ops(init_op, local_init_op, ready_op, optimizers, is_chief),
        )
        chief_runners = [one.get_chief_queue_runner() for one in optimizers if is_chief]
        tokens = [one.get_init_tokens_op() for one in optimizers if is_chief]
    if supervisor.summary_writer is not None:
        step_kwargs["summary_writer"] = supervisor.summary_writer
    training = _SupervisedTraining(
        supervisor,
        run_step=lambda session: train_step_fn(session, train_op, step, step_kwargs),
        saves=is_chief and logdir is not None,
        delay=0 if is_chief else min(startup_delay_steps, number_of_steps or startup_delay_steps),
        chief_runners=chief_runners,
        tokens=tokens,
        ignore_live_threads=ignore_live_threads,
        session_wrapper=session_wrapper,
    )
    return training.run(master, session_config)


@dataclasses.dataclass(frozen=True)
class _SupervisedTraining:
    """Steps in the sessions of a Supervisor.

    Attributes:
      supervisor: The Supervisor.
      run_step: Function of a session that runs a step; returns the loss, and whether training ends.
      saves: Whether this process writes checkpoints and summaries.
      delay: Global step to wait for.
      chief_runners: Queue runners of SyncReplicasOptimizers.
      tokens: Operations that fill the queues of SyncReplicasOptimizers.
      ignore_live_threads: Whether threads may run on at the end.
      session_wrapper: Function that returns the session to use in place of one.
    """

    supervisor: tf.compat.v1.train.Supervisor
    run_step: Callable[[Session], tuple[Any, bool]]
    saves: bool
    delay: int
    chief_runners: Sequence[Any]
    tokens: Sequence[tf.Operation]
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
        services = self.supervisor.start_standard_services(session) if self.saves else None
        while self.delay and session.run(step) < self.delay:
            time.sleep(_SECS_BETWEEN_LOOKS_AT_THE_STEP)
        _v1.logging.info("Starting Queues.")
        threads = list(self.supervisor.start_queue_runners(session))
        if self.chief_runners:
            threads += self.supervisor.start_queue_runners(session, self.chief_runners)
        session.run(self.tokens)
        loss = self._run_steps(session)
        if self.saves:
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


def _choose_step_kwargs(
    given: Mapping[str, Any] | int,
    step: Step,
    number_of_steps: int | None,
    intervals: Mapping[str, int | None],
    logdir: str | None,
) -> dict[str, Any]:
    """Returns the last argument of a step function: the given one, or tensors of conditions.

    Args:
      given: The program's argument.
      step: Global step.
      number_of_steps: Number of steps after which training ends.
      intervals: Numbers of steps between two times that a condition holds.
      logdir: Directory of traces.
    """
    if isinstance(given, Mapping):
        return dict(given)
    with tf.name_scope("train_step"):
        chosen: dict[str, Any] = {
            "should_stop": tf.constant(False)
            if number_of_steps is None
            else tf.greater_equal(step, number_of_steps)
        }
        for name, interval in intervals.items():
            if interval:
                chosen[name] = tf.equal(tf.math.floormod(step, interval), 0)
    return {**chosen, "logdir": logdir} if "should_trace" in chosen else chosen


def _choose_init_ops(
    init_op: Any, local_init_op: Any, ready_op: Any, optimizers: Sequence[Any], is_chief: bool
) -> dict[str, Any]:
    """Returns the arguments of the Supervisor that initialize variables."""
    with tf.name_scope("init_ops"):
        local = choose(
            local_init_op,
            lambda: tf.group(_v1.local_variables_initializer(), _v1.tables_initializer()),
        )
        steps = [one.chief_init_op if is_chief else one.local_step_init_op for one in optimizers]
        ready = [one.ready_for_local_init_op for one in optimizers]
        return {
            "init_op": choose(init_op, _v1.global_variables_initializer),
            "local_init_op": tf.group(local, *steps) if steps else local,
            "ready_op": choose(ready_op, _v1.report_uninitialized_variables),
            "ready_for_local_init_op": tf.concat(ready, 0) if ready else None,
        }
