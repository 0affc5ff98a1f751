"""Whether a process trains alone or with others, as its RunConfig says."""

from typing import Any

import tensorflow as tf

from estimator_train.cluster import MASTER, WORKER
from estimator_train.run_config.run_config import RunConfig

_MULTI_WORKER = (
    tf.distribute.MultiWorkerMirroredStrategy,
    tf.distribute.experimental.MultiWorkerMirroredStrategy,
    tf.compat.v1.distribute.experimental.MultiWorkerMirroredStrategy,
)


def is_multi_worker(strategy: Any) -> bool:
    """Whether a strategy keeps the workers of a cluster synchronous."""
    return isinstance(strategy, _MULTI_WORKER)


def is_synchronous(config: RunConfig) -> bool:
    """Whether this process is one of several workers that train synchronously."""
    return bool(config.master) and is_multi_worker(config.train_distribute)


def is_ps_task(config: RunConfig) -> bool:
    """Whether this process is one of several that train asynchronously on parameter servers."""
    return bool(config.master) and not config.train_distribute


def writes_events(config: RunConfig) -> bool:
    """Whether this process writes the summaries of training and its steps per second.

    A master evaluates between its checkpoints and makes no steps then; where it has workers, the
    first of them writes.
    """
    if {MASTER, WORKER} <= set(config.cluster_spec.jobs):
        return (config.task_type, config.task_id) == (WORKER, 0)
    return bool(config.is_chief)
