"""The processes of a cluster on this machine: started, restarted and ended as one job."""

import contextlib
import dataclasses
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from typing import TextIO

from estimator_train.cluster import (
    CHIEF,
    EVALUATOR,
    PS,
    WORKER,
    Cluster,
    Jobs,
    as_tf_config,
    launched_exit_codes,
)
from estimator_train.launcher import loopback
from estimator_train.launcher.ports import free_addresses
from estimator_train.launcher.process import TaskProcess

_LOOK_EVERY_SECS = 0.1
# Parameter servers end after those that train.
_SERVERS_SECS = 10.0
_ENDING_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_OTHER_SIGNALS = (signal.SIGUSR1, signal.SIGUSR2)
_ON_ALL_INTERFACES = (
    "The servers of this cluster listen on all interfaces, so that whoever reaches this machine "
    "can use them without a password: the library that binds them to loopback is missing "
    "(estimator-train was installed without a C compiler or at a path with a space or colon, or "
    "this is not Linux). Block their ports with a firewall, or use --private_network."
)


@dataclasses.dataclass(frozen=True)
class LocalJob:
    """A cluster on this machine, and what its processes run.

    Attributes:
      command: The program and its arguments, the same for all.
      workers: Processes that train beside the chief.
      ps: Parameter servers; without any, all processes that train restart if one fails.
      evaluator: Whether there is an evaluator.
      max_restarts: How many failures are answered by a restart, over all processes.
      grace_secs: Seconds from SIGTERM to SIGKILL; and those that workers and parameter servers have
        to end by themselves when the chief has ended.
      evaluator_secs: Seconds that the evaluator has for its last evaluation.
    """

    command: Sequence[str]
    workers: int = 0
    ps: int = 0
    evaluator: bool = False
    max_restarts: int = 3
    grace_secs: float = 30.0
    evaluator_secs: float = 600.0


def launch(job: LocalJob, out: TextIO = sys.stdout) -> int:
    """Runs a job to its end; no process is left behind, however it ends.

    Args:
      job: The job.
      out: Where the output of the processes goes.

    Returns:
      The chief's exit code, 128 + N if signal N ended it; if the failure of another process ended
      the job, the code of that process.

    Raises:
      OSError: The program cannot be started, or there are no free ports.
    """
    launcher = _Launcher(job, out)
    with _forwarding_signals(launcher):
        try:
            launcher.start()
            return launcher.run()
        finally:
            launcher.close()


