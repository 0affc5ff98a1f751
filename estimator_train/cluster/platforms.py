"""The kinds of cluster that start processes, each known by the variables it sets.

Except for TF_CONFIG they number the processes and give them no roles: the first is the chief, the
next are workers, then come ESTIMATOR_TRAIN_PS parameter servers (none by default) and, with
ESTIMATOR_TRAIN_EVALUATOR=1, the last is the evaluator.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from typing import Protocol

from estimator_train.cluster.task import CHIEF, EVALUATOR, PS, WORKER, Cluster
from estimator_train.cluster.tf_config import cluster_from_tf_config, read_tf_config

Variables = Mapping[str, str]


class Kind(Protocol):
    """A kind of cluster."""

    name: str

    def detect(self, variables: Variables) -> bool:
        """Whether this kind of cluster started a process with these variables."""

    def cluster(self, variables: Variables, needs_chief: bool) -> Cluster:
        """The process's place.

        Raises:
          ValueError: A variable is missing or wrong.
        """


class TFConfig:
    """TF_CONFIG with a cluster: Vertex AI, Kubeflow, and whoever sets it."""

    name = "TF_CONFIG"

    def detect(self, variables: Variables) -> bool:
        """Whether there is a cluster in TF_CONFIG."""
        config = read_tf_config(variables.get("TF_CONFIG", ""))
        return bool(config.get("cluster") or config.get("task"))

    def cluster(self, variables: Variables, needs_chief: bool) -> Cluster:
        """The process's place."""
        return cluster_from_tf_config(variables.get("TF_CONFIG", ""), needs_chief=needs_chief)


class Slurm:
    """Tasks of a Slurm step. A shell on a node (`bash`, `interactive`) is not a job."""

    name = "Slurm"
    first_port = 15000

    def detect(self, variables: Variables) -> bool:
        """Whether this is one of several tasks of a batch step."""
        if variables.get("SLURM_JOB_NAME") in ("bash", "interactive"):
            return False
        tasks = "SLURM_STEP_NUM_TASKS" if "SLURM_STEP_NUM_TASKS" in variables else "SLURM_NTASKS"
        return "SLURM_PROCID" in variables and _number(variables, tasks, "1") > 1

    def cluster(self, variables: Variables, needs_chief: bool) -> Cluster:
        """The process's place; the first port is 15000 + the last four digits of the job id."""
        del needs_chief
        nodes = _expanded(_either(variables, "SLURM_STEP_NODELIST", "SLURM_NODELIST"))
        counts = _repeated(_either(variables, "SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE"))
        if len(nodes) != len(counts):
            raise ValueError(
                f"Slurm names {len(nodes)} nodes ({', '.join(nodes)}) and counts tasks on "
                f"{len(counts)}: SLURM_STEP_NODELIST and SLURM_STEP_TASKS_PER_NODE do not agree."
            )
        port = self.first_port + int(_needed(variables, "SLURM_JOB_ID")[-4:])
        addresses = [
            f"{node}:{port + local}"
            for node, count in zip(nodes, counts, strict=True)
            for local in range(count)
        ]
        return _by_rank(addresses, _number(variables, "SLURM_PROCID"), variables)


class SageMaker:
    """Hosts of a SageMaker training job, a process on each."""

    name = "SageMaker"
    port = 2222

    def detect(self, variables: Variables) -> bool:
        """Whether there are several hosts."""
        return len(_json_list(variables, "SM_HOSTS")) > 1

    def cluster(self, variables: Variables, needs_chief: bool) -> Cluster:
        """The process's place."""
        del needs_chief
        hosts = _json_list(variables, "SM_HOSTS")
        own = _needed(variables, "SM_CURRENT_HOST")
        if own not in hosts:
            raise ValueError(f"SM_CURRENT_HOST={own} is not one of SM_HOSTS: {', '.join(hosts)}")
        addresses = [f"{host}:{self.port}" for host in hosts]
        return _by_rank(addresses, hosts.index(own), variables)


class Torchrun:
    """Processes that torchrun started on one machine."""

    name = "torchrun"

    def detect(self, variables: Variables) -> bool:
        """Whether this is one of several ranks."""
        names = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
        return all(name in variables for name in names) and _number(variables, "WORLD_SIZE") > 1

    def cluster(self, variables: Variables, needs_chief: bool) -> Cluster:
        """The process's place; ports follow MASTER_PORT, which is torchrun's own."""
        del needs_chief
        size = _number(variables, "WORLD_SIZE")
        if _number(variables, "LOCAL_WORLD_SIZE", str(size)) != size:
            raise ValueError(
                "torchrun does not tell the addresses of processes on other machines "
                f"(WORLD_SIZE={size}, LOCAL_WORLD_SIZE={variables['LOCAL_WORLD_SIZE']}). Set "
                "TF_CONFIG, or give --worker_hosts and --task_index."
            )
        host, port = variables["MASTER_ADDR"], _number(variables, "MASTER_PORT")
        addresses = [f"{host}:{port + 1 + rank}" for rank in range(size)]
        return _by_rank(addresses, _number(variables, "RANK"), variables)


