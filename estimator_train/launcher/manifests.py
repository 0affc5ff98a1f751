"""The same job for a scheduler: a TFJob for Kubeflow, a batch script for Slurm."""

import dataclasses
import json
import shlex
from collections.abc import Callable, Mapping, Sequence


@dataclasses.dataclass(frozen=True)
class ClusterJob:
    """A job of several processes.

    Attributes:
      command: The program and its arguments, the same for all.
      name: The job's name.
      workers: Processes that train beside the chief.
      ps: Parameter servers.
      evaluator: Whether there is an evaluator.
      image: Kubeflow: the container image.
      gpus: GPUs of each process that trains or evaluates.
      time: Slurm: the time limit, as 24:00:00.
      grace_secs: Seconds between the signal that the time is over and the end.
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


def kubeflow(job: ClusterJob) -> str:
    """The YAML of a TFJob.

    The operator sets TF_CONFIG. Processes that end by a signal (exit code 128 and more) start
    again, those that fail by an error of their own do not.

    Args:
      job: The job.

    Raises:
      ValueError: There is no image.
    """
    if not job.image:
        raise ValueError("A TFJob needs the container image that it runs: --image=NAME.")
    counts = {"Chief": 1, "Worker": job.workers, "PS": job.ps, "Evaluator": int(job.evaluator)}
    replicas = "".join(_replica(job, kind, count) for kind, count in counts.items() if count)
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


def slurm(job: ClusterJob) -> str:
    """The script for sbatch.

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


PLATFORMS: Mapping[str, Callable[[ClusterJob], str]] = {"kubeflow": kubeflow, "slurm": slurm}


def _replica(job: ClusterJob, kind: str, count: int) -> str:
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
