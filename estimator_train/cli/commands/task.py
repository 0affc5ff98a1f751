"""`estimator-train task`: makes TF_CONFIG from the index of a pod, and runs a program."""

import os
import sys
from collections.abc import Sequence

from absl import flags as absl_flags

from estimator_train.cli.errors import PROGRAM, UsageError
from estimator_train.cli.job import user_code
from estimator_train.cli.job.user_code import Group
from estimator_train.cluster import CHIEF, EVALUATOR, PS, WORKER

DESCRIPTION = """
Runs a program as one task of a cluster on Kubernetes: it sets TF_CONFIG from the pod's index
(JOB_COMPLETION_INDEX) and the host names of all pods, and replaces itself by the program. The
manifests for JobSet and Kubeflow Trainer that `estimator-train manifest` prints start it.
"""


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


FLAGS = (_define_task,)


def run(flag_values: absl_flags.FlagValues, program: Sequence[str]) -> None:
    """Replaces this process by the program.

    Args:
      flag_values: The parsed flags.
      program: The program and its arguments.

    Raises:
      UsageError: There is no program, no pattern of hosts, or the pod's index is missing or wrong.
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
