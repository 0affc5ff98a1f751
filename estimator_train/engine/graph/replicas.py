"""Calls a model_fn for each replica of a strategy, and merges the results into one spec."""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_train.engine.inputs.chunks import make_lookahead_inputs
from estimator_train.engine.inputs.input_fn import (
    Inputs,
    call_input_fn,
    find_batch_size,
    is_dataset,
    record_columns,
    split,
)
from estimator_train.engine.inputs.sharding import Rounds, select_shard
from estimator_train.engine.job import Job, as_replica
from estimator_train.engine.tf_internals import strategies
from estimator_train.engine.types import InputFn, TensorStructure
from estimator_train.estimator_spec import EstimatorSpec, ModeKeys


def make_distributed_inputs(
    job: Job,
    input_fn: InputFn,
    mode: str,
    strategy: tf.distribute.Strategy,
) -> Inputs:
    """Returns features and labels with one value per replica.

    Args:
      job: The call of the Estimator.
      input_fn: The user's input_fn; it must return a Dataset of batches for one replica.
      mode: A ModeKeys value.
      strategy: The strategy; this function is called in its scope.

    Raises:
      ValueError: input_fn did not return a Dataset.
    """

    def dataset_fn(input_context: tf.distribute.InputContext) -> tf.data.Dataset:
        dataset = call_input_fn(job, input_fn, mode, input_context)
        if not is_dataset(dataset):
            raise ValueError(
                f"dataset_fn() must return a tf.data.Dataset when using a tf.distribute strategy; "
                f"input_fn ({input_fn}) returned {dataset!r}."
            )
        return select_shard(dataset, input_context)

    config = job.config
    if mode == ModeKeys.TRAIN and (shard := job.together.find_shard_of_replica(strategy)):
        return make_lookahead_inputs(dataset_fn(shard), shard)
    on_host = config.save_input_position or (not config.master and _has_only_cpus(strategy))
    if mode == ModeKeys.TRAIN and on_host:
        return _make_inputs_of_one_iterator(dataset_fn, strategy)
    if mode == ModeKeys.EVAL and strategy.num_replicas_in_sync > 1:
        pipelines = _make_pipelines(dataset_fn, strategy)
        if len(pipelines) == 1:
            return _make_inputs_in_rounds(*pipelines[0], strategy)
        made = iter(pipelines)  # The strategy asks for them in the same order.
        iterator = strategies.find_input_iterator(strategy, lambda _: next(made)[1])
    else:
        iterator = strategies.find_input_iterator(strategy, dataset_fn)
    features, labels = split(iterator.get_next())
    return Inputs(features, labels, iterator, iterator.initializer)


def _has_only_cpus(strategy: tf.distribute.Strategy) -> bool:
    """Returns whether all devices of a strategy read batches from the memory of the host."""
    devices = map(tf.DeviceSpec.from_string, strategy.extended.worker_devices)
    return all(device.device_type == "CPU" for device in devices)


def _make_inputs_of_one_iterator(
    dataset_fn: Callable[[tf.distribute.InputContext], tf.data.Dataset],
    strategy: tf.distribute.Strategy,
) -> Inputs:
    """Returns features and labels of one iterator on the host, which replicas read in turn.

    A strategy's own iterator reads ahead for each device, which CPUs do not gain from; its position
    cannot be saved, and its stages are not optimized.
    """
    datasets = _make_pipelines(dataset_fn, strategy)
    if len(datasets) != 1:
        raise ValueError(
            f"RunConfig(save_input_position=True) needs one input in each process, and {strategy} "
            f"makes {len(datasets)}. Train without it, or with one process for each worker."
        )
    ((input_context, dataset),) = datasets
    elements: list[Any] = []
    with tf.device("/cpu:0"):
        iterator = tf.compat.v1.data.make_initializable_iterator(dataset)
        for _ in strategy.extended.worker_devices:
            before = tf.nest.flatten(elements[-1:], expand_composites=True)
            with tf.control_dependencies(before):
                elements.append(iterator.get_next())
    features, labels = split(_distribute(elements, strategy))
    return Inputs(features, labels, iterator, iterator.initializer, input_context)


def _make_inputs_in_rounds(
    input_context: tf.distribute.InputContext,
    dataset: tf.data.Dataset,
    strategy: tf.distribute.Strategy,
) -> Inputs:
    """Returns features and labels of an evaluation, whose last round may have fewer batches."""
    with tf.device("/cpu:0"):
        rounds = Rounds(dataset, strategy.num_replicas_in_sync)
    features, labels = split(_distribute(rounds.elements, strategy))
    iterator = rounds.iterator
    return Inputs(features, labels, iterator, iterator.initializer, input_context, rounds=rounds)


