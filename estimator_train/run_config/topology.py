"""Whether a process trains alone or with others, as its RunConfig says."""

from typing import Any

import tensorflow as tf

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
