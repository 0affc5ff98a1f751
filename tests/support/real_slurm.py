"""A real Slurm of two nodes on this machine, on loopback, from Debian's packages."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

PACKAGES = "slurmctld slurmd slurm-client munge"
# The names of nodes are the addresses of tasks.
_NODES = ("127.0.0.1", "127.0.0.2")
_DEADLINE_SECS = 200
# Below the ports of `find_free_addresses`, as those of the tasks.
_FIRST_PORT = 9_000
_JOBS_OF_SLURM = 37
_CONFIG = """\
ClusterName=test
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={ports[0]}
FirstJobId={first_job}
MessageTimeout=100
TCPTimeout=60
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
MpiDefault=none
NodeName=127.0.0.[1-2] NodeHostname={host} NodeAddr=127.0.0.1 Port=[{ports[1]}-{ports[2]}] CPUs=8
PartitionName=main Nodes=ALL Default=YES
"""


class Slurm:
    """Client of the running Slurm.

    Attributes:
      folder: Its folder, with the logs.
      environment: The environment of its commands.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf")}

    def run(self, *command: str, timeout: float = 300, **variables: str) -> str:
        """Returns the output of a command, with its errors; raises if it fails."""
        done = subprocess.run(
            command,
            env={**self.environment, **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=timeout,
            check=False,
        )
        assert done.returncode == 0, f"{command} ended with {done.returncode}:\n{done.stdout}"
        return done.stdout

    def submit(self, script: str, folder: Path, *options: str, **variables: str) -> str:
        """Returns the number of a new job that runs in a folder."""
        file = folder / "job.sh"
        file.write_text(script)
        command = ["sbatch", "--parsable", f"--chdir={folder}", *options, str(file)]
        return self.run(*command, **variables).strip()

    def show(self, job: str, field: str) -> str:
        """Returns a field of `scontrol show job`, such as JobState or ExitCode."""
        text = self.run("scontrol", "show", "job", job)
        return next(word.partition("=")[2] for word in text.split() if word.startswith(f"{field}="))

    def wait(self, job: str, *states: str, restarts: int = 0, secs: float = 240) -> str:
        """Returns the state of a job once it is one of `states` after so many restarts."""
        end = time.monotonic() + secs
        while True:
            state = self.show(job, "JobState")
            if state in states and int(self.show(job, "Restarts")) >= restarts:
                return state
            assert time.monotonic() < end, self.run("scontrol", "show", "job", job)
            time.sleep(0.2)

    def start_now(self, job: str) -> None:
        """Starts a requeued job in two seconds, for which Slurm waits two minutes.

        In these minutes the processes of the run before end. A node refuses a run that starts in
        the same second in which it has ended the run before ("already killed"): the job is FAILED.
        """
        end = time.monotonic() + _DEADLINE_SECS
        number = self.show(job, "JobId")  # That of a task of an array is not its name.
        while _is_running(f"slurmstepd: [{number}."):
            assert time.monotonic() < end, f"job {job} has not ended"
            time.sleep(0.1)
        self.run("scontrol", "update", f"jobid={job}", "StartTime=now+2")

    def read_logs(self) -> str:
        """Returns the lines of the daemons' logs."""
        return "\n".join(path.read_text() for path in sorted(self.folder.glob("slurm*.log")))


@contextlib.contextmanager
def start_slurm(folder: Path) -> Iterator[Slurm]:
    """Starts Slurm with two nodes of eight processors, and stops it at the end.

    Args:
      folder: A new folder for its state; its path has less than 90 characters.
    """
    with _reserve_place() as place:
        yield from _run_slurm(folder, place)


def _run_slurm(folder: Path, place: int) -> Iterator[Slurm]:
    slurm = Slurm(folder)
    key = folder / "munge.key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o400)
    folder.chmod(0o755)
    (folder / "state").mkdir()
    (folder / "slurm.conf").write_text(
        _CONFIG.format(
            folder=folder,
            host=socket.gethostname(),
            ports=_list_ports(place)[1:],
            # Ports of tasks follow from it: processes of tests may start a Slurm at the same time.
            first_job=1 + _JOBS_OF_SLURM * place,
        )
    )
    names = {"key-file": "key", "socket": "socket", "pid-file": "pid", "log-file": "log"}
    options = [f"--{option}={folder}/munge.{name}" for option, name in names.items()]
    slurm.run("munged", "--force", *options, f"--seed-file={folder}/munge.seed")
    try:
        slurm.run("slurmctld", "-c", "-f", str(folder / "slurm.conf"))
        for node in _NODES:
            slurm.run("slurmd", "-N", node, "-f", str(folder / "slurm.conf"))
        _wait_for_nodes(slurm)
        yield slurm
    finally:
        # Jobs that a failed test has left.
        subprocess.run(
            ["scancel", "--signal=KILL", "--full", "--user=root"],
            env=slurm.environment,
            check=False,
        )
        _stop(folder)


def is_installed() -> bool:
    """Returns whether Debian's packages of Slurm are installed."""
    return all(map(shutil.which, ("slurmctld", "slurmd", "srun", "munged")))


def _is_running(title: str) -> bool:
    """Returns whether a process has a command line that begins with `title`."""
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # It has ended.
            if file.read_bytes().startswith(title.encode()):
                return True
    return False


def _wait_for_nodes(slurm: Slurm) -> None:
    end = time.monotonic() + _DEADLINE_SECS
    while slurm.run("sinfo", "--noheader", "--format=%T %D").split() != ["idle", "2"]:
        assert time.monotonic() < end, slurm.run("sinfo", "-N")
        time.sleep(0.1)


def _list_ports(place: int) -> Sequence[int]:
    """Returns the port that reserves a place, and those of its daemons."""
    first = _FIRST_PORT + 4 * place
    return range(first, first + 4)


@contextlib.contextmanager
def _reserve_place() -> Iterator[int]:
    """Yields the first place, 0 or more, that no other Slurm has; its first port reserves it."""
    for place in range(200):
        first, *others = _list_ports(place)
        with socket.socket() as kept:
            try:
                kept.bind(("127.0.0.1", first))
                for port in others:
                    with socket.socket() as probe:
                        probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            yield place
            return
    raise AssertionError("no free ports")


def _stop(folder: Path) -> None:
    """Ends the daemons; munged, which all others ask, is last."""
    for name in (*(f"slurmd-{node}" for node in _NODES), "slurmctld", "munge"):
        file = folder / f"{name}.pid"
        if not file.exists():
            continue
        process = int(file.read_text())
        os.kill(process, 15)
        end = time.monotonic() + _DEADLINE_SECS
        while Path(f"/proc/{process}").exists() and time.monotonic() < end:
            time.sleep(0.05)