def _make_pipelines(
    dataset_fn: Callable[[tf.distribute.InputContext], tf.data.Dataset],
    strategy: tf.distribute.Strategy,
) -> list[tuple[tf.distribute.InputContext, tf.data.Dataset]]:
    """Returns the dataset of each input pipeline of a strategy in this process."""
    datasets: list[tuple[tf.distribute.InputContext, tf.data.Dataset]] = []

    def remember(input_context: tf.distribute.InputContext) -> tf.data.Dataset:
        datasets.append((input_context, dataset_fn(input_context)))
        return datasets[-1][1]

    strategy.distribute_datasets_from_function(remember)
    return datasets


def _distribute(elements: Sequence[Any], strategy: tf.distribute.Strategy) -> Any:
    """Returns a structure with one value for each replica."""
    remaining = iter(elements)
    # v1 strategies lack this method, but it works for them.
    return tf.distribute.Strategy.experimental_distribute_values_from_function(
        strategy, lambda _: next(remaining)
    )


def call_on_replicas(
    call: Callable[[Any, Any], EstimatorSpec],
    inputs: Inputs,
    mode: str,
    strategy: tf.distribute.Strategy,
) -> tuple[EstimatorSpec, list[tf.Operation]]:
    """Calls model_fn once for each replica and merges the specs.

    The loss is the mean over replicas if a v1 optimizer scaled it, and the sum otherwise. Train and
    update operations run on all replicas; the other fields are those of the first replica.

    Args:
      call: Calls model_fn with features and labels.
      inputs: The result of `make_distributed_inputs`.
      mode: ModeKeys.TRAIN or ModeKeys.EVAL.
      strategy: The strategy; this function is called in its scope.

    Returns:
      The spec, and for each replica the operation that adds its batch to the metrics.
    """
    specs: list[EstimatorSpec] = []
    record_columns(inputs.features, inputs.labels)

    def call_replica(features: TensorStructure, labels: TensorStructure) -> tf.Tensor:
        spec = call(features, labels)
        specs.append(spec)
        return spec.loss

    with strategies.scale_loss(strategy):
        losses = strategy.extended.call_for_each_replica(
            as_replica(call_replica, strategy), args=(inputs.features, inputs.labels)
        )
    mean = mode == ModeKeys.EVAL or strategies.is_loss_scaled(tf.compat.v1.get_default_graph())
    reduction = tf.distribute.ReduceOp.MEAN if mean else tf.distribute.ReduceOp.SUM
    loss = strategy.reduce(reduction, losses, axis=None)
    first = specs[0]
    updates = [tf.group(*(update for _, update in spec.eval_metric_ops.values())) for spec in specs]
    merged = first._replace(
        loss=loss,
        train_op=_group([spec.train_op for spec in specs]),
        eval_metric_ops={
            name: (value, _group([spec.eval_metric_ops[name][1] for spec in specs]))
            for name, (value, _) in first.eval_metric_ops.items()
        },
        scaffold=_merge_scaffolds([spec.scaffold for spec in specs]),
    )
    return merged, updates


def compute_batch_size(inputs: Inputs, strategy: tf.distribute.Strategy) -> tf.Tensor | None:
    """Returns how many examples the replicas of this process read in a step, or None."""
    leaves = tf.nest.flatten(inputs.features)
    if not leaves:
        return None
    sizes = [find_batch_size(part) for part in strategy.experimental_local_results(leaves[0])]
    return None if any(size is None for size in sizes) else tf.add_n(sizes)


def _group(operations: Sequence[Any]) -> Any:
    present = [op for op in operations if op is not None]
    return tf.group(*present) if present else None


def _merge_scaffolds(
    scaffolds: Sequence[tf.compat.v1.train.Scaffold],
) -> tf.compat.v1.train.Scaffold:
    """Returns one Scaffold that initializes the variables of all replicas' Scaffolds."""

    def operations(name: str) -> Any:
        return _group([getattr(scaffold, name) for scaffold in scaffolds])

    def reports(name: str) -> Any:
        found = [getattr(scaffold, name) for scaffold in scaffolds]
        found = [report for report in found if report is not None]
        return tf.concat(found, axis=0) if found else None

    feeds: dict[Any, Any] = {}
    for scaffold in scaffolds:
        feeds.update(scaffold.init_feed_dict or {})
    # The constructor takes init_fn(scaffold, session); the attribute takes only the session.
    init_fns: list[Callable[[Any], Any]] = [s.init_fn for s in scaffolds if s.init_fn]

    def init_fn(scaffold: tf.compat.v1.train.Scaffold, session: tf.compat.v1.Session) -> None:
        del scaffold
        for function in init_fns:
            function(session)

    return tf.compat.v1.train.Scaffold(
        init_op=operations("init_op"),
        init_feed_dict=feeds or None,
        init_fn=init_fn if init_fns else None,
        ready_op=reports("ready_op"),
        ready_for_local_init_op=reports("ready_for_local_init_op"),
        local_init_op=operations("local_init_op"),
        summary_op=scaffolds[0].summary_op,
        saver=scaffolds[0].saver,
    )
