"""The commands that start a cluster: `launch`, `manifest`, and `task` for a pod of a manifest."""

import os
import sys
from collections.abc import Sequence

from absl import flags as absl_flags

from estimator_train.cli.errors import PROGRAM, UsageError
from estimator_train.cli.job import user_code
from estimator_train.cli.job.user_code import Group
from estimator_train.cluster import CHIEF, EVALUATOR, PS, WORKER
from estimator_train.launcher import manifests

_LAUNCH = """
Runs a program as a cluster on this machine: `estimator-train launch --workers=2 --ps=1 --evaluator
-- python train.py`. Each process gets a TF_CONFIG with its role and with free ports of the loopback
interface. Each line of its output begins with its role and index. There is always a chief, which
also trains; --workers is the number of additional workers.

A process that fails is restarted, --max_restarts times in total, after a wait that grows each time.
Without parameter servers, all training processes restart together. Three failures at the same line,
without a new checkpoint in between, end the job. When the chief has exited, the other processes are
stopped, and the exit code is that of the chief. Signals are forwarded to all processes.

A standby process imports TensorFlow and the installed packages that the program imports. A failed
process is then replaced by a fork of it, which takes a fraction of a second. It does not import the
program's own modules. If a package must not be imported before the process has its role, use
--nostandby.
"""
_PLATFORMS = {
    "jobset": manifests.make_jobset,
    "kubeflow": manifests.make_kubeflow_job,
    "slurm": manifests.make_slurm_script,
    "trainjob": manifests.make_train_job,
}
_MANIFEST = """
Prints a Kubernetes manifest or a Slurm script that starts the same job as `launch` on a cluster:
`estimator-train manifest --platform=jobset --workers=2 --ps=1 --image=NAME -- python train.py |
kubectl apply -f -`, or `--platform=slurm ... | sbatch`. On Kubernetes, jobset is a JobSet, trainjob
a TrainJob of Kubeflow Trainer 2, and kubeflow a TFJob of Kubeflow's training operator 1.
"""
_TASK = """
Runs a program as one task of a cluster on Kubernetes: it sets TF_CONFIG from the pod's index
(JOB_COMPLETION_INDEX) and the host names of all pods, and replaces itself by the program. The
manifests for JobSet and Kubeflow Trainer that `estimator-train manifest` prints start it.
"""


def _define_launch(flag_values: absl_flags.FlagValues) -> None:
    define = Group(flag_values)
    user_code.define_roles(define)
    define.integer(
        "max_restarts",
        3,
        "Total number of restarts after failures. Exit code 2 (bad input) is final.",
        lower_bound=0,
    )
    define.float(
        "grace_secs",
        30.0,
        "Seconds between SIGTERM and SIGKILL, and seconds for the other processes to exit after "
        "the chief has exited.",
        lower_bound=0,
    )
    define.float(
        "evaluator_secs",
        600.0,
        "Seconds for the last evaluation of the evaluator.",
        lower_bound=0,
    )
    define.boolean(
        "standby",
        True,
        "Keep a process that has imported TensorFlow and the program's installed packages, and "
        "start failed tasks from it (Linux).",
    )
    define.boolean(
        "private_network",
        False,
        "Run all processes in a separate network without connections to other networks (Linux, if "
        "the system allows it).",
    )


class Launch:
    """`estimator-train launch`: runs a program as a cluster on this machine."""

    DESCRIPTION = _LAUNCH
    FLAGS = (_define_launch,)

    @staticmethod
    def run(flag_values: absl_flags.FlagValues, program: Sequence[str]) -> None:
        """Runs a program as a cluster, and exits with the exit code of the chief.

        Args:
          flag_values: The parsed flags.
          program: The program and its arguments.

        Raises:
          UsageError: There is no program, or the system does not allow a private network.
          SystemExit: The program has ended.
        """
        from estimator_train.launcher.launch import LocalJob, launch

        if not program:
            raise UsageError("a program is needed, such as: launch --workers=2 -- python train.py")
        if flag_values.private_network:
            _enter_private_network()
        sys.exit(launch(LocalJob(program, **user_code.read_fields(LocalJob, flag_values))))


def _enter_private_network() -> None:
    from estimator_train.launcher import network

    try:
        network.enter_private_network()
    except OSError as error:
        raise UsageError(
            f"--private_network: this system does not allow private networks ({error.strerror}). "
            "Omit the flag, and block the ports of this machine for other users."
        ) from error


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


class Manifest:
    """`estimator-train manifest`: prints the description of a cluster job for a scheduler."""

    DESCRIPTION = _MANIFEST
    FLAGS = (_define_manifest,)

    @staticmethod
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
        job = manifests.ClusterJob(
            program, **user_code.read_fields(manifests.ClusterJob, flag_values)
        )
        print(_PLATFORMS[flag_values.platform](job), end="")


def _define_task(flag_values: absl_flags.FlagValues) -> None:
    define = Group(flag_values)
    define.string(
        "hosts",
        None,
        "Host names of the pods, with {index} for the index of a pod and {role} for its role, such "
        "as 'train-{role}-0-{index}.train'.",
    )
    define.enum(
        "role",
        None,
        [CHIEF, WORKER, PS, EVALUATOR],
        "Role of this pod. By default the index counts all pods: the chief, workers, parameter "
        "servers, evaluator.",
    )
    user_code.define_roles(define)
    define.integer("port", 2222, "Port of all tasks.", lower_bound=1, upper_bound=65535)


class Task:
    """`estimator-train task`: makes TF_CONFIG from the index of a pod, and runs a program."""

    DESCRIPTION = _TASK
    FLAGS = (_define_task,)

    @staticmethod
    def run(flag_values: absl_flags.FlagValues, program: Sequence[str]) -> None:
        """Replaces this process by the program.

        Args:
          flag_values: The parsed flags.
          program: The program and its arguments.

        Raises:
          UsageError: There is no program, no pattern of hosts, or the pod's index is missing or
            wrong.
          OSError: The program cannot be started.
        """
        from estimator_train.cluster import to_tf_config
        from estimator_train.cluster.platforms import PodLayout, read_cluster_of_pod

        if not program:
            raise UsageError("a program is needed, such as: task ... -- python train.py")
        if not flag_values.hosts:
            raise UsageError("--hosts is needed, such as --hosts='train-{role}-0-{index}.train'.")
        layout = PodLayout(**user_code.read_fields(PodLayout, flag_values))
        try:
            cluster = read_cluster_of_pod(layout, flag_values.role or "", os.environ)
        except ValueError as error:
            raise UsageError(str(error)) from error
        if os.environ.pop("TF_CONFIG", ""):
            text = f"{PROGRAM}: TF_CONFIG is set, but the pod's index and --hosts replace it."
            print(text, file=sys.stderr, flush=True)
        if sum(len(tasks) for tasks in cluster.jobs.values()) > 1 or cluster.task_type != CHIEF:
            os.environ["TF_CONFIG"] = to_tf_config(cluster)
        os.environ["ESTIMATOR_TRAIN_PREEMPTION"] = "1"
        os.execvp(program[0], list(program))
