"""Strategies: which keep workers synchronous, and the form of a strategy for graphs.

A collective of a graph must have the same shape in each step, and the gradients of embeddings on
synchronous workers differ in their number of rows. So the rows are padded to a power of two, and
there is a collective for each power.

A collective of one number takes as long as one of thousands. So a loop of steps sums the loss, the
votes and the gradients over the workers in one collective.
"""

import functools
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from estimator_train.engine.tf_internals import graphs, strategies
from estimator_train.engine.types import Strategy
from estimator_train.run_config import RunConfig

_POWERS = 31
# Distance between the keys of the collectives of two powers; larger than any number of them.
_KEYS_APART = 1_000_000
# Distance between the key of a collective and that of the one that replaces it in a loop, which has
# another shape; larger than any distance between powers.
_MERGED_KEYS = 1_000_000_000
# Number of elements up to which a collective takes about as long as one of a single element.
_SMALL = 16_384
# Inputs of an all-reduce after its tensor: the size and the key of the group, and its own key.
_NUMBERS = 3
# Attributes that all-reduces must share for being merged.
_ATTRIBUTES = ("merge_op", "final_op", "communication_hint", "timeout_seconds")
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


class _Sum(NamedTuple):
    """An all-reduce of a vector, the key that is the same on all workers, and its elements."""

    operation: tf.Operation
    key: int
    size: int


def merge_sums(definition: tf.compat.v1.GraphDef, operations: Collection[tf.Operation]) -> None:
    """Makes one all-reduce of the small ones in a step, and of the last large one.

    Large ones stay apart: a strategy's `bytes_per_pack` asks for several. With two workers the sums
    are equal to the last bit; with more, the order of the terms may change.

    Args:
      definition: The operations of the step; changed in place.
      operations: The same operations in their graph.
    """
    nodes = {node.name: node for node in definition.node}
    for group in _group_sums(operations):
        group.sort(key=lambda found: (found.size > _SMALL, found.key), reverse=True)
        large = [found for found in group if found.size > _SMALL]
        sums = [*large[:1], *group[len(large) :]]
        if len(sums) > 1:
            added = [*_merge(nodes, sums)]
            for found in sums:
                definition.node.remove(nodes[found.operation.name])
            definition.node.extend(added)


def _group_sums(operations: Collection[tf.Operation]) -> Iterable[list[_Sum]]:
    """Returns the all-reduces that wait for no other collective, in groups of the same kind."""
    users = defaultdict(list)
    for operation in operations:
        for before in [*(tensor.op for tensor in operation.inputs), *operation.control_inputs]:
            users[before].append(operation)
    collectives = [op for op in operations if op.type.startswith("Collective")]
    after_one = [user for operation in collectives for user in users[operation]]
    late = set(graphs.walk(after_one, users.__getitem__))
    groups = defaultdict(list)
    for operation in collectives:
        if operation.type == "CollectiveReduceV2" and operation not in late:
            vector, *numbers = operation.inputs
            size = vector.shape.num_elements() if vector.shape.rank == 1 else None
            known = [tf.get_static_value(number) for number in numbers]
            if size and len(known) == _NUMBERS and all(number is not None for number in known):
                *group, key = map(int, known)
                kind = *group, operation.device, *map(operation.get_attr, _ATTRIBUTES), vector.dtype
                groups[kind].append(_Sum(operation, key, size))
    return groups.values()


def _merge(
    nodes: dict[str, tf.compat.v1.NodeDef], sums: Sequence[_Sum]
) -> Iterator[tf.compat.v1.NodeDef]:
    """Yields one all-reduce, and slices of it that have the names of several.

    Args:
      nodes: The operations of the step, by name.
      sums: The all-reduces. The first slice shares the memory of the result.
    """
    first = sums[0].operation
    outside: dict[str, str] = {}
    controls: list[str] = []
    graph, scope = tf.Graph(), f"{first.name}/merged/"
    with graph.as_default(), tf.device(first.device), tf.name_scope(scope):
        for found in sums:
            vector, *others = nodes[found.operation.name].input
            controls += others[_NUMBERS:]
            for part in _list_parts(nodes, vector):
                place = tf.compat.v1.placeholder(first.inputs[0].dtype, [None])
                outside[place.op.name] = part
        total = tf.raw_ops.CollectiveReduceV2(
            input=tf.concat([graph.get_tensor_by_name(f"{name}:0") for name in outside], 0),
            group_size=tf.get_static_value(first.inputs[1]),
            group_key=tf.get_static_value(first.inputs[2]),
            instance_key=sums[0].key + _MERGED_KEYS,
            ordering_token=[],
            name=scope,
            **{name: first.get_attr(name) for name in _ATTRIBUTES},
        )
        start = 0
        for found in sums:
            tf.slice(total, [start], [found.size], name=f"{found.operation.name}/")
            start += found.size
    for node in graph.as_graph_def().node:
        if node.name not in outside:
            node.input[:] = [outside.get(name, name) for name in node.input]
            if node.name == total.op.name:
                node.input.extend(controls)
            yield node


def _list_parts(nodes: dict[str, tf.compat.v1.NodeDef], vector: str) -> Sequence[str]:
    """Returns the vectors of which a vector is a concatenation, or itself."""
    node = nodes.get(vector)
    if node is None or node.op != "ConcatV2" or any(name.startswith("^") for name in node.input):
        return [vector]
    return node.input[:-1]
