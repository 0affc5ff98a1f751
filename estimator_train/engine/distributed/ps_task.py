"""This process as one task of a cluster: its part in a call of `train`."""

import contextlib
import dataclasses
import itertools
import time
from collections.abc import Callable, Iterator
from typing import Any

import tensorflow as tf

from estimator_train import cluster
from estimator_train.engine.distributed.ps_consistent_saves import PauseForSaveHook
from estimator_train.engine.distributed.ps_final_steps import (
    PauseBeforeFinalStepsHook,
    WaitBeforeFinalStepsHook,
)
from estimator_train.engine.distributed.ps_save_pacing import WaitForSaveHook
from estimator_train.engine.distributed.ps_status import FollowChiefHook, StatusTable
from estimator_train.engine.distributed.server import (
    Deadline,
    answers,
    find_chief,
    find_max_wait_secs,
    is_reachable,
    list_addresses,
    list_other_trainers,
    list_trainers,
    list_training_jobs,
    name_task,
    start_server,
    wait_until_reachable,
)
from estimator_train.engine.distributed.strategies import make_collective_settings
from estimator_train.engine.distributed.sync_watchdog import end_watch
from estimator_train.engine.hook_types import Hook
from estimator_train.lifecycle import preemption
from estimator_train.lifecycle.long_wait import limit_wait
from estimator_train.lifecycle.preemption import handle_preemption
from estimator_train.run_config import RunConfig
from estimator_train.run_config.topology import Topology

_LOG = tf.get_logger()
_POLL_SECS = 0.5
# Time for workers to end after the chief has, before parameter servers end.
_GRACE_SECS = 120.0
# A wait inside TensorFlow raises at the limit; the watchdog ends the process this much later.
_WATCHDOG_DELAY_SECS = 5.0
_PAUSES = "pauses "
_calls = itertools.count(1)


@dataclasses.dataclass(frozen=True)
class PsTask:
    """Task of an asynchronous cluster during one call of `train`.

    Attributes:
      config: The task and its cluster.
      topology: The role of the task in the training.
      status: The status of all tasks.
      call: The number of this call of `train` in this process. All tasks of a job run the same
        program, so that calls of the same number belong together.
    """

    config: RunConfig
    topology: Topology
    status: StatusTable
    call: int

    @property
    def name(self) -> str:
        """The name of the task, such as "worker:1"."""
        return name_task(self.config)

    def make_hooks(self, max_steps: int | None) -> list[Hook]:
        """Returns the hooks that sessions of this task need in a cluster.

        Args:
          max_steps: The global step at which the training ends, or None.
        """
        config = self.config
        chief = find_chief(config)
        if chief is None or not config.num_ps_replicas:
            return []
        if config.is_chief:
            others = list_other_trainers(config)
            if max_steps is None or not others:
                return []
            return [
                WaitBeforeFinalStepsHook(
                    max_steps, others, self._find_paused, self.topology.steps_between_checks
                )
            ]
        trainers, max_wait = list_trainers(config), find_max_wait_secs(config)
        follow = FollowChiefHook(self.status, chief, trainers[chief], self.call, max_wait)
        pause_for_save = PauseForSaveHook(self.name, follow.is_over)
        if max_steps is None:
            wait = WaitForSaveHook(follow.is_over, None, pause_for_save.allow_saves)
            return [follow, wait, pause_for_save]
        pause = PauseBeforeFinalStepsHook(
            max_steps,
            len(trainers),
            self._report_pause,
            follow.has_ended,
            max_wait,
            self.topology.steps_between_checks,
            pause_for_save.allow_saves,
        )
        wait = WaitForSaveHook(follow.is_over, pause.first, pause_for_save.allow_saves)
        return [follow, wait, pause, pause_for_save]

    def _report_pause(self, pauses: bool) -> None:
        self.status.write(_PAUSES + self.name, self.call if pauses else 0)

    def _find_paused(self) -> set[str]:
        """Returns the tasks that pause in this call of `train`, or have ended it."""
        reports = self.status.read().items()
        return {name.removeprefix(_PAUSES) for name, call in reports if call >= self.call}


@contextlib.contextmanager
def join_cluster(config: RunConfig, topology: Topology) -> Iterator[PsTask | None]:
    """Starts this task's server; reports to the parameter servers when the call of `train` ends.

    A call that ends with an error is not reported.

    Args:
      config: The task and its cluster.
      topology: The role of the task in the training.

    Yields:
      The task; None if variables are not on parameter servers.

    Raises:
      ValueError: The cluster has several trainers, but no parameter servers or strategy by which
        they share variables, or the port of this task is taken.
      DeadlineExceededError: A parameter server did not come up.
    """
    if topology.is_synchronous:
        start_server(config, make_collective_settings(config))
        try:
            yield None
        finally:
            end_watch()
        return
    if not topology.is_asynchronous:
        yield None
        return
    _check_shares_variables(config)
    jobs = list_training_jobs(config)
    target = start_server(config)
    status = StatusTable(target, str(topology.device), jobs.get(cluster.PS, {}))
    member = PsTask(config, topology, status, next(_calls))
    if config.is_chief:
        wait_for_ps(config)
        # Replaces the report of a process that was killed, or of an earlier job.
        member.status.write(member.name, member.call - 1)
    yield member
    member.status.write(member.name, member.call)


