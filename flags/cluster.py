"""The cluster that flags or the environment describe."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from absl import flags

if TYPE_CHECKING:
    from estimator_train.cluster import Cluster


def set_cluster(flag_values: flags.FlagValues) -> None:
    """Sets TF_CONFIG from --worker_hosts and --task_index, if they are given.

    Args:
      flag_values: The parsed flags.

    Raises:
      ValueError: --task_index is missing or out of range, or TF_CONFIG has another cluster.
    """
    hosts, index = flag_values.worker_hosts, flag_values.task_index
    if not hosts:
        if index is not None:
            raise ValueError(f"--task_index={index} needs --worker_hosts=HOST:PORT,...")
        return
    if index is None or index >= len(hosts):
        raise ValueError(
            f"--worker_hosts has {len(hosts)} addresses: give --task_index from 0 to "
            f"{len(hosts) - 1}, not {index}."
        )
    # Imported here: `import flags` must not choose the Keras version, as that import does.
    from estimator_train.cluster import read_tf_config

    config = {"cluster": {"worker": hosts}, "task": {"type": "worker", "index": index}}
    if read_tf_config() not in ({}, config):
        raise ValueError("--worker_hosts and TF_CONFIG are both given, and differ: use one.")
    os.environ["TF_CONFIG"] = json.dumps(config)


def read_cluster() -> Cluster:
    """Returns the cluster of this process, as the engine of estimator_train reads it.

    TF_CONFIG, Slurm, SageMaker and torchrun describe one; without them the cluster has no jobs.

    Raises:
      ValueError: A variable of the cluster is missing or wrong.
      TypeError: TF_CONFIG has a value of a wrong type.
    """
    from estimator_train.cluster import detect

    return detect()
