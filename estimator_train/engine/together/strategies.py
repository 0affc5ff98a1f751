"""Strategies: which keep workers synchronous, and the form of a strategy for graphs.

A collective of a graph must have the same shape in each step, and the gradients of embeddings on
synchronous workers differ in their number of rows. So the rows are padded to a power of two, and
there is a collective for each power.
"""

import functools
from typing import Any

import tensorflow as tf

from estimator_train.engine.tf_internals import strategies
from estimator_train.engine.types import Strategy
from estimator_train.run_config import RunConfig

_POWERS = 31
# Distance between the keys of the collectives of two powers; larger than any number of them.
_KEYS_APART = 1_000_000
_V1 = tf.compat.v1.distribute
_MULTI_WORKER = (
    tf.distribute.MultiWorkerMirroredStrategy,
    tf.distribute.experimental.MultiWorkerMirroredStrategy,
    _V1.experimental.MultiWorkerMirroredStrategy,
)
_MIRRORED = (tf.distribute.MirroredStrategy, _V1.MirroredStrategy)


def gather_rows_of_any_number(strategy: Strategy) -> None:
    """Makes a MultiWorkerMirroredStrategy gather gradients whose number of rows changes.

    Args:
      strategy: The strategy, in graph form.
    """
    for launcher in strategies.list_collective_launchers(strategy):
        launcher.all_reduce_indexed_slices = functools.partial(_gather_rows, launcher)


def _gather_rows(launcher: Any, slices: tf.IndexedSlices, options: Any = None) -> tf.IndexedSlices:
    """Returns the rows of all replicas, concatenated."""
    with tf.device(strategies.find_launcher_device(launcher)):
        row_count = tf.shape(slices.indices)
        lengths = _gather(launcher, row_count, tf.constant(0), options)
        power = _find_power_above(tf.reduce_max(lengths))
        length = tf.bitwise.left_shift(1, power)
        missing = length - row_count[0]
        present = tf.reshape(tf.sequence_mask(lengths, length), [-1])

        def gather_present(part: tf.Tensor) -> tf.Tensor:
            widths = [[0, missing]] + [[0, 0]] * (part.shape.rank - 1)
            padded = _gather(launcher, tf.pad(part, widths), power, options)
            padded.set_shape([None, *part.shape[1:]])
            return tf.boolean_mask(padded, present)

        return tf.IndexedSlices(
            gather_present(slices.values), gather_present(slices.indices), slices.dense_shape
        )


def _find_power_above(number: tf.Tensor) -> tf.Tensor:
    """Returns the exponent of the smallest power of two that is at least `number`, an int32."""
    powers = tf.constant([2**power for power in range(_POWERS)])
    return tf.reduce_sum(tf.cast(powers < number, tf.int32))


def _gather(launcher: Any, part: tf.Tensor, power: tf.Tensor, options: Any) -> tf.Tensor:
    arguments = strategies.make_collective_arguments(launcher, options)
    instance_key = arguments.pop("instance_key") + _KEYS_APART * power
    return tf.raw_ops.CollectiveGatherV2(
        input=part, instance_key=instance_key, ordering_token=[], **arguments
    )


def is_multi_worker(strategy: Strategy | None) -> bool:
    """Returns whether a strategy keeps the workers of a cluster synchronous."""
    return isinstance(strategy, _MULTI_WORKER)


def make_graph_form(strategy: Strategy, config: RunConfig | None) -> Any:
    """Returns the form of a strategy for graphs.

    Args:
      strategy: A strategy of either generation, or None.
      config: The configuration of a training, its cluster resolved; None for evaluations, which
        run on the devices of one machine.
    """
    if is_multi_worker(strategy):
        return _make_multi_worker_in_graph(strategy, config)
    if type(strategy) in _MIRRORED and strategies.has_default_all_reduce(strategy):
        devices = strategy.extended.worker_devices
        if all(tf.DeviceSpec.from_string(device).device_type == "CPU" for device in devices):
            # In eager code the strategy chose collectives. They are slower on CPUs, and cannot sum
            # gradients of embeddings if replicas read different rows.
            return type(strategy)(devices, tf.distribute.ReductionToOneDevice())
    return strategy


def _make_multi_worker_in_graph(strategy: Strategy, config: RunConfig | None) -> Any:
    # A strategy made for eager code starts a server; one made in a graph uses the session's.
    with tf.Graph().as_default():
        if config is not None and config.master:
            resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(
                config.cluster_spec,
                task_type=config.task_type,
                task_id=config.task_id,
                rpc_layer="grpc",
            )
        else:
            # Without a resolver the strategy reads TF_CONFIG, which may be an evaluator's.
            resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(
                tf.train.ClusterSpec({})
            )
        graph_strategy = _V1.experimental.MultiWorkerMirroredStrategy(
            communication=strategies.find_communication(strategy), cluster_resolver=resolver
        )
    gather_rows_of_any_number(graph_strategy)
    return graph_strategy


def make_collective_settings(config: RunConfig) -> tf.compat.v1.ConfigProto:
    """Returns the settings of a synchronous worker's server, with the leader of its collectives.

    Args:
      config: The configuration, its cluster resolved.
    """
    settings = tf.compat.v1.ConfigProto()
    settings.CopyFrom(config.session_config)
    return make_graph_form(config.train_distribute, config).update_config_proto(settings)
