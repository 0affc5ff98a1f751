"""This process as one task of a cluster that trains asynchronously over parameter servers."""

import contextlib
import dataclasses
import itertools
import time
from collections.abc import Callable, Iterator
from typing import Any

import tensorflow as tf

from estimator_train import cluster
from estimator_train.engine.distributed.ps_last_steps import LeaveLastSteps, MakeLastSteps
from estimator_train.engine.distributed.ps_notes import GoOnWithChief, Notes
from estimator_train.engine.distributed.ps_save_pacing import WaitForSave
from estimator_train.engine.distributed.server import (
    Patience,
    addresses_of,
    answers,
    is_reachable,
    start_server,
    training_jobs,
    wait_until_reachable,
)
from estimator_train.engine.distributed.strategies import collective_settings
from estimator_train.engine.distributed.sync_watchdog import end_watch
from estimator_train.engine.hook_types import Hook
from estimator_train.lifecycle import preemption
from estimator_train.lifecycle.long_wait import long_wait
from estimator_train.lifecycle.preemption import listening
from estimator_train.run_config import RunConfig
from estimator_train.run_config.topology import Topology

_LOG = tf.get_logger()
_CHIEFS = (cluster.CHIEF, cluster.MASTER)
_TRAINERS = (*_CHIEFS, cluster.WORKER)
_LOOK_EVERY_SECS = 0.5
# How long parameter servers stay for workers that have not ended when the chief has.
_GRACE_SECS = 120.0
# So much later than the limit does a wait end that has an error of its own at the limit.
_ERROR_FIRST_SECS = 5.0
_PAUSES = "pauses "
_calls = itertools.count(1)


@dataclasses.dataclass(frozen=True)
class PsTask:
    """One task during one call of `train`.

    Attributes:
      config: The task and its cluster.
      topology: How it trains.
      board: What the tasks tell each other.
      call: The number of this call of `train` in this process; all tasks of a job run the same
        program, so that their calls of one number belong together.
    """

    config: RunConfig
    topology: Topology
    board: Notes
    call: int

    @property
    def name(self) -> str:
        """The task's name, as "worker:1"."""
        return f"{self.config.task_type}:{self.config.task_id}"

    def hooks(self, max_steps: int | None) -> list[Hook]:
        """What this task's sessions need beside the hooks of a training on one machine.

        Args:
          max_steps: The global step at which the training ends, if there is one.
        """
        config = self.config
        chief = _chief_of(config)
        if chief is None or not config.num_ps_replicas:
            return []
        trainers = addresses_of(training_jobs(config), *_TRAINERS)
        if config.is_chief:
            others = {name: address for name, address in trainers.items() if name != self.name}
            if max_steps is None or not others:
                return []
            return [MakeLastSteps(max_steps, others, self._at_rest, self.topology.steps_unseen)]
        patience = patience_of(config)
        go_on = GoOnWithChief(self.board, chief, trainers[chief], self.call, patience)
        if max_steps is None:
            return [go_on, WaitForSave(go_on.is_over, None)]
        count = len(trainers)
        leave = LeaveLastSteps(
            max_steps, count, self._tell, go_on.has_ended, patience, self.topology.steps_unseen
        )
        return [go_on, WaitForSave(go_on.is_over, leave.first), leave]

    def _tell(self, pauses: bool) -> None:
        self.board.write(_PAUSES + self.name, self.call if pauses else 0)

    def _at_rest(self) -> set[str]:
        """The tasks that pause in this call of `train`, or have ended it."""
        notes = self.board.read().items()
        return {name.removeprefix(_PAUSES) for name, call in notes if call >= self.call}


@contextlib.contextmanager
def taking_part(config: RunConfig, topology: Topology) -> Iterator[PsTask | None]:
    """A call of `train`; its end is told to the parameter servers, unless it is by an error.

    Args:
      config: The task and its cluster.
      topology: How it trains.

    Yields:
      The task, its server running; None where variables are on no parameter servers.

    Raises:
      ValueError: The cluster has several trainers and nothing in which they could share variables,
        or the port of this task is taken.
      DeadlineExceededError: A parameter server did not come up.
    """
    if topology.is_synchronous:
        start_server(config, collective_settings(config))
        try:
            yield None
        finally:
            end_watch()
        return
    if not topology.is_asynchronous:
        yield None
        return
    _check_shares_variables(config)
    jobs = training_jobs(config)
    target = start_server(config)
    notes = Notes(target, str(topology.device), jobs.get(cluster.PS, {}))
    member = PsTask(config, topology, notes, next(_calls))
    if config.is_chief:
        wait_for_ps(config)
        # What it wrote before it was killed, or in a job before this one, is true no more.
        member.board.write(member.name, member.call - 1)
    yield member
    member.board.write(member.name, member.call)


