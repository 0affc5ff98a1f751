"""Strategies: the cluster that a strategy needs, and the form of a strategy for graphs."""

import dataclasses
from typing import Any

import tensorflow as tf

from estimator_train import cluster
from estimator_train.cluster import Cluster
from estimator_train.cluster.platforms import requests_parameter_servers
from estimator_train.engine.distributed.sparse_gradients import gather_rows_of_any_number
from estimator_train.engine.tf_internals import strategies
from estimator_train.engine.type_aliases import Strategy
from estimator_train.run_config import RunConfig
from estimator_train.run_config.topology import is_multi_worker

_V1 = tf.compat.v1.distribute
_MIRRORED = (tf.distribute.MirroredStrategy, _V1.MirroredStrategy)
_PARAMETER_SERVER = (
    tf.distribute.experimental.ParameterServerStrategy,
    _V1.experimental.ParameterServerStrategy,
)


def resolve_cluster(config: RunConfig) -> RunConfig:
    """Returns the configuration with this process's task in the cluster of its strategy.

    ParameterServerStrategy is removed: asynchronous training needs no strategy in the graph.

    Args:
      config: A RunConfig.

    Raises:
      ValueError: The strategy does not fit the cluster, or TF_CONFIG is wrong.
    """
    strategy = config.train_distribute
    if strategy is None:
        numbered = not config.cluster_spec and config.task_type != cluster.EVALUATOR
        if numbered and requests_parameter_servers():
            return config.in_cluster(cluster.detect())
        return config
    _check_has_its_gpus(strategy)
    synchronous = is_multi_worker(strategy)
    found = _remove_evaluators(cluster.detect(needs_chief=not synchronous))
    if isinstance(strategy, _PARAMETER_SERVER):
        if found.jobs and not found.jobs.get(cluster.PS):
            raise ValueError(
                f"{_name(strategy)} keeps variables on tasks of the job `ps`, of which TF_CONFIG "
                "has none. Add one, or use MultiWorkerMirroredStrategy."
            )
        return config.replace(train_distribute=None).in_cluster(found)
    if synchronous:
        if found.jobs.get(cluster.PS):
            raise ValueError(
                f"{_name(strategy)} keeps variables on every worker, and TF_CONFIG has the job "
                "`ps`. Leave that out, or use ParameterServerStrategy."
            )
        return config.in_cluster(found)
    trainers = found.num_trainers
    if trainers > 1 and cluster.has_tf_config():
        raise ValueError(
            f"{_name(strategy)} trains in one process, and TF_CONFIG has {trainers} that train. "
            "Use MultiWorkerMirroredStrategy, or ParameterServerStrategy with a job `ps`."
        )
    return config.in_cluster(found) if found.is_evaluator else config


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


def _check_has_its_gpus(strategy: Strategy) -> None:
    """Raises ValueError if a GPU is missing: sessions would use the CPU without a message."""
    devices = [tf.DeviceSpec.from_string(name) for name in strategy.extended.worker_devices]
    wanted = sorted(d.device_index or 0 for d in devices if d.device_type == "GPU")
    present = len(tf.config.list_logical_devices("GPU")) if wanted else 0
    if wanted and wanted[-1] >= present:
        raise ValueError(
            f"{_name(strategy)} is to train on GPU {wanted[-1]}, and TensorFlow finds {present} "
            "GPUs on this machine, counted from 0."
        )


def _remove_evaluators(found: Cluster) -> Cluster:
    """Returns the cluster without evaluators, which some programs list in it."""
    jobs = {job: tasks for job, tasks in found.jobs.items() if job != cluster.EVALUATOR}
    return dataclasses.replace(found, jobs=jobs)


def _name(strategy: Strategy) -> str:
    return type(strategy).__name__.removesuffix("V1").removesuffix("V2")
