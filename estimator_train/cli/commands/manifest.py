"""`estimator-train manifest`: prints the description of a cluster job for a scheduler."""

from collections.abc import Sequence

from absl import flags as absl_flags

from estimator_train.cli.errors import UsageError
from estimator_train.cli.job import user_code
from estimator_train.cli.job.user_code import Group
from estimator_train.launcher import manifests

_PLATFORMS = {
    "jobset": manifests.make_jobset,
    "kubeflow": manifests.make_kubeflow_job,
    "slurm": manifests.make_slurm_script,
    "trainjob": manifests.make_train_job,
}
DESCRIPTION = """
Prints a Kubernetes manifest or a Slurm script that starts the same job as `launch` on a cluster:
`estimator-train manifest --platform=jobset --workers=2 --ps=1 --image=NAME -- python train.py |
kubectl apply -f -`, or `--platform=slurm ... | sbatch`. On Kubernetes, jobset is a JobSet, trainjob
a TrainJob of Kubeflow Trainer 2, and kubeflow a TFJob of Kubeflow's training operator 1.
"""


def _define_manifest(flag_values: absl_flags.FlagValues) -> None:
    define = Group(flag_values)
    define.enum("platform", None, list(_PLATFORMS), "Scheduler of the job.")
    define.string("name", "train", "Name of the job.")
    user_code.define_roles(define)
    define.integer(
        "gpus", 0, "Number of GPUs of each process except parameter servers.", lower_bound=0
    )
    define.string("image", "", "Container image, for Kubernetes.")
    define.string("time", "24:00:00", "Time limit, for Slurm.")
    define.integer(
        "grace_secs",
        90,
        "Seconds between the signal that stops the job and SIGKILL.",
        lower_bound=0,
    )


FLAGS = (_define_manifest,)


def run(flag_values: absl_flags.FlagValues, program: Sequence[str]) -> None:
    """Prints the manifest.

    Args:
      flag_values: The parsed flags.
      program: The program and its arguments.

    Raises:
      UsageError: There is no platform or no program.
      ValueError: A setting that the platform needs is missing.
    """
    if flag_values.platform is None:
        raise UsageError(f"--platform is needed: {' or '.join(_PLATFORMS)}.")
    if not program:
        raise UsageError("a program is needed, such as: manifest ... -- python train.py")
    job = manifests.ClusterJob(program, **user_code.read_fields(manifests.ClusterJob, flag_values))
    print(_PLATFORMS[flag_values.platform](job), end="")
