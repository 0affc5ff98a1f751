"""Reads the cluster of this process, and its task, from the environment; without TensorFlow.

`tf_config.py` reads TF_CONFIG. Without that, `detect` asks each platform in `platforms.py`
(Open MPI, Slurm, SageMaker, torchrun) whether it started this process.
"""

from estimator_train.cluster.platforms import detect, has_tf_config
from estimator_train.cluster.tf_config import (
    CHIEF,
    EVALUATOR,
    MASTER,
    PS,
    WORKER,
    Cluster,
    Jobs,
    check_addresses,
    cluster_from_tf_config,
    read_jobs,
    read_platform_settings,
    read_tf_config,
    to_tf_config,
)

__all__ = [
    "CHIEF",
    "EVALUATOR",
    "MASTER",
    "PS",
    "WORKER",
    "Cluster",
    "Jobs",
    "check_addresses",
    "cluster_from_tf_config",
    "detect",
    "has_tf_config",
    "read_jobs",
    "read_platform_settings",
    "read_tf_config",
    "to_tf_config",
]
