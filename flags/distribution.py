"""On which devices a job trains."""

from typing import Any

from absl import flags

flags.disclaim_key_flags()


def define_distribution_flags(flag_values: flags.FlagValues = flags.FLAGS) -> None:
    """Defines --distribution_strategy, --num_gpus and --num_virtual_cpus.

    Args:
      flag_values: Where to define them.
    """
    flags.DEFINE_enum(
        "distribution_strategy",
        "mirrored",
        ["off", "one_device", "mirrored"],
        "How to use the devices. mirrored: a copy of the model on each, which on a single device "
        "is plain training; one_device: OneDeviceStrategy on the first; off: no strategy.",
        short_name="ds",
        flag_values=flag_values,
    )
    flags.DEFINE_integer(
        "num_gpus",
        None,
        "GPUs to train on, -1 for all; by default one if there is one. With 0, or without GPUs, "
        "the CPU is used.",
        short_name="ng",
        lower_bound=-1,
        flag_values=flag_values,
    )
    flags.DEFINE_integer(
        "num_virtual_cpus",
        1,
        "Virtual devices to make of the CPU, for mirrored training without GPUs.",
        lower_bound=1,
        flag_values=flag_values,
    )


def make_strategy(flag_values: flags.FlagValues = flags.FLAGS) -> Any:
    """Makes the strategy that the distribution flags ask for.

    Virtual CPU devices are made here, so call it before TensorFlow runs its first operation.

    Args:
      flag_values: The parsed flags.

    Returns:
      A `tf.distribute.Strategy`; None for `off`, and for `mirrored` on a single device, which has
      nothing to keep in step.

    Raises:
      ValueError: There are fewer GPUs than asked for, or more devices than the strategy uses.
      RuntimeError: TensorFlow already runs, and its CPU is not divided as asked.
    """
    import tensorflow as tf

    name = flag_values.distribution_strategy
    devices = _devices(flag_values)
    if len(devices) == 1:
        return tf.distribute.OneDeviceStrategy(devices[0]) if name == "one_device" else None
    if name != "mirrored":
        raise ValueError(
            f"--distribution_strategy={name} trains on one device, but {len(devices)} are asked "
            f"for ({', '.join(devices)}): use --distribution_strategy=mirrored."
        )
    if devices[0].startswith("/cpu"):
        _divide_cpu(len(devices))
    return tf.distribute.MirroredStrategy(devices)


def per_replica_batch_size(flag_values: flags.FlagValues = flags.FLAGS) -> int:
    """Returns the batch that an input_fn has to deliver for each copy of the model.

    Args:
      flag_values: The parsed flags.

    Raises:
      ValueError: --batch_size does not divide by the number of devices.
    """
    batch_size, replicas = flag_values.batch_size, len(_devices(flag_values))
    if batch_size % replicas:
        below = batch_size - batch_size % replicas
        fitting = f"{below} or {below + replicas}" if below else f"{replicas}"
        raise ValueError(
            f"--batch_size={batch_size} is the batch of all {replicas} devices together and does "
            f"not divide by {replicas}: use {fitting}."
        )
    return batch_size // replicas


def session_config(flag_values: flags.FlagValues = flags.FLAGS) -> Any:
    """Makes the session configuration that the distribution flags ask for.

    Args:
      flag_values: The parsed flags.

    Returns:
      A `tf.compat.v1.ConfigProto` that keeps sessions off the GPUs that are not asked for; None
      if there are no such GPUs, and sessions need no configuration.

    Raises:
      ValueError: There are fewer GPUs than asked for.
    """
    import tensorflow as tf

    present = len(tf.config.list_physical_devices("GPU"))
    return _config_for(_number_of_gpus(flag_values.num_gpus, present), present)


def _devices(flag_values: flags.FlagValues) -> list[str]:
    """The names of the devices to train on."""
    import tensorflow as tf

    gpus = _number_of_gpus(flag_values.num_gpus, len(tf.config.list_physical_devices("GPU")))
    kind, count = ("gpu", gpus) if gpus else ("cpu", flag_values.num_virtual_cpus)
    return [f"/{kind}:{index}" for index in range(count)]


def _divide_cpu(parts: int) -> None:
    import tensorflow as tf

    cpu = tf.config.list_physical_devices("CPU")[0]
    devices = [tf.config.LogicalDeviceConfiguration()] * parts
    if tf.config.get_logical_device_configuration(cpu) != devices:
        tf.config.set_logical_device_configuration(cpu, devices)


def _number_of_gpus(asked: int | None, present: int) -> int:
    if asked is None:
        return min(present, 1)
    if asked > present:
        raise ValueError(f"--num_gpus={asked}, but TensorFlow finds {present} on this machine.")
    return present if asked == -1 else asked


def _config_for(gpus: int, present: int) -> Any:
    import tensorflow as tf

    if gpus == present:
        return None
    return tf.compat.v1.ConfigProto(allow_soft_placement=True, device_count={"GPU": gpus})
