"""`estimator-train manifest`: the job of `launch`, for a scheduler."""

from collections.abc import Sequence

from absl import flags as absl_flags

from estimator_train.cli import common
from estimator_train.cli.job.own_packages import Group
from estimator_train.cli.output.errors import UsageError

DESCRIPTION = """
Prints what starts the same job as `launch` on a cluster: `estimator-train manifest
--platform=kubeflow --workers=2 --ps=1 --image=NAME -- python train.py | kubectl apply -f -`, or
`--platform=slurm ... | sbatch`.
"""


def _define_manifest(flag_values: absl_flags.FlagValues) -> None:
    define = Group(flag_values)
    define.enum("platform", None, ["kubeflow", "slurm"], "Whose job it is.")
    define.string("name", "train", "The job's name.")
    common.define_roles(define)
    define.integer("gpus", 0, "GPUs of each process but the parameter servers.", lower_bound=0)
    define.string("image", "", "Kubeflow: the container image.")
    define.string("time", "24:00:00", "Slurm: the time limit.")
    define.integer(
        "grace_secs", 90, "Seconds from the signal that ends the job to its end.", lower_bound=0
    )


FLAGS = (_define_manifest,)


def run(flag_values: absl_flags.FlagValues, program: Sequence[str]) -> None:
    """Prints the manifest.

    Args:
      flag_values: The parsed flags.
      program: The program and its arguments.

    Raises:
      UsageError: There is no platform or no program.
      ValueError: The platform needs what is not given.
    """
    from estimator_train.launcher.manifests import PLATFORMS, ClusterJob

    if flag_values.platform is None:
        raise UsageError(f"which platform? --platform={' or '.join(PLATFORMS)}")
    if not program:
        raise UsageError("what is to be run? As in: manifest ... -- python train.py")
    names = ("name", "workers", "ps", "evaluator", "gpus", "image", "time", "grace_secs")
    settings = {name: flag_values[name].value for name in names}
    print(PLATFORMS[flag_values.platform](ClusterJob(program, **settings)), end="")
