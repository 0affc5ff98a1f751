"""Stand-in for `tf.contrib.distribute`: strategies under their old names and arguments."""

import warnings
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

_V1 = tf.compat.v1.distribute
_AUTO = tf.distribute.experimental.CollectiveCommunication.AUTO
_Mirrored: Any = _V1.MirroredStrategy
_Collective: Any = _V1.experimental.MultiWorkerMirroredStrategy
_ParameterServer: Any = _V1.experimental.ParameterServerStrategy
__all__ = [
    "AllReduceCrossDeviceOps",
    "AllReduceCrossTowerOps",
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
    """Returns the current strategy in cross-replica context, None in a replica."""
    return get_strategy() if in_cross_replica_context() else None


class MirroredStrategy(_Mirrored):
    """Strategy that mirrors variables on devices of this machine.

    Args:
      devices: Names of the devices.
      num_gpus: Number of GPUs, instead of `devices`. If the machine has fewer, as many logical CPU
        devices are used, with a warning.
      num_gpus_per_worker: Same as `num_gpus`.
      cross_device_ops: Algorithm that sums the gradients of the replicas.
      auto_shard_dataset: Unused: `tf.data.Options` control how input is sharded.
      cross_tower_ops: Older name of `cross_device_ops`.

    Raises:
      ValueError: The devices, their number or `cross_device_ops` are given twice.
    """

    def __init__(
        self,
        devices: Sequence[str] | None = None,
        num_gpus: int | None = None,
        num_gpus_per_worker: int | None = None,
        cross_device_ops: tf.distribute.CrossDeviceOps | None = None,
        auto_shard_dataset: bool = False,
        cross_tower_ops: tf.distribute.CrossDeviceOps | None = None,
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
            devices = _list_device_names(count)
        super().__init__(devices, cross_device_ops or cross_tower_ops)


class CollectiveAllReduceStrategy(_Collective):
    """Strategy that trains synchronously on the workers of TF_CONFIG.

    Args:
      num_gpus_per_worker: Unused: each worker takes all GPUs that it sees.
      communication: Implementation of the collectives that sum the gradients.
    """

    def __init__(
        self,
        num_gpus_per_worker: int = 0,
        communication: tf.distribute.experimental.CollectiveCommunication = _AUTO,
    ) -> None:
        del num_gpus_per_worker
        super().__init__(communication)


class ParameterServerStrategy(_ParameterServer):
    """Strategy that keeps variables on parameter servers.

    Args:
      num_gpus_per_worker: Unused: each worker takes all GPUs that it sees.
    """

    def __init__(self, num_gpus_per_worker: int = 0) -> None:
        del num_gpus_per_worker
        super().__init__()


class DistributeConfig:
    """Strategies for `RunConfig(experimental_distribute=...)`.

    Args:
      train_distribute: Strategy for training.
      eval_distribute: Strategy for evaluation.
      remote_cluster: Cluster of workers that this process controls; must be None.
    """

    def __init__(
        self,
        train_distribute: tf.distribute.Strategy | None = None,
        eval_distribute: tf.distribute.Strategy | None = None,
        remote_cluster: object = None,
    ) -> None:
        if remote_cluster:
            raise ValueError(
                "remote_cluster is not supported: a process cannot control workers of a cluster. "
                "Start one process for each worker with its TF_CONFIG, as `estimator-train launch` "
                "does."
            )
        self.train_distribute = train_distribute
        self.eval_distribute = eval_distribute
        self.remote_cluster = remote_cluster


class AllReduceCrossDeviceOps:
    """Factory of cross-device operations by the name of their algorithm."""

    def __new__(
        cls,
        all_reduce_alg: str = "nccl",
        num_packs: int = 1,
        agg_small_grads_max_bytes: int = 0,
        agg_small_grads_max_group: int = 10,
    ) -> tf.distribute.CrossDeviceOps:
        """Returns the cross-device operations; without GPUs, those of NCCL are not available."""
        # TensorFlow packs small gradients itself.
        del agg_small_grads_max_bytes, agg_small_grads_max_group
        if all_reduce_alg == "nccl" and tf.config.list_physical_devices("GPU"):
            return tf.distribute.NcclAllReduce(num_packs=num_packs)
        if all_reduce_alg == "hierarchical_copy":
            return tf.distribute.HierarchicalCopyAllReduce(num_packs=num_packs)
        return tf.distribute.ReductionToOneDevice()


# The name before TensorFlow 1.13.
AllReduceCrossTowerOps = AllReduceCrossDeviceOps


def _list_device_names(count: int) -> list[str]:
    gpus = len(tf.config.list_physical_devices("GPU"))
    if gpus >= count > 0:
        return [f"/device:GPU:{index}" for index in range(count)]
    cpu = tf.config.list_physical_devices("CPU")[0]
    count = max(count, 1)
    if count > 1:
        warnings.warn(
            f"MirroredStrategy asks for {count} GPUs, but there are {gpus}: it uses logical "
            "CPU devices. Use this for testing only; it does not make training faster.",
            stacklevel=3,
        )
        existing = tf.config.get_logical_device_configuration(cpu)
        if existing is None or len(existing) < count:
            tf.config.set_logical_device_configuration(
                cpu, [tf.config.LogicalDeviceConfiguration() for _ in range(count)]
            )
    return [f"/device:CPU:{index}" for index in range(count)]