KINDS: tuple[Kind, ...] = (TFConfig(), Slurm(), SageMaker(), Torchrun())


def detect(variables: Variables = os.environ, *, needs_chief: bool = False) -> Cluster:
    """The cluster that this process was started in, whoever started it.

    Args:
      variables: The environment.
      needs_chief: Whether a cluster in TF_CONFIG must name a chief.

    Returns:
      The cluster; without `jobs` where the process stands alone.

    Raises:
      ValueError: A variable of the cluster is missing or wrong.
      TypeError: TF_CONFIG has a value of a wrong type.
    """
    for kind in KINDS:
        if kind.detect(variables):
            return kind.cluster(variables, needs_chief)
    return Cluster()


def asks_for_ps(variables: Variables = os.environ) -> bool:
    """Whether ESTIMATOR_TRAIN_PS wants parameter servers among numbered processes."""
    return _number(variables, "ESTIMATOR_TRAIN_PS", "0") > 0


def _by_rank(addresses: Sequence[str], rank: int, variables: Variables) -> Cluster:
    """The place of the process with this number among these addresses."""
    num_ps = _number(variables, "ESTIMATOR_TRAIN_PS", "0")
    num_evaluators = min(1, _number(variables, "ESTIMATOR_TRAIN_EVALUATOR", "0"))
    workers = len(addresses) - 1 - num_ps - num_evaluators
    if workers < 0:
        raise ValueError(
            f"{len(addresses)} processes are too few for a chief, {num_ps} parameter servers "
            f"(ESTIMATOR_TRAIN_PS) and {num_evaluators} evaluators (ESTIMATOR_TRAIN_EVALUATOR)."
        )
    if not 0 <= rank < len(addresses):
        raise ValueError(
            f"This process has rank {rank}, but ranks go from 0 to {len(addresses) - 1}."
        )
    counts = {CHIEF: 1, WORKER: workers, PS: num_ps, EVALUATOR: num_evaluators}
    tasks = [(job, index) for job, count in counts.items() for index in range(count)]
    jobs: dict[str, dict[int, str]] = {}
    for (job, index), address in zip(tasks, addresses, strict=True):
        jobs.setdefault(job, {})[index] = address
    job, index = tasks[rank]
    return Cluster(jobs=jobs, task_type=job, task_id=index)


def _expanded(nodes: str) -> list[str]:
    """Node names of a Slurm list such as "a[1-2,7],b3"."""
    found = []
    for name, ranges in re.findall(r"([^,\[]+)(?:\[([^\]]*)\])?,?", nodes):
        for part in ranges.split(",") if ranges else [""]:
            first, _, last = part.partition("-")
            numbers = range(int(first), int(last or first) + 1) if part else [None]
            found += [
                name if number is None else f"{name}{number:0{len(first)}d}" for number in numbers
            ]
    return found


def _repeated(counts: str) -> list[int]:
    """Numbers of a Slurm list such as "2(x3),1"."""
    found = []
    for part in counts.split(","):
        match = re.fullmatch(r"(\d+)(?:\(x(\d+)\))?", part)
        if match is None:
            raise ValueError(f"SLURM_STEP_TASKS_PER_NODE should look like 2(x3),1, given: {counts}")
        found += [int(match[1])] * int(match[2] or 1)
    return found


def _either(variables: Variables, name: str, older: str) -> str:
    return variables[name] if name in variables else _needed(variables, older)


def _needed(variables: Variables, name: str) -> str:
    if not variables.get(name):
        raise ValueError(
            f"The environment variable {name} is not set, although others of its platform are."
        )
    return variables[name]


def _number(variables: Variables, name: str, default: str | None = None) -> int:
    text = _needed(variables, name) if default is None else variables.get(name, default)
    if not text.isdigit():
        raise ValueError(f"The environment variable {name} must be a whole number, given: {text}")
    return int(text)


def _json_list(variables: Variables, name: str) -> list[str]:
    try:
        found = json.loads(variables.get(name, "[]"))
    except json.JSONDecodeError as error:
        raise ValueError(f"The environment variable {name} is not valid JSON: {error}") from error
    if not isinstance(found, list):
        raise ValueError(f"The environment variable {name} must be a JSON list, given: {found}")
    return [str(one) for one in found]
