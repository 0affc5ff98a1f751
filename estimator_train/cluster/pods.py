"""The cluster of a pod whose platform gives it only an index: JobSet, Kubeflow Trainer, Jobs."""

import dataclasses
from collections.abc import Mapping

from estimator_train.cluster.platforms import read_number
from estimator_train.cluster.task import EVALUATOR, Cluster, group_by_job, list_tasks

# Kubernetes sets it in the pods of indexed jobs.
INDEX_VARIABLE = "JOB_COMPLETION_INDEX"


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