def serve(config: RunConfig) -> None:
    """Serves variables until all trainers have ended the call of `train` of the same number.

    Args:
      config: A task of the job "ps".

    Raises:
      ValueError: The port of this task is taken.
      DeadlineExceededError: The chief was unreachable for session_creation_timeout_secs.
    """
    own_address = {config.task_id: list_training_jobs(config)[cluster.PS][config.task_id]}
    target = start_server(config)
    status = StatusTable(target, f"/job:ps/task:{config.task_id}", own_address)
    call = next(_calls)
    trainers = list_trainers(config)
    _LOG.info("Parameter server %d serves %s.", config.task_id, ", ".join(trainers))
    with (
        handle_preemption(config.preemption) as watch,
        watch.defer() if watch else contextlib.nullcontext(),
    ):
        _serve_until_ended(status, trainers, call, config)


def wait_for_ps(config: RunConfig) -> None:
    """Waits for the parameter servers; without them a session would wait and log nothing."""
    wait_until_reachable(list_addresses(config, cluster.PS), find_max_wait_secs(config))


def make_placement(config: RunConfig, device: str) -> Callable[[Any], str] | None:
    """Returns a device function that spreads variables over the parameter servers.

    Args:
      config: The task and its cluster.
      device: The device of the task.
    """
    if config.device_fn is not None or not config.num_ps_replicas:
        return config.device_fn
    return tf.compat.v1.train.replica_device_setter(
        worker_device=device, merge_devices=True, cluster=config.cluster_spec
    )


class WaitForPsCreator(tf.compat.v1.train.SessionCreator):
    """Session creator that waits for the parameter servers, at first and after a failure.

    Args:
      config: The task and its cluster.
      creator: Creates the sessions.
    """

    def __init__(self, config: RunConfig, creator: tf.compat.v1.train.SessionCreator) -> None:
        self._config, self._creator = config, creator

    def create_session(self) -> tf.compat.v1.Session:
        """Waits and creates a session; a signal ends the wait immediately."""
        watch = preemption.find_current_watch()
        with watch.end_immediately() if watch else contextlib.nullcontext():
            wait_for_ps(self._config)
            what, limit = self._describe_wait()
            with limit_wait(what, limit, "session_creation_timeout_secs"):
                return self._creator.create_session()

    def _describe_wait(self) -> tuple[str, float | None]:
        """Returns a description of the wait for a session, and its limit in seconds."""
        names = " and ".join(list_addresses(self._config, cluster.PS))
        limit = self._config.session_creation_timeout_secs
        if self._config.is_chief:
            return f"for {names} to answer as a session is created", limit
        # The wait for the chief raises an error at the limit, with a better message.
        watchdog_limit = None if limit is None else limit + _WATCHDOG_DELAY_SECS
        return (
            f"for {names} to answer and for the chief to initialize the variables",
            watchdog_limit,
        )


def _serve_until_ended(
    status: StatusTable, trainers: dict[str, str], call: int, config: RunConfig
) -> None:
    chief = find_chief(config)
    deadline = Deadline(find_max_wait_secs(config))
    chief_ended: float | None = None
    while True:
        # After a signal, serve until all trainers have ended: the chief still saves.
        if preemption.is_requested() and not any(map(is_reachable, trainers.values())):
            preemption.raise_if_requested("serving")
        ended = status.read()
        active = [name for name in trainers if ended.get(name, 0) < call]
        if not active:
            return
        if chief in active:
            chief_ended = None
            if answers(trainers[chief]):
                deadline = Deadline(find_max_wait_secs(config))
                time.sleep(_POLL_SECS)
                continue
        elif chief_ended is None:
            chief_ended = time.monotonic()
        elif time.monotonic() - chief_ended > _GRACE_SECS:
            _LOG.warning("The chief has ended; no longer waiting for %s.", ", ".join(active))
            return
        deadline.wait(_POLL_SECS, f"for {', '.join(active)} to end")


def _check_shares_variables(config: RunConfig) -> None:
    if config.num_worker_replicas > 1 and not config.num_ps_replicas:
        raise ValueError(
            f"TF_CONFIG has {config.num_worker_replicas} tasks that train, but no `ps` for their "
            "variables and no strategy: each would train a model of its own. Add a ps job, or give "
            "RunConfig(train_distribute=tf.distribute.MultiWorkerMirroredStrategy())."
        )
