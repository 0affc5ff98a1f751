"""`tf.contrib.distribute`: strategies by their old names and arguments."""

import warnings
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

_V1 = tf.compat.v1.distribute
__all__ = [
    "AllReduceCrossDeviceOps",
    "CollectiveAllReduceStrategy",
    "DistributeConfig",
    "DistributionStrategy",
    "MirroredStrategy",
    "OneDeviceStrategy",
    "ParameterServerStrategy",
]

DistributionStrategy = _V1.Strategy
OneDeviceStrategy = _V1.OneDeviceStrategy
get_cross_replica_context = tf.distribute.get_replica_context
get_replica_context = tf.distribute.get_replica_context
has_distribution_strategy = tf.distribute.has_strategy
get_distribution_strategy = tf.distribute.get_strategy


def MirroredStrategy(  # noqa: N802
    devices: Sequence[str] | None = None,
    num_gpus: int | None = None,
    num_gpus_per_worker: int | None = None,
    cross_device_ops: Any = None,
    **ignored: Any,
) -> tf.distribute.Strategy:
    """A strategy over some of the devices of this machine.

    Args:
      devices: Their names.
      num_gpus: Or the number of GPUs. Where there are fewer, as many logical CPU devices take
        their place, with a warning.
      num_gpus_per_worker: The same.
      cross_device_ops: How replicas sum their gradients.
      **ignored: What has lost its meaning, as `auto_shard_dataset`.
    """
    count = num_gpus if num_gpus is not None else num_gpus_per_worker
    if devices is None and count is not None:
        devices = _devices(count)
    return _V1.MirroredStrategy(devices, cross_device_ops)


def CollectiveAllReduceStrategy(  # noqa: N802
    num_gpus_per_worker: int = 0, communication: Any = None
) -> tf.distribute.Strategy:
    """A strategy over the workers of TF_CONFIG, which train in step.

    Args:
      num_gpus_per_worker: Not needed any more: each worker takes the GPUs that it sees.
      communication: A `tf.distribute.experimental.CollectiveCommunication`.
    """
    del num_gpus_per_worker
    communication = communication or tf.distribute.experimental.CollectiveCommunication.AUTO
    return _V1.experimental.MultiWorkerMirroredStrategy(communication)


def ParameterServerStrategy(num_gpus_per_worker: int = 0) -> tf.distribute.Strategy:  # noqa: N802
    """A strategy that keeps variables on parameter servers.

    Args:
      num_gpus_per_worker: Not needed any more: each worker takes the GPUs that it sees.
    """
    del num_gpus_per_worker
    return _V1.experimental.ParameterServerStrategy()


class DistributeConfig:
    """What `RunConfig(experimental_distribute=...)` takes.

    Args:
      train_distribute: The strategy to train under.
      eval_distribute: The strategy to evaluate under.
      remote_cluster: The cluster of workers to drive from here; only None is possible.
    """

    def __init__(
        self, train_distribute: Any = None, eval_distribute: Any = None, remote_cluster: Any = None
    ) -> None:
        if remote_cluster:
            raise ValueError(
                "remote_cluster was given: workers that are driven from outside are not supported. "
                "Start one process a worker, each with its TF_CONFIG, as `estimator-train launch` "
                "does."
            )
        self.train_distribute = train_distribute
        self.eval_distribute = eval_distribute
        self.remote_cluster = remote_cluster


class AllReduceCrossDeviceOps:
    """Stands for `tf.distribute.HierarchicalCopyAllReduce` and its siblings, by their old name."""

    def __new__(cls, all_reduce_alg: str = "nccl", num_packs: int = 1, *_: Any) -> Any:
        """Returns the operations of an algorithm; without GPUs NCCL's are not to be had."""
        if all_reduce_alg == "nccl" and tf.config.list_physical_devices("GPU"):
            return tf.distribute.NcclAllReduce(num_packs=num_packs)
        if all_reduce_alg == "hierarchical_copy":
            return tf.distribute.HierarchicalCopyAllReduce(num_packs=num_packs)
        return tf.distribute.ReductionToOneDevice()


def _devices(count: int) -> list[str]:
    gpus = len(tf.config.list_physical_devices("GPU"))
    if gpus >= count > 0:
        return [f"/device:GPU:{index}" for index in range(count)]
    cpu = tf.config.list_physical_devices("CPU")[0]
    count = max(count, 1)
    if count > 1:
        warnings.warn(
            f"MirroredStrategy wants {count} GPUs, and there are {gpus}: it gets as many logical "
            "CPU devices. That is for trying out; training is no faster by it.",
            stacklevel=3,
        )
        existing = tf.config.get_logical_device_configuration(cpu)
        if existing is None or len(existing) < count:
            tf.config.set_logical_device_configuration(
                cpu, [tf.config.LogicalDeviceConfiguration() for _ in range(count)]
            )
    return [f"/device:CPU:{index}" for index in range(count)]
