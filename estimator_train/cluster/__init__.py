"""The cluster a process is part of and its task there; no TensorFlow.

`tf_config.py` reads TF_CONFIG. Without it, `detect` asks each platform in `platforms.py` (Slurm,
SageMaker, torchrun) whether it started this process.
"""

from estimator_train.cluster.platforms import KINDS, detect
from estimator_train.cluster.task import (
    CHIEF,
    EVALUATOR,
    MASTER,
    PS,
    WORKER,
    Cluster,
    Jobs,
)
from estimator_train.cluster.tf_config import (
    as_tf_config,
    cluster_from_tf_config,
    platform_settings,
    read_jobs,
    read_tf_config,
)

__all__ = [
    "CHIEF",
    "EVALUATOR",
    "KINDS",
    "MASTER",
    "PS",
    "WORKER",
    "Cluster",
    "Jobs",
    "as_tf_config",
    "cluster_from_tf_config",
    "detect",
    "platform_settings",
    "read_jobs",
    "read_tf_config",
]
