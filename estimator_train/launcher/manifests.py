"""Writes manifests of a job for schedulers: a TFJob for Kubeflow 1, a batch script for Slurm."""

import dataclasses
import json
import re
import shlex
from collections.abc import Sequence

MAX_RESTARTS = 10
_KUBERNETES_NAME = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")  # A label of RFC 1035, 2.3.1.
# As in the manual of sbatch: minutes, or days and hours, with a colon between them; -1 is no limit.
_SLURM_TIME = re.compile(r"\d+(:\d+){0,2}|\d+-\d+(:\d+){0,2}|-1|UNLIMITED|INFINITE", re.ASCII)
_MAX_SLURM_GRACE_SECS = 65535


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
