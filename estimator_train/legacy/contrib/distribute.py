"""`tf.contrib.distribute`: strategies by their old names and arguments."""

import warnings
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

_V1 = tf.compat.v1.distribute
_Mirrored: Any = _V1.MirroredStrategy
_Collective: Any = _V1.experimental.MultiWorkerMirroredStrategy
_ParameterServer: Any = _V1.experimental.ParameterServerStrategy
__all__ = [
    "AllReduceCrossDeviceOps",
    "CollectiveAllReduceStrategy",
    "CrossDeviceOps",
    "DistributeConfig",
    "DistributionStrategy",
    "MirroredStrategy",
    "OneDeviceStrategy",
    "ParameterServerStrategy",
    "ReplicaContext",
    "get_cross_replica_context",
    "get_distribution_strategy",
    "get_loss_reduction",
    "get_replica_context",
    "get_strategy",
    "has_distribution_strategy",
    "has_strategy",
    "in_cross_replica_context",
]

CrossDeviceOps = _V1.CrossDeviceOps
DistributionStrategy = _V1.Strategy
OneDeviceStrategy = _V1.OneDeviceStrategy
ReplicaContext = _V1.ReplicaContext
get_distribution_strategy = get_strategy = _V1.get_strategy
get_loss_reduction = _V1.get_loss_reduction
get_replica_context = _V1.get_replica_context
has_distribution_strategy = has_strategy = _V1.has_strategy
in_cross_replica_context = _V1.in_cross_replica_context


def get_cross_replica_context() -> tf.distribute.Strategy | None:
    """The strategy whose scope this is, outside of its replicas; None elsewhere."""
    return get_strategy() if in_cross_replica_context() else None


class MirroredStrategy(_Mirrored):
    """A strategy over some of the devices of this machine.

    Args:
      devices: Their names.
      num_gpus: Or the number of GPUs. Where there are fewer, as many logical CPU devices take
        their place, with a warning.
      num_gpus_per_worker: The same.
      cross_device_ops: How replicas sum their gradients.
      auto_shard_dataset: Not needed any more: input is divided as `tf.data.Options` say.
      cross_tower_ops: The older name of `cross_device_ops`.

    Raises:
      ValueError: Devices or their number were given in two ways, or `cross_device_ops` by both
        names.
    """

    def __init__(
        self,
        devices: Sequence[str] | None = None,
        num_gpus: int | None = None,
        num_gpus_per_worker: int | None = None,
        cross_device_ops: Any = None,
        auto_shard_dataset: bool = False,
        cross_tower_ops: Any = None,
    ) -> None:
        del auto_shard_dataset
        if num_gpus is not None and num_gpus_per_worker is not None:
            raise ValueError(
                f"num_gpus={num_gpus} and num_gpus_per_worker={num_gpus_per_worker} are two names "
                "of one argument: give num_gpus alone."
            )
        count = num_gpus if num_gpus is not None else num_gpus_per_worker
        if devices is not None and count is not None:
            raise ValueError(
                f"devices={list(devices)} and a number of GPUs, {count}, were given: give one of "
                "the two."
            )
        if cross_device_ops and cross_tower_ops:
            raise ValueError(
                f"cross_device_ops={cross_device_ops} and cross_tower_ops={cross_tower_ops} are "
                "two names of one argument: give cross_device_ops alone."
            )
        if count is not None:
            devices = _devices(count)
        super().__init__(devices, cross_device_ops or cross_tower_ops)


class CollectiveAllReduceStrategy(_Collective):
    """A strategy over the workers of TF_CONFIG, which train in step.

    Args:
      num_gpus_per_worker: Not needed any more: each worker takes the GPUs that it sees.
      communication: How workers sum their gradients.
    """

    def __init__(
        self,
        num_gpus_per_worker: int = 0,
        communication: Any = tf.distribute.experimental.CollectiveCommunication.AUTO,
    ) -> None:
        del num_gpus_per_worker
        super().__init__(communication)


class ParameterServerStrategy(_ParameterServer):
    """A strategy that keeps variables on parameter servers.

    Args:
      num_gpus_per_worker: Not needed any more: each worker takes the GPUs that it sees.
    """

    def __init__(self, num_gpus_per_worker: int = 0) -> None:
        del num_gpus_per_worker
        super().__init__()


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

    def __new__(
        cls,
        all_reduce_alg: str = "nccl",
        num_packs: int = 1,
        agg_small_grads_max_bytes: int = 0,
        agg_small_grads_max_group: int = 10,
    ) -> Any:
        """Returns the operations of an algorithm; without GPUs NCCL's are not to be had."""
        # TensorFlow packs gradients itself.
        del agg_small_grads_max_bytes, agg_small_grads_max_group
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
