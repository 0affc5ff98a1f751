"""Platforms that start the processes of a cluster, recognized by their environment variables.

TF_CONFIG gives each process a role. The other platforms only number the processes: the first is the
chief, the next are workers, then come ESTIMATOR_TRAIN_PS parameter servers (0 by default) and, with
ESTIMATOR_TRAIN_EVALUATOR=1, one evaluator.
"""

from __future__ import annotations

import dataclasses
import os
import zlib
from collections.abc import Mapping, Sequence

from estimator_train.cluster import slurm
from estimator_train.cluster.tf_config import (
    EVALUATOR,
    Cluster,
    cluster_from_tf_config,
    group_by_job,
    list_tasks,
    read_tf_config,
)
from estimator_train.cluster.variables import Variables, read_json_list, read_number, require

_SAGEMAKER_PORT = 2222
# Below the ports that Linux gives to outgoing connections (32768 and above).
_MPI_PORTS = range(10_000, 32_000)
# Kubernetes sets it in the pods of indexed jobs.
INDEX_VARIABLE = "JOB_COMPLETION_INDEX"


def has_tf_config(variables: Variables = os.environ) -> bool:
    """Returns whether TF_CONFIG, as Vertex AI, Kubeflow and users set it, has a cluster or a task.

    Args:
      variables: The environment variables.
    """
    config = read_tf_config(variables.get("TF_CONFIG", ""))
    return bool(config.get("cluster") or config.get("task"))


def _read_open_mpi(variables: Variables) -> Cluster | None:
    """Returns the cluster of the ranks of Open MPI's mpirun on one machine; None for a single one.

    mpirun counts hosts but does not name them. The ports follow from the job's name space. Tried
    with Open MPI 4.1.4.
    """
    if "OMPI_COMM_WORLD_RANK" not in variables:
        return None
    size = read_number(variables, "OMPI_COMM_WORLD_SIZE")
    if size <= 1:
        return None
    local = read_number(variables, "OMPI_COMM_WORLD_LOCAL_SIZE", str(size))
    if local != size:
        raise ValueError(
            f"mpirun does not provide the addresses of processes on other machines ({local} of "
            f"{size} ranks run here). Set TF_CONFIG, or give --worker_hosts and --task_index."
        )
    space = variables.get("PMIX_NAMESPACE") or require(variables, "OMPI_MCA_orte_ess_jobid")
    blocks = len(_MPI_PORTS) // size
    if not blocks:
        raise ValueError(f"mpirun started {size} ranks, more than ports in {_MPI_PORTS}.")
    first = _MPI_PORTS.start + zlib.crc32(space.encode()) % blocks * size
    addresses = [f"localhost:{first + rank}" for rank in range(size)]
    return _assign_roles(addresses, "OMPI_COMM_WORLD_RANK", variables)


def _read_slurm(variables: Variables) -> Cluster | None:
    """Returns the cluster of the tasks of a Slurm job step; None outside of one."""
    addresses = slurm.list_addresses(variables)
    if not addresses:
        return None
    return _assign_roles(addresses, "SLURM_PROCID", variables)


def _read_sagemaker(variables: Variables) -> Cluster | None:
    """Returns the cluster of a SageMaker job, one process on each host; None on a single host."""
    hosts = read_json_list(variables, "SM_HOSTS")
    if len(hosts) <= 1:
        return None
    own = require(variables, "SM_CURRENT_HOST")
    if own not in hosts:
        raise ValueError(f"SM_CURRENT_HOST={own} is not one of SM_HOSTS: {', '.join(hosts)}")
    addresses = [f"{host}:{_SAGEMAKER_PORT}" for host in hosts]
    return _assign_role(addresses, hosts.index(own), variables)


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
    return _assign_roles(addresses, "RANK", variables)


# For each platform, a variable that it always sets.
_PLATFORMS = {
    "Open MPI": ("OMPI_COMM_WORLD_RANK", _read_open_mpi),
    "Slurm": ("SLURM_STEP_NUM_TASKS", _read_slurm),
    "SageMaker": ("SM_HOSTS", _read_sagemaker),
    "torchrun": ("WORLD_SIZE", _read_torchrun),
}


