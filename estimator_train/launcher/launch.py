"""Starts, restarts and ends the tasks of a cluster on this machine as one job."""

import contextlib
import dataclasses
import os
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from estimator_train.cluster import (
    CHIEF,
    EVALUATOR,
    PS,
    WORKER,
    Cluster,
    Jobs,
    launched,
    to_tf_config,
)
from estimator_train.cluster.tf_config import group_by_job, list_tasks
from estimator_train.goodput import (
    FILE_VARIABLE,
    STARTED_VARIABLE,
    account_for,
    add_up,
    describe_straggler,
    read_records,
)
from estimator_train.launcher.network import ReservedAddresses, make_loopback_variables
from estimator_train.launcher.process import (
    Failure,
    FailureHistory,
    Guard,
    Process,
    SignalForwarder,
    TaskProcess,
    is_signal,
    read_failure,
    start_process,
    wait_for_exit,
)
from estimator_train.launcher.standby import Standby

CHIEF_NAME = f"{CHIEF}:0"
_POLL_SECS = 0.1
_SHARED_MEMORY = "/dev/shm"
# Parameter servers end after the tasks that train.
_SERVERS_SECS = 10.0
_ON_ALL_INTERFACES = (
    "The servers of this cluster listen on all interfaces: any program that can connect to this "
    "machine can use them without a password. The library that binds them to loopback is missing "
    "(estimator-train was installed without a C compiler or at a path with a space or colon, or "
    "this is not Linux). Block their ports with a firewall, or use --private_network."
)


@dataclasses.dataclass(frozen=True)
class LocalJob:
    """Cluster on this machine and the program of its processes.

    Attributes:
      command: The program and its arguments, the same for all.
      workers: Number of workers, without the chief.
      ps: Number of parameter servers; without any, all training processes restart if one fails.
      evaluator: Whether there is an evaluator.
      max_restarts: Maximum number of restarts, over all processes.
      grace_secs: Seconds from SIGTERM to SIGKILL, and the time that workers and parameter servers
        have to end without a signal after the chief has ended.
      evaluator_secs: Seconds that the evaluator has for its last evaluation.
      standby: Whether a process imports the program's packages, to replace failed tasks quickly.
    """

    command: Sequence[str]
    workers: int = 0
    ps: int = 0
    evaluator: bool = False
    max_restarts: int = 3
    grace_secs: float = 30.0
    evaluator_secs: float = 600.0
    standby: bool = True


def choose_addresses(job: LocalJob) -> tuple[Jobs, ReservedAddresses]:
    """Chooses free addresses for the tasks of a job, and reserves them."""
    # TensorFlow creates a MultiWorkerMirroredStrategy only in a process that the cluster lists.
    listed = job.evaluator and not job.ps
    tasks = list_tasks(job.workers, job.ps, int(listed))
    reserved = ReservedAddresses(len(tasks))
    return group_by_job(tasks, reserved.addresses), reserved


def make_tf_configs(job: LocalJob, jobs: Jobs) -> dict[str, str]:
    """Returns the TF_CONFIG of each task by its name; "" for a chief without other tasks."""
    tasks = [(name, index) for name, members in jobs.items() for index in members]
    # Parameter servers start first: the other tasks wait for them.
    tasks.sort(key=lambda task: task[0] != PS)
    if job.evaluator and EVALUATOR not in jobs:
        tasks.append((EVALUATOR, 0))
    if len(tasks) == 1:
        return {CHIEF_NAME: ""}
    return {f"{name}:{index}": to_tf_config(Cluster(jobs, name, index)) for name, index in tasks}


def is_trainer(name: str) -> bool:
    """Returns whether the task of this name ("worker:0") trains."""
    return parse_job(name) in (CHIEF, WORKER)


def parse_job(name: str) -> str:
    """Returns the job ("worker") of a task name ("worker:0")."""
    return name.split(":")[0]


def launch(job: LocalJob) -> int:
    """Runs a job to its end; in every case, all of its processes end.

    Args:
      job: The job.

    Returns:
      The chief's exit code, 128 + N if signal N ended it; if the failure of another process ended
      the job, the code of that process.

    Raises:
      OSError: The program cannot be started, or there are no free ports.
    """
    signals = SignalForwarder()
    launcher = _Launcher(job, signals)
    with signals.receive():
        try:
            launcher.start()
            return launcher.run()
        finally:
            launcher.close()