class _Launcher:
    def __init__(self, job: LocalJob, out: TextIO) -> None:
        self._job, self._out = job, out
        jobs = _jobs(job)
        self._configs = _tf_configs(job, jobs)
        addresses = [address for tasks in jobs.values() for address in tasks.values()]
        self._loopback = loopback.variables(addresses, os.environ)
        self._processes: dict[str, TaskProcess] = {}
        self._restarts_left = job.max_restarts
        self.ending = False

    def start(self) -> None:
        """Starts all processes."""
        if self._loopback is None and len(self._configs) > 1 and len(socket.if_nameindex()) > 1:
            self._say(_ON_ALL_INTERFACES)
        for name in self._configs:
            self._start(name)

    def run(self) -> int:
        """Waits for the end of the job; returns its exit code."""
        while True:
            # All at once, so that who failed first is seen beside those who failed of it.
            codes = {name: process.exit_code() for name, process in self._processes.items()}
            failed = {name: code for name, code in codes.items() if code}
            if self.ending:
                return self._end_on_signal()
            if failed and not self._answer(failed):
                if launched_exit_codes.BAD_INPUT in failed.values():
                    return launched_exit_codes.BAD_INPUT  # What others failed for.
                name = CHIEF_NAME if CHIEF_NAME in failed else next(iter(failed))
                return failed[name]
            if not failed and codes[CHIEF_NAME] == 0:
                self._end_the_others()
                return 0
            time.sleep(_LOOK_EVERY_SECS)

    def send(self, number: int) -> None:
        """Forwards a signal to all processes."""
        for process in list(self._processes.values()):
            process.send(number)

    def close(self) -> None:
        """Kills the processes that still run."""
        for process in self._processes.values():
            process.close()

    def _start(self, name: str) -> None:
        environment = {"ESTIMATOR_TRAIN_PREEMPTION": "1", **(self._loopback or {})}
        if self._configs[name]:
            environment["TF_CONFIG"] = self._configs[name]
        environment[launched_exit_codes.VARIABLE] = "1"
        self._processes[name] = TaskProcess(name, self._job.command, environment, self._out)

    def _answer(self, failed: dict[str, int]) -> bool:
        """Restarts what failed, if that may help; returns whether the job continues."""
        for name, code in failed.items():
            self._say(f"{name} {_ending(code)}.")
        if launched_exit_codes.BAD_INPUT in failed.values():
            return False
        together = not self._job.ps and any(_trains(name) for name in failed)
        if self._restarts_left < (1 if together else len(failed)):
            self._say(
                f"Not restarting: all {self._job.max_restarts} restarts are used (--max_restarts)."
            )
            return False
        names = [name for name in self._configs if name in failed or (together and _trains(name))]
        self._restarts_left -= 1 if together else len(failed)
        for name in names:
            # Not SIGTERM, which does not end a process that waits for others in a collective.
            self._processes[name].close()
        self._say(
            f"Restarting {', '.join(names)}; {self._restarts_left} more restarts are allowed."
        )
        for name in names:
            self._start(name)
        return True

    def _end_the_others(self) -> None:
        """Waits for the other processes to end, then sends SIGTERM to those that still run."""
        job = self._job
        self._wait_for((WORKER, PS), job.grace_secs)
        self._wait_for((EVALUATOR,), job.evaluator_secs)
        rest = self._running()
        if rest and not self.ending:
            self._say(f"Training is done; sending SIGTERM to {', '.join(rest)}.")
            self.send(signal.SIGTERM)
            self._wait_for((WORKER, PS, EVALUATOR), job.grace_secs, even_if_ending=True)

    def _end_on_signal(self) -> int:
        """After a signal was forwarded: waits, and returns the chief's code."""
        everyone = (CHIEF, WORKER, PS, EVALUATOR)
        self._wait_for((CHIEF, WORKER), self._job.grace_secs, even_if_ending=True)
        self._wait_for(everyone, min(_SERVERS_SECS, self._job.grace_secs), even_if_ending=True)
        for name in self._running():
            self._say(f"{name} still runs after SIGTERM; killing it.")
        self.close()
        return self._processes[CHIEF_NAME].exit_code() or 0

    def _wait_for(self, jobs: Sequence[str], seconds: float, even_if_ending: bool = False) -> None:
        end = time.monotonic() + seconds
        while any(_job_of(name) in jobs for name in self._running()):
            if time.monotonic() >= end or (self.ending and not even_if_ending):
                return
            time.sleep(_LOOK_EVERY_SECS)

    def _running(self) -> list[str]:
        return [name for name, one in self._processes.items() if one.exit_code() is None]

    def _say(self, text: str) -> None:
        print(f"[launch] {text}", file=self._out, flush=True)


@contextlib.contextmanager
def _forwarding_signals(launcher: _Launcher) -> Iterator[None]:
    """Within it, signals to this process are forwarded to those of the launcher."""

    def forward(number: int, frame: object) -> None:
        del frame
        if number in _ENDING_SIGNALS and launcher.ending:
            number = signal.SIGKILL  # Asked a second time.
        launcher.send(number)
        launcher.ending |= number not in _OTHER_SIGNALS

    # Only the main thread may handle signals.
    handles = threading.current_thread() is threading.main_thread()
    numbers = (*_ENDING_SIGNALS, *_OTHER_SIGNALS) if handles else ()
    before = {number: signal.signal(number, forward) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


CHIEF_NAME = f"{CHIEF}:0"


def _jobs(job: LocalJob) -> Jobs:
    """The jobs of the cluster with the addresses of their tasks."""
    # A MultiWorkerMirroredStrategy can only be made by a process that is listed in the cluster.
    listed = job.evaluator and not job.ps
    counts = {CHIEF: 1, WORKER: job.workers, PS: job.ps, EVALUATOR: int(listed)}
    addresses = iter(free_addresses(sum(counts.values())))
    return {
        name: {index: next(addresses) for index in range(count)}
        for name, count in counts.items()
        if count
    }


def _tf_configs(job: LocalJob, jobs: Jobs) -> dict[str, str]:
    """Task name to its TF_CONFIG; "" where the chief is alone and none is needed."""
    tasks = [(name, index) for name, members in jobs.items() for index in members]
    # The others wait for parameter servers, so these come first.
    tasks.sort(key=lambda task: task[0] != PS)
    if job.evaluator and EVALUATOR not in jobs:
        tasks.append((EVALUATOR, 0))
    if len(tasks) == 1:
        return {CHIEF_NAME: ""}
    return {f"{name}:{index}": as_tf_config(Cluster(jobs, name, index)) for name, index in tasks}


def _trains(name: str) -> bool:
    return _job_of(name) in (CHIEF, WORKER)


def _job_of(name: str) -> str:
    return name.split(":")[0]


def _ending(code: int) -> str:
    with contextlib.suppress(ValueError):  # There is no such signal.
        return f"was ended by {signal.Signals(code - 128).name}"
    return f"failed with exit code {code}"