def detect(variables: Variables = os.environ, *, needs_chief: bool = False) -> Cluster:
    """Reads the cluster of this process from TF_CONFIG, or the platform that started it.

    If there are variables of several platforms, the innermost program that starts processes wins:
    mpirun and torchrun run inside a Slurm job.

    Args:
      variables: The environment variables.
      needs_chief: Whether a cluster in TF_CONFIG must name a chief.

    Returns:
      The cluster; without `jobs` if the process is not part of one.

    Raises:
      ValueError: A variable of the cluster is missing or wrong.
      TypeError: TF_CONFIG has a value of a wrong type.
    """
    platforms = _PLATFORMS
    # Programs for PyTorch set the other variables by hand, from those of Slurm.
    if "TORCHELASTIC_RUN_ID" in variables:
        platforms = {"torchrun": _PLATFORMS["torchrun"], **platforms}
    seen = [name for name, (variable, _) in platforms.items() if variable in variables]
    if has_tf_config(variables):
        found = cluster_from_tf_config(variables.get("TF_CONFIG", ""), needs_chief=needs_chief)
        return dataclasses.replace(found, unused_platforms=tuple(seen))
    for name, (_, read_cluster) in platforms.items():
        read = read_cluster(variables)
        if read is not None:
            unused = tuple(other for other in seen if other != name)
            return dataclasses.replace(read, platform=name, unused_platforms=unused)
    return Cluster()


def _assign_roles(addresses: Sequence[str], name: str, variables: Variables) -> Cluster:
    """Returns the cluster of numbered processes; the variable `name` has the rank of this one."""
    rank = read_number(variables, name)
    if rank >= len(addresses):
        raise ValueError(f"{name}={rank}, but ranks go from 0 to {len(addresses) - 1}.")
    return _assign_role(addresses, rank, variables)


def _assign_role(addresses: Sequence[str], rank: int, variables: Variables) -> Cluster:
    """Returns the cluster of numbered processes, with the role of the process of this rank."""
    num_ps = read_number(variables, "ESTIMATOR_TRAIN_PS", "0")
    num_evaluators = min(1, read_number(variables, "ESTIMATOR_TRAIN_EVALUATOR", "0"))
    workers = len(addresses) - 1 - num_ps - num_evaluators
    if workers < 0:
        raise ValueError(
            f"{len(addresses)} processes are too few for a chief, {num_ps} parameter servers "
            f"(ESTIMATOR_TRAIN_PS) and {num_evaluators} evaluators (ESTIMATOR_TRAIN_EVALUATOR)."
        )
    tasks = list_tasks(workers, num_ps, num_evaluators)
    job, index = tasks[rank]
    return Cluster(jobs=group_by_job(tasks, addresses), task_type=job, task_id=index)


@dataclasses.dataclass(frozen=True)
class PodLayout:
    """Tasks of a cluster and the host names of their pods.

    Attributes:
      hosts: Pattern of the host names with {index} and, if each role is a job of its own, {role}.
      workers: Number of workers, without the chief.
      ps: Number of parameter servers.
      evaluator: Whether there is an evaluator.
      port: Port of all tasks.
    """

    hosts: str
    workers: int = 0
    ps: int = 0
    evaluator: bool = False
    port: int = 2222


def read_cluster_of_pod(layout: PodLayout, role: str, variables: Mapping[str, str]) -> Cluster:
    """Returns the cluster and the task of a pod.

    Args:
      layout: The tasks and their hosts.
      role: The pod's role; "" if the index counts all pods: the chief first, then workers,
        parameter servers and the evaluator.
      variables: The environment variables of the pod.

    Raises:
      ValueError: The variable of the index is missing or wrong, there are more pods than tasks, or
        the pattern of hosts has no {index}.
    """
    if "{index}" not in layout.hosts:
        raise ValueError(f"The pattern of host names must contain {{index}}, got {layout.hosts!r}.")
    index = read_number(variables, INDEX_VARIABLE)
    tasks = list_tasks(layout.workers, layout.ps, int(layout.evaluator))
    candidates = [task for task in tasks if not role or task[0] == role]
    if index >= len(candidates):
        kind = f"{role} pods" if role else "pods"
        raise ValueError(
            f"{INDEX_VARIABLE}={index}, but the job has {len(candidates)} {kind}: the manifest "
            "starts more pods than --workers, --ps and --evaluator allow. Give both the same "
            "numbers."
        )
    addresses = []
    for rank, (name, number) in enumerate(tasks):
        host = layout.hosts.replace("{index}", str(number if role else rank))
        addresses.append(f"{host.replace('{role}', name)}:{layout.port}")
    jobs = group_by_job(tasks, addresses)
    if layout.ps:
        # TensorFlow creates a MultiWorkerMirroredStrategy only in a process that the cluster lists;
        # with parameter servers no other task connects to the evaluator.
        jobs.pop(EVALUATOR, None)
    name, number = candidates[index]
    return Cluster(jobs=jobs, task_type=name, task_id=number)