def serve(config: RunConfig) -> None:
    """Serves variables until all trainers have ended the call of `train` of the same number.

    Args:
      config: A task of the job "ps".

    Raises:
      ValueError: The port of this task is taken.
      DeadlineExceededError: The chief was not to be reached for session_creation_timeout_secs.
    """
    with_itself = {config.task_id: training_jobs(config)[cluster.PS][config.task_id]}
    target = start_server(config)
    board = Notes(target, f"/job:ps/task:{config.task_id}", with_itself)
    call = next(_calls)
    trainers = addresses_of(training_jobs(config), *_TRAINERS)
    _LOG.info("Parameter server %d serves %s.", config.task_id, ", ".join(trainers))
    with listening(config.preemption), _deferring():
        _serve_until_ended(board, trainers, call, config)


def wait_for_ps(config: RunConfig) -> None:
    """Waits for the parameter servers: a session that begins without one waits in silence."""
    wait_until_reachable(addresses_of(training_jobs(config), cluster.PS), patience_of(config))


def patience_of(config: RunConfig) -> float:
    """Seconds to wait for other tasks."""
    secs = config.session_creation_timeout_secs
    return float("inf") if secs is None else float(secs)


def placement(config: RunConfig, device: str) -> Callable[[Any], str] | None:
    """The device function of a training graph: variables on the parameter servers by turns.

    Args:
      config: The task and its cluster.
      device: The task's own device.
    """
    if config.device_fn is not None or not config.num_ps_replicas:
        return config.device_fn
    return tf.compat.v1.train.replica_device_setter(
        worker_device=device, merge_devices=True, cluster=config.cluster_spec
    )


class WaitForPs(tf.compat.v1.train.SessionCreator):
    """Creates sessions when the parameter servers are up, first and after a failure.

    Args:
      config: The task and its cluster.
      creator: What creates them.
    """

    def __init__(self, config: RunConfig, creator: tf.compat.v1.train.SessionCreator) -> None:
        self._config, self._creator = config, creator

    def create_session(self) -> tf.compat.v1.Session:
        """Waits and creates a session; a signal that ends the job need not wait for that."""
        watch = preemption.current()
        with watch.ending_at_once() if watch else contextlib.nullcontext():
            wait_for_ps(self._config)
            what, limit = self._wait()
            with long_wait(what, limit, "session_creation_timeout_secs"):
                return self._creator.create_session()

    def _wait(self) -> tuple[str, float | None]:
        """What creating a session waits for, and how long at most."""
        names = " and ".join(addresses_of(training_jobs(self._config), cluster.PS))
        limit = self._config.session_creation_timeout_secs
        if self._config.is_chief:
            return f"for {names} to answer as a session is created", limit
        # A wait for the chief ends by an error of its own, which is to come first.
        later = None if limit is None else limit + _ERROR_FIRST_SECS
        return f"for {names} to answer and for the chief to initialize the variables", later


def _deferring() -> contextlib.AbstractContextManager[None]:
    watch = preemption.current()
    return watch.deferring() if watch else contextlib.nullcontext()


def _serve_until_ended(
    board: Notes, trainers: dict[str, str], call: int, config: RunConfig
) -> None:
    chief = _chief_of(config)
    patience = Patience(patience_of(config))
    chief_ended: float | None = None
    while True:
        # After a signal: until all have ended, and with them the chief, who saves. No board tells.
        if preemption.requested() and not any(map(is_reachable, trainers.values())):
            preemption.check("serving")
        ended = board.read()
        active = [name for name in trainers if ended.get(name, 0) < call]
        if not active:
            return
        if chief in active:
            chief_ended = None
            if answers(trainers[chief]):
                patience = Patience(patience_of(config))
                time.sleep(_LOOK_EVERY_SECS)
                continue
        elif chief_ended is None:
            chief_ended = time.monotonic()
        elif time.monotonic() - chief_ended > _GRACE_SECS:
            _LOG.warning("The chief has ended; no longer waiting for %s.", ", ".join(active))
            return
        patience.wait(_LOOK_EVERY_SECS, f"for {', '.join(active)} to end")


def _chief_of(config: RunConfig) -> str | None:
    return next(iter(addresses_of(training_jobs(config), *_CHIEFS)), None)


def _check_shares_variables(config: RunConfig) -> None:
    if config.num_worker_replicas > 1 and not config.num_ps_replicas:
        raise ValueError(
            f"TF_CONFIG has {config.num_worker_replicas} tasks that train, but no `ps` for their "
            "variables and no strategy: each would train a model of its own. Add a ps job, or give "
            "RunConfig(train_distribute=tf.distribute.MultiWorkerMirroredStrategy())."
        )
