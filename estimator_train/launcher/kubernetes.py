"""Manifests for Kubernetes without TFJob: a JobSet, or a TrainJob of Kubeflow Trainer 2.

Their pods get an index, but no TF_CONFIG: each container runs `estimator-train task`, which makes
TF_CONFIG from the index (`cluster.platforms`) and then runs the program.
"""

import json

from estimator_train.cluster import CHIEF, EVALUATOR, PS, WORKER
from estimator_train.launcher.manifests import MAX_RESTARTS, ClusterJob, check_kubernetes_job

# JobSet's webhook adds "-" and five characters to the name of a pod, and allows 63.
_MAX_HOST_NAME = 57
_NODE = "node"
_RETRIES = 100
_FAILURE_POLICY = f"""\
failurePolicy:
  maxRestarts: {MAX_RESTARTS}
  rules:
    # An error or bad input (exit codes 1 and 2): a restart would fail again.
    - name: error
      action: FailJobSet
      onJobFailureReasons: [PodFailurePolicy]"""
# Pods that a signal ended or the cluster evicted are replaced, each with its index.
_POD_POLICY = f"""\
completionMode: Indexed
backoffLimit: {_RETRIES}
podFailurePolicy:
  rules:
    - action: FailJob
      onExitCodes:
        operator: In
        values: [1, 2]
    - action: Ignore
      onPodConditions:
        - type: DisruptionTarget
          status: "True\""""


def make_jobset(job: ClusterJob) -> str:
    """Returns the YAML of a JobSet with one replicated job for each role.

    Pods that a signal ended are replaced, one at a time; exit codes 1 and 2 end the job. The JobSet
    is complete when the chief is, and the evaluator if there is one.

    Args:
      job: The job.

    Raises:
      ValueError: The job has no image, or its name is too long or refused by Kubernetes.
    """
    check_kubernetes_job(job, "JobSet")
    counts = {CHIEF: 1, WORKER: job.workers, PS: job.ps, EVALUATOR: int(job.evaluator)}
    counts = {role: count for role, count in counts.items() if count}
    _check_host_names(job.name, max(counts, key=len), max(counts.values()))
    # The controller deletes all pods of a complete set: the evaluator must end by itself.
    ends = [role for role in (CHIEF, EVALUATOR) if role in counts]
    replicated = "".join(_make_replicated_job(job, role, count) for role, count in counts.items())
    return f"""\
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: {job.name}
spec:
  network:
    enableDNSHostnames: true
    publishNotReadyAddresses: true
  successPolicy:
    operator: All
    targetReplicatedJobs: [{", ".join(ends)}]
{_indent(_FAILURE_POLICY, 2)}
  replicatedJobs:
{replicated}"""


def make_train_job(job: ClusterJob) -> str:
    """Returns the YAML of a TrainJob and of its TrainingRuntime, with the plain ML policy.

    All pods are nodes of one job: the first is the chief, then come workers, parameter servers and
    the evaluator. Each node requests the same resources.

    Args:
      job: The job.

    Raises:
      ValueError: The job has no image, or its name is too long or refused by Kubernetes.
    """
    check_kubernetes_job(job, "TrainJob")
    nodes = 1 + job.workers + job.ps + int(job.evaluator)
    _check_host_names(job.name, _NODE, nodes)
    gpus = ""
    if job.gpus:
        gpus = f"\n    resourcesPerNode:\n{_make_limits(job.gpus, 6)}"
    return f"""\
{_make_training_runtime(job, nodes)}
---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata:
  name: {job.name}
spec:
  runtimeRef:
    apiGroup: trainer.kubeflow.org
    kind: TrainingRuntime
    name: {job.name}
  trainer:
    numNodes: {nodes}
    image: {json.dumps(job.image)}
    command: [{_make_command(job, "", _NODE)}]{gpus}
"""


def _make_training_runtime(job: ClusterJob, nodes: int) -> str:
    return f"""\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainingRuntime
metadata:
  name: {job.name}
spec:
  mlPolicy:
    numNodes: {nodes}
  template:
    spec:
      network:
        enableDNSHostnames: true
        publishNotReadyAddresses: true
{_indent(_FAILURE_POLICY, 6)}
      replicatedJobs:
        - name: {_NODE}
          template:
            metadata:
              labels:
                trainer.kubeflow.org/trainjob-ancestor-step: trainer
            spec:
{_indent(_POD_POLICY, 14)}
              template:
                spec:
                  restartPolicy: Never
                  terminationGracePeriodSeconds: {job.grace_secs}
                  containers:
                    - name: {_NODE}
                      image: {json.dumps(job.image)}"""


def _make_replicated_job(job: ClusterJob, role: str, count: int) -> str:
    gpus = ""
    if job.gpus and role != PS:
        gpus = f"\n                  resources:\n{_make_limits(job.gpus, 20)}"
    return f"""\
    - name: {role}
      replicas: 1
      template:
        spec:
          parallelism: {count}
          completions: {count}
{_indent(_POD_POLICY, 10)}
          template:
            spec:
              restartPolicy: Never
              terminationGracePeriodSeconds: {job.grace_secs}
              containers:
                - name: tensorflow
                  image: {json.dumps(job.image)}
                  command: [{_make_command(job, role, "{role}")}]{gpus}
"""


def _make_command(job: ClusterJob, role: str, replicated_job: str) -> str:
    """Returns the command of a container, as the items of a YAML list."""
    hosts = f"{job.name}-{replicated_job}-0-{{index}}.{job.name}"
    words = ["estimator-train", "task", f"--hosts={hosts}"]
    words += [f"--role={role}"] if role else []
    words += [f"--workers={job.workers}", f"--ps={job.ps}"]
    words += ["--evaluator"] if job.evaluator else []
    return ", ".join(json.dumps(word) for word in [*words, "--", *job.command])


def _check_host_names(name: str, replicated_job: str, count: int) -> None:
    longest = f"{name}-{replicated_job}-0-{count - 1}"
    if len(longest) > _MAX_HOST_NAME:
        raise ValueError(
            f"The host name {longest} of a pod has {len(longest)} characters, and JobSet "
            f"allows {_MAX_HOST_NAME}: choose a shorter --name."
        )


def _make_limits(gpus: int, spaces: int) -> str:
    return _indent(f"limits:\n  nvidia.com/gpu: {json.dumps(str(gpus))}", spaces)


def _indent(text: str, spaces: int) -> str:
    return "\n".join(" " * spaces + line for line in text.splitlines())
