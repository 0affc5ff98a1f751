"""Strategies: how they communicate and scale the loss; datasets and iterators that feed them."""

import contextlib
import functools
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
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


def find_input_iterator(
    strategy: tf.distribute.Strategy,
    input_fn: Callable[[tf.distribute.InputContext], tf.data.Dataset],
) -> Any:
    """Returns a graph-mode iterator that feeds every replica from `input_fn`.

    Why internal: the public form is gone from TF2 strategies; those that replaced it return
    iterators for eager code.
    """
    with _silence_options_warning():
        return strategy.extended._make_input_fn_iterator(input_fn)


def read_options(dataset: tf.data.Dataset) -> tf.data.Options:
    """Returns the options of a dataset of the default graph.

    Why here: it suppresses the same warning as `find_input_iterator`.
    """
    with _silence_options_warning():
        return dataset.options()


@contextlib.contextmanager
def _silence_options_warning() -> Iterator[None]:
    """Silences tf.data's warning that options are read in graph mode, as is wanted here."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="To make it possible to preserve tf.data options")
        yield


def find_iterator_handle(iterator: Any) -> tf.Tensor:
    """Returns the resource handle of a graph-mode iterator.

    Why internal: operations that save and restore an iterator take its handle, which is private.
    """
    return iterator._iterator_resource


def list_datasets_before(dataset: tf.data.Dataset) -> list[tf.data.Dataset]:
    """Returns the datasets that a dataset reads from.

    Why internal: the inputs of a dataset are private.
    """
    return dataset._inputs()
