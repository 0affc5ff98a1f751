"""Writes manifests of a job for schedulers: a TFJob for Kubeflow 1, a batch script for Slurm."""

import dataclasses
import json
import shlex
from collections.abc import Sequence


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
      ValueError: The job has no image.
    """
    require_image(job, "TFJob")
    counts = {"Chief": 1, "Worker": job.workers, "PS": job.ps, "Evaluator": int(job.evaluator)}
    replicas = "".join(_make_replica(job, kind, count) for kind, count in counts.items() if count)
    return f"""\
apiVersion: kubeflow.org/v1
kind: TFJob
metadata:
  name: {job.name}
spec:
  runPolicy:
    # Running: what still runs when the chief is done, parameter servers above all, is ended.
    cleanPodPolicy: Running
  tfReplicaSpecs:
{replicas}"""


def make_slurm_script(job: ClusterJob) -> str:
    """Returns the script for sbatch.

    Args:
      job: The job.
    """
    tasks = 1 + job.workers + job.ps + int(job.evaluator)
    gpus = f"#SBATCH --gpus-per-task={job.gpus}\n" if job.gpus else ""
    return f"""\
#!/bin/bash
#SBATCH --job-name={job.name}
#SBATCH --ntasks={tasks}
{gpus}#SBATCH --time={job.time}
#SBATCH --requeue
#SBATCH --signal=TERM@{job.grace_secs}
#SBATCH --output={job.name}-%j.log

# The first task is the chief; workers, parameter servers and the evaluator follow.
export ESTIMATOR_TRAIN_PS={job.ps}
export ESTIMATOR_TRAIN_EVALUATOR={int(job.evaluator)}

srun --label --kill-on-bad-exit=1 {shlex.join(job.command)}
"""


def require_image(job: ClusterJob, kind: str) -> None:
    """Raises ValueError if a job for Kubernetes has no container image.

    Args:
      job: The job.
      kind: Kind of the manifest.
    """
    if not job.image:
        raise ValueError(f"A {kind} needs the container image that it runs: --image=NAME.")


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
              command: [{command}]{gpus}
"""
