"""Whether a process trains alone or with others, as its RunConfig says."""

import dataclasses
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


@dataclasses.dataclass(frozen=True)
class Topology:
    """How a process trains: alone, or as one task of a cluster.

    Attributes:
      is_synchronous: Whether it is one of several workers that train synchronously.
      is_asynchronous: Whether it is one of several that train asynchronously on parameter servers.
      device: Its device in a graph that has variables on parameter servers; None in any other.
      input_context: The place of an asynchronous worker's input among those of the others; None
        where there are none.
      steps_per_call: The most training steps that a session call makes; "auto" for no limit.
      writes_events: Whether it writes the summaries of training and its steps per second.
    """

    is_synchronous: bool
    is_asynchronous: bool
    device: str | None
    input_context: tf.distribute.InputContext | None
    steps_per_call: int | str
    writes_events: bool

    @property
    def steps_unseen(self) -> int:
        """The steps of an asynchronous worker's loop that it makes before it looks at others'."""
        return int(self.steps_per_call) - 1


def topology_of(config: RunConfig) -> Topology:
    """How this process trains, as its settled RunConfig says."""
    in_cluster = bool(config.master)
    synchronous = in_cluster and is_multi_worker(config.train_distribute)
    asynchronous = in_cluster and not config.train_distribute
    steps = config.steps_per_loop
    if in_cluster and not synchronous and (not asynchronous or steps == "auto"):
        # What an asynchronous worker makes in a loop, the others see at its end.
        steps = 1
    return Topology(
        is_synchronous=synchronous,
        is_asynchronous=asynchronous,
        device=f"/job:{config.task_type}/task:{config.task_id}" if asynchronous else None,
        input_context=_place_of_input(config) if asynchronous else None,
        steps_per_call=steps,
        writes_events=_writes_events(config),
    )


def _place_of_input(config: RunConfig) -> tf.distribute.InputContext | None:
    if config.num_worker_replicas <= 1:
        return None
    return tf.distribute.InputContext(
        num_input_pipelines=config.num_worker_replicas,
        input_pipeline_id=config.global_id_in_cluster,
    )


def _writes_events(config: RunConfig) -> bool:
    """A master evaluates between its checkpoints, and makes no steps then: a worker writes."""
    if {MASTER, WORKER} <= set(config.cluster_spec.jobs):
        return (config.task_type, config.task_id) == (WORKER, 0)
    return bool(config.is_chief)
