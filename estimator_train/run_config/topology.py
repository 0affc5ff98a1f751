"""Derives from a RunConfig whether a process trains alone or with other tasks."""

import dataclasses

import tensorflow as tf

from estimator_train.cluster import MASTER, WORKER
from estimator_train.run_config.run_config import RunConfig

_MULTI_WORKER = (
    tf.distribute.MultiWorkerMirroredStrategy,
    tf.distribute.experimental.MultiWorkerMirroredStrategy,
    tf.compat.v1.distribute.experimental.MultiWorkerMirroredStrategy,
)


def is_multi_worker(strategy: tf.distribute.Strategy | None) -> bool:
    """Returns whether a strategy keeps the workers of a cluster synchronous."""
    return isinstance(strategy, _MULTI_WORKER)


@dataclasses.dataclass(frozen=True)
class Topology:
    """Role of a process in training: alone, or one task of a cluster.

    Attributes:
      is_synchronous: Whether it is one of several workers that train synchronously.
      is_asynchronous: Whether it is one of several workers that share parameter servers.
      device: Its device in a graph with variables on parameter servers; None in other graphs.
      input_context: The index of an asynchronous worker's input pipeline and the number of such
        pipelines; None for a single one.
      steps_per_call: Maximum number of training steps in a session call; "auto" for no limit.
      writes_events: Whether it writes the summaries of training and the steps per second.
    """

    is_synchronous: bool
    is_asynchronous: bool
    device: str | None
    input_context: tf.distribute.InputContext | None
    steps_per_call: int | str
    writes_events: bool

    @property
    def steps_between_checks(self) -> int:
        """Steps of an asynchronous worker's loop before it reads the steps of other workers."""
        return int(self.steps_per_call) - 1


def make_topology(config: RunConfig) -> Topology:
    """Returns the role of this process, from a RunConfig whose cluster is resolved."""
    in_cluster = bool(config.master)
    synchronous = in_cluster and is_multi_worker(config.train_distribute)
    # TF_CONFIG may name a session_master without a cluster.
    asynchronous = in_cluster and bool(config.cluster_spec.jobs) and not config.train_distribute
    steps = config.steps_per_loop
    if in_cluster and not synchronous and (not asynchronous or steps == "auto"):
        # Other workers see an asynchronous worker's steps only when its loop ends.
        steps = 1
    return Topology(
        is_synchronous=synchronous,
        is_asynchronous=asynchronous,
        device=f"/job:{config.task_type}/task:{config.task_id}" if asynchronous else None,
        input_context=_make_input_context(config) if asynchronous else None,
        steps_per_call=steps,
        writes_events=_writes_events(config),
    )


def _make_input_context(config: RunConfig) -> tf.distribute.InputContext | None:
    if config.num_worker_replicas <= 1:
        return None
    return tf.distribute.InputContext(
        num_input_pipelines=config.num_worker_replicas,
        input_pipeline_id=config.global_id_in_cluster,
    )


def _writes_events(config: RunConfig) -> bool:
    """Returns whether this task writes events: worker 0 if a master pauses training to evaluate."""
    if {MASTER, WORKER} <= set(config.cluster_spec.jobs):
        return (config.task_type, config.task_id) == (WORKER, 0)
    return bool(config.is_chief)
