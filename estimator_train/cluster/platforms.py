"""Platforms that start the processes of a cluster, recognized by their environment variables.

TF_CONFIG gives each process a role. The other platforms only number the processes: the first is the
chief, the next are workers, then come ESTIMATOR_TRAIN_PS parameter servers (0 by default) and, with
ESTIMATOR_TRAIN_EVALUATOR=1, one evaluator.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence

from estimator_train.cluster.task import Cluster, group_by_job, list_tasks
from estimator_train.cluster.tf_config import cluster_from_tf_config, read_tf_config

Variables = Mapping[str, str]

_SLURM_PORT = 15000
_SAGEMAKER_PORT = 2222


def has_tf_config(variables: Variables = os.environ) -> bool:
    """Returns whether TF_CONFIG, as Vertex AI, Kubeflow and users set it, has a cluster or a task.

    Args:
      variables: The environment variables.
    """
    config = read_tf_config(variables.get("TF_CONFIG", ""))
    return bool(config.get("cluster") or config.get("task"))


def _read_slurm(variables: Variables) -> Cluster | None:
    """Returns the cluster of the tasks of a Slurm batch step; None outside of one.

    An interactive shell (`bash`, `interactive`) is not a job. The first port is 15000 + the last
    four digits of the job id.
    """
    tasks = "SLURM_STEP_NUM_TASKS" if "SLURM_STEP_NUM_TASKS" in variables else "SLURM_NTASKS"
    if variables.get("SLURM_JOB_NAME") in ("bash", "interactive"):
        return None
    if "SLURM_PROCID" not in variables or read_number(variables, tasks, "1") <= 1:
        return None
    nodes = _expand_nodes(_require_either(variables, "SLURM_STEP_NODELIST", "SLURM_NODELIST"))
    counts = _expand_counts(
        _require_either(variables, "SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE")
    )
    if len(nodes) != len(counts):
        raise ValueError(
            f"Slurm names {len(nodes)} nodes ({', '.join(nodes)}) and counts tasks on "
            f"{len(counts)}: SLURM_STEP_NODELIST and SLURM_STEP_TASKS_PER_NODE do not agree."
        )
    port = _SLURM_PORT + int(_require(variables, "SLURM_JOB_ID")[-4:])
    addresses = [
        f"{node}:{port + local}"
        for node, count in zip(nodes, counts, strict=True)
        for local in range(count)
    ]
    return _assign_roles(addresses, read_number(variables, "SLURM_PROCID"), variables)


def _read_sagemaker(variables: Variables) -> Cluster | None:
    """Returns the cluster of a SageMaker job, one process on each host; None on a single host."""
    hosts = _read_json_list(variables, "SM_HOSTS")
    if len(hosts) <= 1:
        return None
    own = _require(variables, "SM_CURRENT_HOST")
    if own not in hosts:
        raise ValueError(f"SM_CURRENT_HOST={own} is not one of SM_HOSTS: {', '.join(hosts)}")
    addresses = [f"{host}:{_SAGEMAKER_PORT}" for host in hosts]
    return _assign_roles(addresses, hosts.index(own), variables)


def _read_torchrun(variables: Variables) -> Cluster | None:
    """Returns the cluster of the processes of torchrun on one machine; None for a single one.

    The ports follow MASTER_PORT, which torchrun itself uses.
    """
    names = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
    if not all(name in variables for name in names):
        return None
    size = read_number(variables, "WORLD_SIZE")
    if size <= 1:
        return None
    if read_number(variables, "LOCAL_WORLD_SIZE", str(size)) != size:
        raise ValueError(
            "torchrun does not provide the addresses of processes on other machines "
            f"(WORLD_SIZE={size}, LOCAL_WORLD_SIZE={variables['LOCAL_WORLD_SIZE']}). Set "
            "TF_CONFIG, or give --worker_hosts and --task_index."
        )
    host, port = variables["MASTER_ADDR"], read_number(variables, "MASTER_PORT")
    addresses = [f"{host}:{port + 1 + rank}" for rank in range(size)]
    return _assign_roles(addresses, read_number(variables, "RANK"), variables)


def detect(variables: Variables = os.environ, *, needs_chief: bool = False) -> Cluster:
    """Reads the cluster of this process from TF_CONFIG, or the first platform that started it.

    Args:
      variables: The environment variables.
      needs_chief: Whether a cluster in TF_CONFIG must name a chief.

    Returns:
      The cluster; without `jobs` if the process is not part of one.

    Raises:
      ValueError: A variable of the cluster is missing or wrong.
      TypeError: TF_CONFIG has a value of a wrong type.
    """
    if has_tf_config(variables):
        return cluster_from_tf_config(variables.get("TF_CONFIG", ""), needs_chief=needs_chief)
    for read_cluster in (_read_slurm, _read_sagemaker, _read_torchrun):
        found = read_cluster(variables)
        if found is not None:
            return found
    return Cluster()


def requests_parameter_servers(variables: Variables = os.environ) -> bool:
    """Returns whether ESTIMATOR_TRAIN_PS requests parameter servers."""
    return read_number(variables, "ESTIMATOR_TRAIN_PS", "0") > 0


def _assign_roles(addresses: Sequence[str], rank: int, variables: Variables) -> Cluster:
    """Returns the cluster of numbered processes, with the role of the process of this rank."""
    num_ps = read_number(variables, "ESTIMATOR_TRAIN_PS", "0")
    num_evaluators = min(1, read_number(variables, "ESTIMATOR_TRAIN_EVALUATOR", "0"))
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
    tasks = list_tasks(workers, num_ps, num_evaluators)
    job, index = tasks[rank]
    return Cluster(jobs=group_by_job(tasks, addresses), task_type=job, task_id=index)


def _expand_nodes(nodes: str) -> list[str]:
    """Returns the node names of a Slurm list such as "a[1-2,7],b3"."""
    found = []
    for name, ranges in re.findall(r"([^,\[]+)(?:\[([^\]]*)\])?,?", nodes):
        for part in ranges.split(",") if ranges else [""]:
            first, _, last = part.partition("-")
            numbers = range(int(first), int(last or first) + 1) if part else [None]
            found += [
                name if number is None else f"{name}{number:0{len(first)}d}" for number in numbers
            ]
    return found


def _expand_counts(counts: str) -> list[int]:
    """Returns the numbers of a Slurm list such as "2(x3),1"."""
    found = []
    for part in counts.split(","):
        match = re.fullmatch(r"(\d+)(?:\(x(\d+)\))?", part)
        if match is None:
            raise ValueError(f"SLURM_STEP_TASKS_PER_NODE should look like 2(x3),1, given: {counts}")
        found += [int(match[1])] * int(match[2] or 1)
    return found


def _require_either(variables: Variables, name: str, older: str) -> str:
    return variables[name] if name in variables else _require(variables, older)


def _require(variables: Variables, name: str) -> str:
    if not variables.get(name):
        raise ValueError(
            f"The environment variable {name} is not set, although others of its platform are."
        )
    return variables[name]


def read_number(variables: Variables, name: str, default: str | None = None) -> int:
    """Returns the whole number in an environment variable.

    Args:
      variables: The environment variables.
      name: Name of the variable.
      default: Its value if it is not set; None if it must be set.

    Raises:
      ValueError: The variable is missing or no whole number.
    """
    text = _require(variables, name) if default is None else variables.get(name, default)
    if not text.isdigit():
        raise ValueError(f"The environment variable {name} must be a whole number, given: {text}")
    return int(text)


def _read_json_list(variables: Variables, name: str) -> list[str]:
    try:
        found = json.loads(variables.get(name, "[]"))
    except json.JSONDecodeError as error:
        raise ValueError(f"The environment variable {name} is not valid JSON: {error}") from error
    if not isinstance(found, list):
        raise ValueError(f"The environment variable {name} must be a JSON list, given: {found}")
    return [str(one) for one in found]
