"""Writes manifests of a job for schedulers: Slurm, Kubeflow's operator, JobSet, Kubeflow Trainer 2.

The pods of JobSet and Kubeflow Trainer 2 get an index, but no TF_CONFIG: each container runs
`estimator-train task`, which makes TF_CONFIG from the index (`cluster.platforms`) and then runs the
program.
"""

import dataclasses
import json
import re
import shlex
from collections.abc import Sequence

from estimator_train.cluster import CHIEF, EVALUATOR, PS, WORKER

MAX_RESTARTS = 10
_KUBERNETES_NAME = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")  # A label of RFC 1035, 2.3.1.
# As in the manual of sbatch: minutes, or days and hours, with a colon between them; -1 is no limit.
_SLURM_TIME = re.compile(r"\d+(:\d+){0,2}|\d+-\d+(:\d+){0,2}|-1|UNLIMITED|INFINITE", re.ASCII)
_MAX_SLURM_GRACE_SECS = 65535
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


@dataclasses.dataclass(frozen=True)
class ClusterJob:
    """Job of several processes.

    Attributes:
      command: The program and its arguments, the same for all.
      name: The job's name.
      workers: Number of workers, without the chief.
      ps: Number of parameter servers.
      evaluator: Whether there is an evaluator.
      image: Kubernetes: the container image.
      gpus: Number of GPUs of each process that trains or evaluates.
      time: Slurm: the time limit, as 24:00:00.
      grace_secs: Seconds between the signal that announces the end and SIGKILL.
    """

    command: Sequence[str]
    name: str = "train"
    workers: int = 0
    ps: int = 0
    evaluator: bool = False
    image: str = ""
    gpus: int = 0
    time: str = "24:00:00"
    grace_secs: int = 90


def make_kubeflow_job(job: ClusterJob) -> str:
    """Returns the YAML of a TFJob.

    The operator sets TF_CONFIG. It restarts processes that a signal ended (exit code 128 and more),
    but not those that failed with an error.

    Args:
      job: The job.

    Raises:
      ValueError: The job has no image, or Kubernetes refuses its name.
    """
    check_kubernetes_job(job, "TFJob")
    counts = {"Chief": 1, "Worker": job.workers, "PS": job.ps, "Evaluator": int(job.evaluator)}
    replicas = "".join(_make_replica(job, kind, count) for kind, count in counts.items() if count)
    return f"""\
apiVersion: kubeflow.org/v1
kind: TFJob
metadata:
  name: {job.name}
spec:
  runPolicy:
    # Pods that run when the chief is done are deleted, unless an evaluator must see the last
    # checkpoint: then all end by themselves.
    cleanPodPolicy: {"None" if job.evaluator else "Running"}
  tfReplicaSpecs:
{replicas}"""


def _check_slurm_job(job: ClusterJob) -> None:
    """Raises ValueError that names a setting that sbatch refuses, or that would split a line."""
    if not job.name or not job.name.isprintable():
        raise ValueError(
            f"--name={job.name!r}: a job of Slurm needs a name of printable characters, such as "
            "train."
        )
    if not _SLURM_TIME.fullmatch(job.time):
        raise ValueError(
            f"--time={job.time!r} is no time limit of Slurm: give minutes, hours:minutes:seconds "
            "or days-hours, such as 24:00:00."
        )
    if job.grace_secs > _MAX_SLURM_GRACE_SECS:
        raise ValueError(
            f"--grace_secs={job.grace_secs}: Slurm sends a signal at most "
            f"{_MAX_SLURM_GRACE_SECS} seconds before the limit."
        )


def make_slurm_script(job: ClusterJob) -> str:
    """Returns the script for sbatch.

    Args:
      job: The job.

    Raises:
      ValueError: Slurm refuses a setting of the job.
    """
    _check_slurm_job(job)
    tasks = 1 + job.workers + job.ps + int(job.evaluator)
    gpus = f"#SBATCH --gpus-per-task={job.gpus}\n" if job.gpus else ""
    return f"""\
#!/bin/bash
#SBATCH --job-name={shlex.quote(job.name)}
#SBATCH --ntasks={tasks}
{gpus}#SBATCH --time={job.time}
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=TERM@{job.grace_secs}
#SBATCH --output={shlex.quote(job.name)}-%j.log

# At a signal each task saves a checkpoint and ends with code 143. When the first task has ended so,
# or with an error, Slurm kills the others after KillWait seconds (`scontrol show config`).
export ESTIMATOR_TRAIN_PREEMPTION=1
# The first task is the chief; workers, parameter servers and the evaluator follow.
export ESTIMATOR_TRAIN_PS={job.ps}
export ESTIMATOR_TRAIN_EVALUATOR={int(job.evaluator)}

srun --label --kill-on-bad-exit=1 {shlex.join(job.command)}
code=$?

# Slurm itself restarts a job only after a failed node or a preemption. 137: a task was killed; 142:
# it waited too long; 143: it saved, or lost another task.
job=$SLURM_JOB_ID
[ -z "$SLURM_ARRAY_JOB_ID" ] || job=${{SLURM_ARRAY_JOB_ID}}_$SLURM_ARRAY_TASK_ID
case $code in
  137|142|143) [ "${{SLURM_RESTART_COUNT:-0}}" -ge {MAX_RESTARTS} ] || scontrol requeue "$job" ;;
esac
exit $code
"""


def check_kubernetes_job(job: ClusterJob, kind: str) -> None:
    """Checks that a job for Kubernetes has a container image and a name that Kubernetes takes.

    Args:
      job: The job.
      kind: Kind of the manifest.

    Raises:
      ValueError: The image is missing, or Kubernetes refuses the name.
    """
    if not job.image:
        raise ValueError(f"A {kind} needs the container image that it runs: --image=NAME.")
    if not _KUBERNETES_NAME.fullmatch(job.name):
        raise ValueError(
            f"Kubernetes refuses the name {job.name!r}: --name needs lower-case letters, digits "
            "and hyphens, a letter first and no hyphen last, such as train-1."
        )


def _make_replica(job: ClusterJob, kind: str, count: int) -> str:
    # JSON strings are YAML strings.
    command = ", ".join(json.dumps(part) for part in job.command)
    gpus = ""
    if job.gpus and kind != "PS":
        gpus = f"""
              resources:
                limits:
                  nvidia.com/gpu: {json.dumps(str(job.gpus))}"""
    return f"""\
    {kind}:
      replicas: {count}
      restartPolicy: ExitCode
      template:
        spec:
          terminationGracePeriodSeconds: {job.grace_secs}
          containers:
            - name: tensorflow
              image: {json.dumps(job.image)}
              env: [{{name: ESTIMATOR_TRAIN_PREEMPTION, value: "1"}}]
              command: [{command}]{gpus}
"""


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
