"""Strategies: how they communicate, and how they scale the loss."""

import contextlib
import functools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import tensorflow as tf
from tensorflow.python.eager import context as eager_context

_EAGER_COLLECTIVES = ("_prefer_ordering_token", "_prefer_unique_instance_key")


def scale_loss(strategy: tf.distribute.Strategy) -> contextlib.AbstractContextManager[None]:
    """Makes v1 optimizers in the context divide the loss by the number of replicas.

    Why internal: v1 optimizers do so only where the strategy says that an Estimator is at work, and
    only this context says it.
    """
    return strategy._scale_loss_for_estimator_enabled()


def is_loss_scaled(graph: tf.Graph) -> bool:
    """Returns whether a v1 optimizer of `graph` divided its loss by the number of replicas.

    Why internal: the optimizer leaves the fact only as this attribute of the graph, and the loss
    that is reported is the replicas' mean if it is set, otherwise their sum.
    """
    return getattr(graph, "_is_loss_scaled_by_optimizer", False)


def keep_broadcasts(global_step: tf.Variable, fed: Iterable[tf.Tensor]) -> None:
    """Makes the chief of synchronous workers broadcast fed initial values.

    A fed initial value is not computed, so that the operation that sends it would not run, and the
    other workers would wait.

    Why internal: no public API adds a control input to an existing operation.

    Args:
      global_step: The variable that is always among the initialized ones.
      fed: Tensors that are fed when variables are initialized.
    """
    initializer = getattr(global_step, "values", (global_step,))[0].initializer
    for operation in [operation for tensor in fed for operation in tensor.consumers()]:
        if operation.type == "CollectiveBcastSend":
            initializer._add_control_input(operation)


def find_communication(strategy: tf.distribute.Strategy) -> Any:
    """Returns how a MultiWorkerMirroredStrategy communicates: AUTO, RING or NCCL.

    Why internal: the arguments of a strategy are private, and its graph-mode form needs them.
    """
    return strategy.extended._communication_options.implementation


def list_collective_launchers(strategy: tf.distribute.Strategy) -> Sequence[Any]:
    """Returns the launchers of a MultiWorkerMirroredStrategy's collectives, one for each replica.

    Why internal: their gathering of rows in graphs fails when the number of rows changes.
    """
    return strategy.extended._cross_device_ops._launchers


@functools.cache
def keep_collectives_enabled() -> None:
    """Makes later strategies of this process leave its collectives enabled as they are.

    Why internal: a MultiWorkerMirroredStrategy of eager code enables the collectives again, even
    for the same cluster. That discards what faster workers have sent for the next training, and
    ends them with "Delete called on non-empty BufRendezvous".
    """
    context = eager_context.context()
    enable = context.enable_collective_ops

    def enable_for_new_cluster(server_def: Any) -> None:
        if server_def != context._collective_ops_server_def:
            enable(server_def)

    context.enable_collective_ops = enable_for_new_cluster


@contextlib.contextmanager
def share_collectives_of_graphs(strategy: tf.distribute.Strategy) -> Iterator[None]:
    """Makes collectives of functions that eager code traces in this context those of graphs.

    Why internal: a MultiWorkerMirroredStrategy of a graph has no tokens, which order the
    collectives of functions, and takes keys that are fixed in the graph.
    """
    operations = getattr(strategy.extended, "_cross_device_ops", None)
    launchers = getattr(operations, "_launchers", ())
    kinds = {type(launcher) for launcher in launchers}
    before = [(kind, name, getattr(kind, name)) for kind in kinds for name in _EAGER_COLLECTIVES]
    for kind, name, _ in before:
        setattr(kind, name, False)
    try:
        yield
    finally:
        for kind, name, value in before:
            setattr(kind, name, value)


def find_launcher_device(launcher: Any) -> str:
    """Returns the device of a launcher of collectives.

    Why internal: see `list_collective_launchers`.
    """
    return launcher._device


def make_collective_arguments(launcher: Any, options: Any) -> dict[str, Any]:
    """Returns arguments of the next collective operation of a launcher.

    Why internal: see `list_collective_launchers`.

    Args:
      launcher: One of `list_collective_launchers`.
      options: Options of the collective; None for those of the strategy.
    """
    options = launcher._options.merge(options)
    return {
        "group_size": launcher._group_size,
        "group_key": launcher._group_key,
        "instance_key": launcher._next_instance_key(),
        "communication_hint": options.implementation.value.lower(),
        "timeout_seconds": options.timeout_seconds or 0,
    }


def has_default_all_reduce(strategy: tf.distribute.Strategy) -> bool:
    """Returns whether a MirroredStrategy was constructed without cross_device_ops.

    Why internal: the arguments of a strategy are private, and its graph-mode form needs them.
    """
    return strategy.extended._cross_device_ops is strategy.extended._collective_ops
