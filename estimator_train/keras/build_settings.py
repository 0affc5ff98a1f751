"""What building a model needs: the arguments of `Model.compile`, eager scopes, mixed precision."""

import contextlib
import dataclasses
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

import tensorflow as tf

from estimator_train.engine.tf_internals.modes import enter_eager_mode
from estimator_train.keras.model_io import Optimizer, Structure

# A name, function, Metric or Loss.
GivenMetric: TypeAlias = Any


@contextlib.contextmanager
def enter_eager_scope(outside: tf.Graph | None = None) -> Iterator[None]:
    """Runs eager code, outside of the graph and the strategy that it is called in.

    Args:
      outside: An empty graph that callers reuse if they call this often; by default a new one.
    """
    # A graph holds its strategy, devices and creators of variables.
    graph = tf.Graph() if outside is None else outside
    with graph.as_default(), enter_eager_mode():
        yield


def use_policy(name: str | None) -> contextlib.AbstractContextManager[None]:
    """Makes a policy the global one of tf_keras, and of Keras 3 if it is imported.

    The threads of a strategy's replicas share the global policy: the first that enters sets it, and
    the last that leaves restores the earlier policy. A thread with another policy waits until then.

    Args:
      name: A policy such as "mixed_bfloat16"; None keeps the global policy.
    """
    return contextlib.nullcontext() if name is None else _shared_policy.use(name)


class _SharedPolicy:
    """Global policy that all threads of a process share."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._name: str | None = None
        self._threads: list[int] = []
        self._earlier: dict[Any, Any] = {}

    @contextlib.contextmanager
    def use(self, name: str) -> Iterator[None]:
        """Sets a policy for this thread and those that use the same policy."""
        thread = threading.get_ident()
        if thread in self._threads and name != self._name:  # Waiting for itself would never end.
            earlier: dict[Any, Any] = {}
            _set_policy(name, earlier)
            try:
                yield
            finally:
                _restore(earlier)
            return
        with self._changed:
            self._changed.wait_for(lambda: not self._threads or name == self._name)
            self._name = name
            self._threads.append(thread)
            _set_policy(name, self._earlier)
        try:
            yield
        finally:
            with self._changed:
                self._threads.remove(thread)
                if not self._threads:
                    _restore(self._earlier)
                    self._changed.notify_all()


def _set_policy(name: str, earlier: dict[Any, Any]) -> None:
    """Sets the global policy of each imported Keras, and adds the earlier policies to a dict."""
    for package in ("tf_keras", "keras"):
        if package not in sys.modules:
            continue
        precision = sys.modules[package].mixed_precision
        before = precision.global_policy()
        if before.name != name:
            earlier.setdefault(precision, before)
            precision.set_global_policy(name)


def _restore(earlier: dict[Any, Any]) -> None:
    while earlier:
        precision, policy = earlier.popitem()
        precision.set_global_policy(policy)


_shared_policy = _SharedPolicy()


@dataclasses.dataclass(frozen=True)
class CompileArguments:
    """Arguments that `Model.compile` was called with.

    Attributes:
      optimizer: An optimizer, the name or config of one, or a dict of several by patterns of the
        names of their variables.
      loss: A loss (name, function or object), a list or dict of losses by output, or None.
      loss_weights: None, a number, or a list or dict of numbers by output.
      metrics: None, a metric, or a list or dict of metrics by output.
      weighted_metrics: The same, for metrics that take the sample weights into account.
    """

    optimizer: Optimizer
    loss: Structure
    loss_weights: Structure
    metrics: Structure
    weighted_metrics: Structure

    @property
    def has_several_optimizers(self) -> bool:
        """Whether the optimizer is a dict from patterns to optimizers, not a config."""
        return isinstance(self.optimizer, Mapping) and "class_name" not in self.optimizer

    def list_optimizers(self) -> list[Any]:
        """Returns the optimizer in a list, or several of them."""
        return list(self.optimizer.values()) if self.has_several_optimizers else [self.optimizer]

    def map_optimizers(self, function: Callable[[Any], Any]) -> "CompileArguments":
        """Returns these arguments with a function applied to each optimizer."""
        changed: Any = (
            {pattern: function(one) for pattern, one in self.optimizer.items()}
            if self.has_several_optimizers
            else function(self.optimizer)
        )
        return dataclasses.replace(self, optimizer=changed)


@dataclasses.dataclass(frozen=True)
class BuildSettings:
    """Arguments of `keras.model_fn` besides the function that builds the model.

    Attributes:
      compiled: The arguments of `Model.compile`.
      accumulated_steps: Number of steps whose mean gradient makes one update.
      policy: The policy of mixed precision, or None for the global one.
      custom_objects: Names to classes and functions that the model's config needs.
      checkpoint_format: "saver" or "checkpoint".
      reports: `metric_names_map` and `export_outputs`.
    """

    compiled: CompileArguments
    accumulated_steps: int
    policy: str | None
    custom_objects: Mapping[str, Any]
    checkpoint_format: str
    reports: Mapping[str, Any]


def copy_metric(metric: GivenMetric) -> GivenMetric:
    """Returns a new object of a Metric of tf_keras or Keras 3, and other values as they are.

    Raises:
      TypeError: A Metric object cannot be made again from its config.
    """
    if isinstance(metric, type) or not hasattr(metric, "update_state"):
        return metric
    try:
        return type(metric).from_config(metric.get_config())
    except TypeError as error:
        raise TypeError(
            f"The metric '{metric.name}' cannot be made again in a graph: give "
            f"{type(metric).__name__} a get_config() with all arguments of its __init__. {error}"
        ) from error


def divide_by_replicas(loss: tf.Tensor) -> tf.Tensor:
    """Divides the loss by the number of replicas: their sum is the loss of the global batch."""
    replicas = tf.distribute.get_strategy().num_replicas_in_sync
    return loss / replicas if replicas > 1 else loss
