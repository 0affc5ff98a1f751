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


def steps_per_call(config: RunConfig) -> int | str:
    """The most training steps that a session call of this process makes; "auto" for no limit.

    Asynchronous workers make one, unless their number is given: what one makes in a loop, the
    others see at its end.
    """
    asked = config.steps_per_loop
    if not config.master or is_synchronous(config):
        return asked
    return asked if is_ps_task(config) and asked != "auto" else 1


def steps_unseen(config: RunConfig) -> int:
    """The steps of an asynchronous worker's loop that it makes before it looks at the others'."""
    return int(steps_per_call(config)) - 1


def writes_events(config: RunConfig) -> bool:
    """Whether this process writes the summaries of training and its steps per second.

    A master evaluates between its checkpoints and makes no steps then; where it has workers, the
    first of them writes.
    """
    if {MASTER, WORKER} <= set(config.cluster_spec.jobs):
        return (config.task_type, config.task_id) == (WORKER, 0)
    return bool(config.is_chief)
