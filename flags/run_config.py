"""Makes a RunConfig from flags, with the cluster and the strategy that they describe."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from absl import flags

from flags.group import Group

if TYPE_CHECKING:
    from estimator_train.cluster import Cluster


# The --help of a script then lists the flags with those of the script.
flags.disclaim_key_flags()
_OF_SEVERAL_DEVICES = ("mirrored", "central_storage", "multi_worker_mirrored")
_ALGORITHMS = {
    "mirrored": ("nccl", "hierarchical_copy", "reduce_to_one_device"),
    "multi_worker_mirrored": ("ring", "nccl"),
}
Config = TypeVar("Config")
# Flags whose values are arguments of RunConfig, and the names of these.
ARGUMENTS = {
    "model_dir": "model_dir",
    "seed": "tf_random_seed",
    "save_checkpoints_steps": "save_checkpoints_steps",
    "save_checkpoints_secs": "save_checkpoints_secs",
    "keep_checkpoint_max": "keep_checkpoint_max",
    "save_summary_steps": "save_summary_steps",
    "log_step_count_steps": "log_step_count_steps",
    "keep_best": "keep_best",
    "checkpoint_mode": "checkpoint_mode",
    "step_timeout_secs": "step_timeout_secs",
    "allow_shared_model_dir": "allow_shared_model_dir",
    "save_input_position": "save_input_position",
}
_XLA = {"off": False, "on": True, "auto": "auto"}


def set_cluster(flag_values: flags.FlagValues) -> None:
    """Sets TF_CONFIG from --worker_hosts and --task_index, if they are given.

    Args:
      flag_values: The parsed flags.

    Raises:
      ValueError: --task_index is missing or out of range, or TF_CONFIG has another cluster.
    """
    hosts, index = flag_values.worker_hosts, flag_values.task_index
    if not hosts:
        if index is not None:
            raise ValueError(f"--task_index={index} needs --worker_hosts=HOST:PORT,...")
        return
    if index is None or index >= len(hosts):
        raise ValueError(
            f"--worker_hosts has {len(hosts)} addresses: give --task_index from 0 to "
            f"{len(hosts) - 1}, not {index}."
        )
    # Imported here: `import flags` must not choose the Keras version, as that import does.
    from estimator_train.cluster import read_tf_config

    config = {"cluster": {"worker": hosts}, "task": {"type": "worker", "index": index}}
    if read_tf_config() not in ({}, config):
        raise ValueError("--worker_hosts and TF_CONFIG are both given, and differ: use one.")
    os.environ["TF_CONFIG"] = json.dumps(config)


def read_cluster() -> Cluster:
    """Returns the cluster of this process, as the engine of estimator_train reads it.

    TF_CONFIG, Slurm, SageMaker and torchrun describe one; without them the cluster has no jobs.

    Raises:
      ValueError: A variable of the cluster is missing or wrong.
      TypeError: TF_CONFIG has a value of a wrong type.
    """
    from estimator_train.cluster import detect

    return detect()


def define_distribution_flags(flag_values: flags.FlagValues = flags.FLAGS) -> None:
    """Defines --distribution_strategy, --all_reduce_alg, --worker_hosts, --num_gpus and more.

    The others are --task_index and --num_virtual_cpus.

    Args:
      flag_values: Target of the definitions.
    """
    define = Group(flag_values)
    define.enum(
        "distribution_strategy",
        "mirrored",
        list(_MAKERS),
        "How the devices are used. mirrored: a copy of the model on each, which on a single device "
        "is plain training; central_storage: variables on the CPU, computation on each device; "
        "multi_worker_mirrored: a copy on each worker of a cluster, trained synchronously; "
        "parameter_server: variables on the ps tasks of a cluster, trained asynchronously; "
        "one_device: OneDeviceStrategy on the first; off: no strategy.",
        short_name="ds",
    )
    define.enum(
        "all_reduce_alg",
        None,
        ["ring", "nccl", "hierarchical_copy", "reduce_to_one_device"],
        "How gradients are summed; by default TensorFlow chooses. mirrored: nccl, "
        "hierarchical_copy or reduce_to_one_device; multi_worker_mirrored: ring or nccl.",
    )
    define.list(
        "worker_hosts",
        None,
        "Addresses (host:port) of the workers of a synchronous training, instead of TF_CONFIG; "
        "the same list for each process.",
    )
    define.integer(
        "task_index",
        None,
        "The index of this process in --worker_hosts, counted from 0.",
        lower_bound=0,
    )
    define.integer(
        "num_gpus",
        None,
        "GPUs to train on, -1 for all; by default one if there is one. With 0, or without GPUs, "
        "the CPU is used.",
        short_name="ng",
        lower_bound=-1,
    )
    define.integer(
        "num_virtual_cpus",
        1,
        "Virtual devices to make of the CPU, for mirrored training without GPUs.",
        lower_bound=1,
        upper_bound=1024,
    )


def make_strategy(flag_values: flags.FlagValues = flags.FLAGS) -> Any:
    """Makes the strategy that the distribution flags describe.

    This creates virtual CPU devices, so call it before TensorFlow runs its first operation.

    Args:
      flag_values: The parsed flags.

    Returns:
      A `tf.distribute.Strategy`; None for `off`, for `parameter_server`, and for `mirrored` on a
      single device.

    Raises:
      ValueError: There are fewer GPUs than requested, more devices than the strategy uses, an
        --all_reduce_alg that the strategy does not support, or no parameter servers.
      RuntimeError: TensorFlow has already created other CPU devices than requested.
    """
    import tensorflow as tf

    set_cluster(flag_values)
    name = flag_values.distribution_strategy
    devices = _list_devices(flag_values)
    if len(devices) > 1 and name not in _OF_SEVERAL_DEVICES:
        raise ValueError(
            f"--distribution_strategy={name} trains on one device, but {len(devices)} are asked "
            f"for ({', '.join(devices)}): use --distribution_strategy=mirrored."
        )
    algorithm = flag_values.all_reduce_alg
    if algorithm is not None and algorithm not in _ALGORITHMS.get(name, ()):
        takes = [strategy for strategy, known in _ALGORITHMS.items() if algorithm in known]
        raise ValueError(
            f"--all_reduce_alg={algorithm} is not for --distribution_strategy={name}, but for "
            f"{' or '.join(takes)}."
        )
    if len(devices) > 1 and devices[0].startswith("/cpu"):
        _divide_cpu(len(devices))
    return _MAKERS[name](tf, devices, algorithm)


def _make_mirrored(tf: ModuleType, devices: list[str], algorithm: str | None) -> Any:
    if len(devices) == 1:
        return None
    operations = {
        "nccl": tf.distribute.NcclAllReduce,
        "hierarchical_copy": tf.distribute.HierarchicalCopyAllReduce,
        "reduce_to_one_device": tf.distribute.ReductionToOneDevice,
    }
    chosen = operations[algorithm]() if algorithm else None
    return tf.distribute.MirroredStrategy(devices, cross_device_ops=chosen)


def _make_multi_worker(tf: ModuleType, devices: list[str], algorithm: str | None) -> Any:
    if read_cluster().is_evaluator:
        return None  # An evaluator is not part of the training cluster.
    known = tf.distribute.experimental.CommunicationImplementation
    options = tf.distribute.experimental.CommunicationOptions(
        implementation=known[(algorithm or "auto").upper()]
    )
    return tf.distribute.MultiWorkerMirroredStrategy(communication_options=options)


def _check_parameter_servers(tf: ModuleType, devices: list[str], algorithm: str | None) -> None:
    """Checks that the cluster has parameter servers; the roles in it need no strategy."""
    if not read_cluster().jobs.get("ps"):
        raise ValueError(
            "--distribution_strategy=parameter_server needs tasks of the job `ps` in TF_CONFIG (or "
            "ESTIMATOR_TRAIN_PS under Slurm, SageMaker and torchrun), as `estimator-train launch "
            "--ps=1 --workers=2 -- ...` makes them."
        )


# They take the module of TensorFlow, so that only `make_strategy` imports it.
_MAKERS: dict[str, Callable[[ModuleType, list[str], str | None], Any]] = {
    "off": lambda tf, devices, algorithm: None,
    "one_device": lambda tf, devices, algorithm: tf.distribute.OneDeviceStrategy(devices[0]),
    "mirrored": _make_mirrored,
    "central_storage": lambda tf, devices, algorithm: (
        tf.distribute.experimental.CentralStorageStrategy(devices, "/cpu:0")
    ),
    "multi_worker_mirrored": _make_multi_worker,
    "parameter_server": _check_parameter_servers,
}


def per_replica_batch_size(flag_values: flags.FlagValues = flags.FLAGS) -> int:
    """Returns the batch size for the input_fn of each replica of the model.

    Each asynchronous worker (parameter_server) uses the complete --batch_size.

    Args:
      flag_values: The parsed flags.

    Raises:
      ValueError: --batch_size is not divisible by the number of devices.
    """
    set_cluster(flag_values)
    batch_size, replicas = flag_values.batch_size, len(_list_devices(flag_values))
    if flag_values.distribution_strategy == "multi_worker_mirrored":
        replicas *= max(1, read_cluster().num_trainers)
    if batch_size % replicas:
        below = batch_size - batch_size % replicas
        fitting = f"{below} or {below + replicas}" if below else f"{replicas}"
        raise ValueError(
            f"--batch_size={batch_size} is the global batch of {replicas} devices, and is not "
            f"divisible by {replicas}: use {fitting}."
        )
    return batch_size // replicas


def session_config(flag_values: flags.FlagValues = flags.FLAGS) -> Any:
    """Makes the session configuration that the distribution flags describe.

    Args:
      flag_values: The parsed flags.

    Returns:
      A `tf.compat.v1.ConfigProto` that hides the other GPUs from sessions; None if all GPUs are
      used.

    Raises:
      ValueError: There are fewer GPUs than requested.
    """
    import tensorflow as tf

    present = len(tf.config.list_physical_devices("GPU"))
    return _make_session_config(_count_gpus(flag_values.num_gpus, present), present)


def _list_devices(flag_values: flags.FlagValues) -> list[str]:
    """Returns the names of the devices to train on."""
    import tensorflow as tf

    gpus = _count_gpus(flag_values.num_gpus, len(tf.config.list_physical_devices("GPU")))
    kind, count = ("gpu", gpus) if gpus else ("cpu", flag_values.num_virtual_cpus)
    return [f"/{kind}:{index}" for index in range(count)]


def _divide_cpu(parts: int) -> None:
    import tensorflow as tf

    cpu = tf.config.list_physical_devices("CPU")[0]
    devices = [tf.config.LogicalDeviceConfiguration()] * parts
    if tf.config.get_logical_device_configuration(cpu) != devices:
        tf.config.set_logical_device_configuration(cpu, devices)


def _count_gpus(asked: int | None, present: int) -> int:
    if asked is None:
        return min(present, 1)
    if asked > present:
        raise ValueError(f"--num_gpus={asked}, but TensorFlow finds {present} on this machine.")
    return present if asked == -1 else asked


def _make_session_config(gpus: int, present: int) -> Any:
    import tensorflow as tf

    if gpus == present:
        return None
    return tf.compat.v1.ConfigProto(allow_soft_placement=True, device_count={"GPU": gpus})


def make_run_config(
    config_class: type[Config],
    flag_values: flags.FlagValues = flags.FLAGS,
    **overrides: Any,
) -> Config:
    """Makes a RunConfig from the flags that are defined.

    Args:
      config_class: `estimator_train.RunConfig`, or a class with the same arguments.
      flag_values: The parsed flags. A group that was not defined leaves RunConfig's defaults.
      **overrides: Arguments of RunConfig that override the flags.

    Raises:
      ValueError: RunConfig or the distribution strategy rejects a value.
    """
    arguments = {
        argument: flag_values[flag].value
        for flag, argument in ARGUMENTS.items()
        if flag in flag_values and flag_values[flag].value is not None
    }
    if "steps_per_loop" in flag_values:
        steps = flag_values.steps_per_loop
        arguments["steps_per_loop"] = steps if steps == "auto" else int(steps)
    if "xla" in flag_values:
        arguments["xla"] = _XLA[flag_values.xla]
    if "mixed_precision" in flag_values and flag_values.mixed_precision != "off":
        arguments["mixed_precision"] = flag_values.mixed_precision
    if "distribution_strategy" in flag_values:
        arguments["train_distribute"] = make_strategy(flag_values)
        arguments["session_config"] = session_config(flag_values)
    return config_class(**{**arguments, **overrides})