class _Launcher:
    def __init__(self, job: LocalJob, signals: SignalForwarder) -> None:
        self._job, self._signals = job, signals
        self._guard = Guard()
        self._directory = self._make_directory()
        self._checkpoint_file = self._directory / "checkpoint"
        self._checkpoint_file.touch()
        self._failures = FailureHistory(self._checkpoint_file)
        jobs, self._reserved = choose_addresses(job)
        self._configs = make_tf_configs(job, jobs)
        addresses = [address for tasks in jobs.values() for address in tasks.values()]
        self._loopback = make_loopback_variables(addresses, os.environ)
        self._common_environment = {
            "ESTIMATOR_TRAIN_PREEMPTION": "1",
            launched.VARIABLE: "1",
            launched.CHECKPOINT_FILE_VARIABLE: str(self._checkpoint_file),
            **(self._loopback or {}),
        }
        self._standby: Standby | None = None
        self._memory: Path | None = None
        if job.max_restarts and os.access(_SHARED_MEMORY, os.W_OK):
            self._memory = self._make_directory(_SHARED_MEMORY)
            self._common_environment[launched.MEMORY_VARIABLE] = str(self._memory)
        self._processes: dict[str, TaskProcess] = {}
        # Task name to the time at which it is started again.
        self._restart_times: dict[str, float] = {}
        self._restarts_left = job.max_restarts

    def start(self) -> None:
        """Starts all processes."""
        if self._loopback is None and len(self._configs) > 1 and len(socket.if_nameindex()) > 1:
            self._log(_ON_ALL_INTERFACES)
        for name in self._configs:
            self._start(name)
        if self._job.standby and self._job.max_restarts:
            self._standby = Standby(
                self._job.command, self._common_environment, self._guard, self._log
            )

    def run(self) -> int:
        """Waits for the end of the job; returns its exit code."""
        while True:
            self._forward_signals()
            if self._signals.ending:
                return self._end_on_signal()
            if self._standby:
                self._standby.poll()
            self._restart_due()
            codes = self._read_exit_codes()
            failures = [self._read_failure(name, code) for name, code in codes.items() if code]
            final = self._find_final_failure(failures)
            if final:
                return final.code
            if failures:
                self._restart(failures)
                continue
            if codes.get(CHIEF_NAME) == 0:
                self._end_other_tasks()
                return 0
            wait_for_exit([self._processes[name] for name in self._list_running()], _POLL_SECS)

    def close(self) -> None:
        """Kills the processes that still run."""
        for process in self._processes.values():
            process.close()
        if self._standby:
            self._standby.close()
        self._log_goodput()
        self._reserved.release()
        self._guard.close()

    def _make_directory(self, parent: str | None = None) -> Path:
        """Makes a directory that is removed when the launcher ends, in whatever way."""
        path = Path(tempfile.mkdtemp(prefix="estimator-train-", dir=parent))
        self._guard.remove_directory(str(path))
        return path

    def _log_goodput(self) -> None:
        """Logs the goodput of all tasks that trained."""
        records = {}
        for name in self._configs:
            with (
                contextlib.suppress(FileNotFoundError),
                self._make_goodput_file(name).open("rb") as file,
            ):
                records[name] = read_records(file)
        accounts = {name: account_for(found) for name, found in records.items()}
        trained = {name: account for name, account in accounts.items() if account is not None}
        if len(trained) > 1:
            for name, account in trained.items():
                self._log(f"Goodput of {name}: {account}.")
        if trained:
            self._log(f"Goodput of the job: {add_up(list(trained.values()))}.")
        if straggler := describe_straggler(records):
            self._log(f"{straggler}.")

    def _make_goodput_file(self, name: str) -> Path:
        return self._directory / f"{name}.goodput.jsonl"

    def _start(self, name: str) -> None:
        environment = {
            **self._common_environment,
            FILE_VARIABLE: str(self._make_goodput_file(name)),
            STARTED_VARIABLE: str(time.time()),
        }
        if self._configs[name]:
            environment["TF_CONFIG"] = self._configs[name]
        process: Process | None = self._standby.start_task(environment) if self._standby else None
        process = process or start_process(self._job.command, environment)
        self._processes[name] = TaskProcess(name, process, self._guard)

    def _read_exit_codes(self) -> dict[str, int | None]:
        """Returns the exit codes of all tasks that do not wait for their restart."""
        names = [name for name in self._processes if name not in self._restart_times]
        codes = {name: self._processes[name].exit_code() for name in names}
        if any(code and not is_signal(code) for code in codes.values()):
            # One error makes other processes fail: the errors of all are read together.
            time.sleep(_POLL_SECS)
            codes = {name: self._processes[name].exit_code() for name in names}
        return codes

    def _read_failure(self, name: str, code: int) -> Failure:
        """Counts and logs the failure of a task."""
        process = self._processes[name]
        process.close()
        failure = read_failure(name, code, process.last_lines)
        self._failures.add(failure)
        self._log(str(failure))
        return failure

    def _find_final_failure(self, failures: Sequence[Failure]) -> Failure | None:
        """Returns the failure that ends the job; None to restart the tasks."""
        for failure in failures:
            if failure.code == launched.BAD_INPUT:
                return failure  # Other tasks may have failed as a consequence.
        # The failure of the chief has priority.
        failures = sorted(failures, key=lambda failure: failure.task != CHIEF_NAME)
        for failure in failures:
            if self._failures.is_repeated(failure):
                self._log(
                    f"Not restarting: {failure.task} failed repeatedly at the same place, with no "
                    f"new checkpoint in between. {failure}"
                )
                return failure
        if failures and self._restarts_left < self._count_restarts(failures):
            self._log(
                f"Not restarting: all {self._job.max_restarts} restarts are used (--max_restarts). "
                f"{failures[0]}"
            )
            return failures[0]
        return None

    def _should_restart_together(self, failures: Sequence[Failure]) -> bool:
        """Returns whether all training tasks restart, as synchronous workers must."""
        return not self._job.ps and any(is_trainer(failure.task) for failure in failures)

    def _count_restarts(self, failures: Sequence[Failure]) -> int:
        return 1 if self._should_restart_together(failures) else len(failures)

    def _restart(self, failures: Sequence[Failure]) -> None:
        """Stops the tasks that must restart and sets the time of their restart."""
        failed = {failure.task for failure in failures}
        together = self._should_restart_together(failures)
        names = [
            name for name in self._configs if name in failed or (together and is_trainer(name))
        ]
        self._restarts_left -= self._count_restarts(failures)
        delay = self._failures.count_restart()
        for name in names:
            # SIGTERM does not end a process that waits for others in a collective.
            self._processes[name].send(signal.SIGKILL)
        for name in names:
            self._processes[name].close()
            self._restart_times[name] = time.monotonic() + delay
        if self._memory and not all(is_signal(failure.code) for failure in failures):
            # An error may come from the last steps: they are made again, from the checkpoint.
            (self._memory / launched.INTERIM_FILE).unlink(missing_ok=True)
        when = f" in {delay:g} s" if delay else ""
        self._log(
            f"Restarting {', '.join(names)}{when}; {self._restarts_left} more restarts are allowed."
        )

    def _restart_due(self) -> None:
        """Starts the tasks whose time of restart has come."""
        now = time.monotonic()
        for name in [name for name, at in self._restart_times.items() if at <= now]:
            del self._restart_times[name]
            self._start(name)

    def _end_other_tasks(self) -> None:
        """Waits for the other processes to end, then sends SIGTERM to those that still run."""
        job = self._job
        self._wait_for((WORKER, PS), job.grace_secs)
        self._wait_for((EVALUATOR,), job.evaluator_secs)
        rest = self._list_running()
        if rest and not self._signals.ending:
            self._log(f"Training is done; sending SIGTERM to {', '.join(rest)}.")
            for name in rest:
                self._processes[name].send(signal.SIGTERM)
        self._wait_for((WORKER, PS, EVALUATOR), job.grace_secs, even_if_ending=True)

    def _end_on_signal(self) -> int:
        """Waits for the tasks to end after a forwarded signal; returns the chief's exit code."""
        everyone = (CHIEF, WORKER, PS, EVALUATOR)
        self._wait_for((CHIEF, WORKER), self._job.grace_secs, even_if_ending=True)
        self._wait_for(everyone, min(_SERVERS_SECS, self._job.grace_secs), even_if_ending=True)
        for name in self._list_running():
            self._log(f"{name} still runs after SIGTERM; killing it.")
        self.close()
        return self._processes[CHIEF_NAME].exit_code() or 0

    def _wait_for(self, jobs: Sequence[str], seconds: float, even_if_ending: bool = False) -> None:
        end = time.monotonic() + seconds
        while any(parse_job(name) in jobs for name in self._list_running()):
            self._forward_signals()
            if time.monotonic() >= end or (self._signals.ending and not even_if_ending):
                return
            time.sleep(_POLL_SECS)

    def _forward_signals(self) -> None:
        self._signals.forward(self._processes.values())

    def _list_running(self) -> list[str]:
        return [name for name, one in self._processes.items() if one.exit_code() is None]

    def _log(self, text: str) -> None:
        # One write per line: threads write the output of tasks to the same stream.
        sys.stdout.write(f"[launch] {text}\n")
        sys.stdout.flush()
